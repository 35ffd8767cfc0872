"""Money of a project by the end of each month: as planned, as paid, as it will be at its end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from planner.contract.months import count_months, month_labels, parse_month
from planner.services.actuals.actuals import Variance
from planner.services.actuals.completion import (
    OpenMonth,
    Ratios,
    actual_by_month,
    observed_ratios,
    planned_by_month,
)
from planner.services.actuals.remaining import Left, remaining_by_month


@dataclass(frozen=True)
class BurnMonth:
    """Cumulative money at the end of a month, in the currency of the project."""

    month: str
    planned: Decimal
    actual: Decimal | None
    """None after the last month up to which every month has an upload made when it was over."""
    estimate: Decimal | None
    """From that month on; None where it cannot be known."""
    low: Decimal | None
    high: Decimal | None


def burn(table: Variance) -> list[BurnMonth]:
    """The months of the plan and of the uploads, one after the other; none without a plan.

    The last estimate is the estimate at completion.
    """
    if table.answer is None:
        return []
    planned, actual = planned_by_month(table.answer), actual_by_month(table)
    if not planned:
        return []
    ratios = observed_ratios(table, planned, actual)
    today = remaining_by_month(table.answer).months
    return list(_months(planned, actual, today, ratios, table.open_months))


def _months(
    planned: Mapping[str, Decimal],
    actual: Mapping[str, Decimal],
    today: Mapping[str, Left],
    ratios: Ratios | None,
    open_months: Collection[str],
) -> Iterator[BurnMonth]:
    names = _name_months(planned, actual)
    covered = _count_covered(names, actual.keys() - open_months, min(planned))
    plan, paid, left = Decimal(0), Decimal(0), Left()
    opened: list[OpenMonth] = []
    for index, month in enumerate(names):
        plan += planned.get(month, Decimal(0))
        if month not in actual:
            left = left.plus(today.get(month, Left()))
        elif month in open_months:
            opened.append(OpenMonth(actual[month], today.get(month, Left())))
        else:
            paid += actual[month]
        yield BurnMonth(
            month,
            plan,
            paid if index < covered else None,
            *_estimate(ratios if index >= covered - 1 else None, paid, left, opened),
        )


def _estimate(
    ratios: Ratios | None, paid: Decimal, left: Left, opened: Collection[OpenMonth]
) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
    return ratios.apply(paid, left, opened) if ratios else (None, None, None)


def _name_months(planned: Mapping[str, Decimal], actual: Mapping[str, Decimal]) -> list[str]:
    """Every month from the first to the last one of either."""
    first, last = (parse_month(pick({*planned, *actual})) for pick in (min, max))
    return month_labels(first, count_months(first, last) + 1)


def _count_covered(names: list[str], paid: Collection[str], first: str) -> int:
    """How many months, from the first on, are paid for; those before the `first` of the plan need
    no upload."""
    lacking = (i for i, month in enumerate(names) if month not in paid and month >= first)
    return next(lacking, len(names))
