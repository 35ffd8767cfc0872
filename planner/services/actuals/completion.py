"""What a plan will have cost when it ends: paid so far, and what is left at observed use.

Estimate at completion = actual so far + what follows use in the months without an upload, at the
prices of today × actual over planned accelerator-hours so far + what does not follow use. A month
that was not over when it was uploaded last (`Variance.open_months`) is no measure of use, and comes
to what the same gives for it, or to what is paid of it where that is more. Where no
hours can be compared, all that is left is taken × actual over planned cost so far (the cost
performance of earned value, PMI Practice Standard for Earned Value Management). The range takes
the least and the highest month's ratio; with one month there is none.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.money import format_money
from planner.contract.months import format_month
from planner.models import Project
from planner.models.project import BudgetPeriod
from planner.services.actuals.actuals import Variance, recommended_lines, variance
from planner.services.actuals.remaining import Left, Remaining, remaining_by_month

CENT = Decimal("0.01")
_ZERO = Decimal(0)
HIGHEST_RATIO = Decimal(10)
"""A month that cost ten times its plan says nothing of the months to come beyond that."""


@dataclass(frozen=True)
class Completion:
    """Money of a plan at its end, and how the hours compare; None where it cannot be known."""

    currency: str
    months_done: int
    """Months of the plan that are paid for and were over when they were uploaded last."""
    months_left: int
    """Other months of the plan."""
    is_due_after: bool
    """Whether what is left holds money of the months after the plan, such as a last invoice."""
    actual: Decimal
    remaining_plan: Decimal
    remaining_today: Decimal
    """The same at the prices of today."""
    prices_as_of: dt.date | None
    """Day on which the oldest of them was seen."""
    offers_not_sold: int
    """Offers of the plan that the catalog has no more, which stay at the planned price."""
    estimate: Decimal | None
    low: Decimal | None
    high: Decimal | None
    budget: Decimal | None
    planned_total: Decimal
    hours_ratio: float | None
    """Actual over planned accelerator-hours so far."""
    price_ratio: float | None
    """Actual over planned cost of an accelerator-hour so far."""
    why_not: str
    warnings: tuple[str, ...] = ()

    @property
    def headroom(self) -> Decimal | None:
        """What the budget leaves; below 0 where it does not suffice."""
        if self.budget is None or self.estimate is None:
            return None
        return self.budget - self.estimate

    def as_dict(self) -> dict[str, Any]:
        return {
            "currency": self.currency,
            "months_done": self.months_done,
            "months_left": self.months_left,
            "actual": _text(self.actual),
            "planned_total": _text(self.planned_total),
            "remaining_plan": _text(self.remaining_plan),
            "remaining_at_current_prices": _text(self.remaining_today),
            "prices_as_of": self.prices_as_of.isoformat() if self.prices_as_of else None,
            "offers_not_sold": self.offers_not_sold,
            "estimate_at_completion": _text(self.estimate),
            "low": _text(self.low),
            "high": _text(self.high),
            "budget": _text(self.budget),
            "budget_headroom": _text(self.headroom),
            "hours_ratio": self.hours_ratio,
            "price_ratio": self.price_ratio,
            "why_not": self.why_not,
            "warnings": list(self.warnings),
        }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount.quantize(CENT):f}"


class OpenMonth(NamedTuple):
    """A month that was not over when it was uploaded last."""

    paid: Decimal
    planned: Left
    """All of it, at the prices of today."""


@dataclass(frozen=True)
class Ratios:
    """Actual over planned: of all months paid for, of the least and of the highest one."""

    middle: Decimal
    low: Decimal
    high: Decimal
    is_range: bool
    """Whether there are months enough to tell a range."""
    is_of_hours: bool
    """Whether it compares hours; else money."""

    def apply(
        self, paid: Decimal, left: Left, opened: Iterable[OpenMonth] = ()
    ) -> tuple[Decimal, Decimal | None, Decimal | None]:
        """What was paid with what is left, and with what months that are not over come to: as
        estimated, at least and at most."""
        running = list(opened)
        estimate, *ends = (
            paid
            + self._at(left, ratio)
            + sum((max(month.paid, self._at(month.planned, ratio)) for month in running), _ZERO)
            for ratio in (self.middle, self.low, self.high)
        )
        if not self.is_range:
            return estimate, None, None
        return estimate, min(estimate, *ends), max(estimate, *ends)

    def _at(self, left: Left, ratio: Decimal) -> Decimal:
        if self.is_of_hours:
            return left.fixed + left.hourly * ratio
        return left.total * ratio


def estimate_completion(project: Project, table: Variance | None = None) -> Completion | None:
    """The estimate for a project with a plan and actuals; None without either."""
    table = variance(project) if table is None else table
    if table.answer is None or not table.cells:
        return None
    planned, actual = planned_by_month(table.answer), actual_by_month(table)
    remaining = remaining_by_month(table.answer)
    return _estimate(table, planned, actual, remaining, _total_budget(project))


def planned_by_month(answer: ComparisonAnswer) -> dict[str, Decimal]:
    """Cost of each month of a plan, credits and resale taken off."""
    planned: dict[str, Decimal] = defaultdict(Decimal)
    for line in recommended_lines(answer):
        planned[format_month(answer.month(line.month))] += line.amount
    return dict(planned)


def actual_by_month(table: Variance) -> dict[str, Decimal]:
    """What was paid in each month with an upload."""
    actual: dict[str, Decimal] = defaultdict(Decimal)
    for (month, _), cell in table.cells.items():
        actual[month] += cell.actual
    return dict(actual)


def observed_ratios(
    table: Variance, planned: Mapping[str, Decimal], actual: Mapping[str, Decimal]
) -> Ratios | None:
    """Actual over planned so far, in hours where both are known, else in money; None where nothing
    was planned in the months paid for. Months that the plan does not have compare with nothing."""
    outside = set(months_outside(planned, actual))
    hours: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (month, _), cell in table.cells.items():
        if cell.has_hours and month not in outside | table.open_months:
            hours[month][0] += cell.planned_hours
            hours[month][1] += cell.actual_hours
    if hours:
        pairs = [(Decimal(before), Decimal(after)) for before, after in hours.values()]
        return _ratios_of(pairs, is_of_hours=True)
    compared = sorted(actual.keys() - outside - table.open_months)
    pairs = [(planned.get(month, Decimal(0)), actual[month]) for month in compared]
    return _ratios_of(pairs, is_of_hours=False)


def months_outside(planned: Mapping[str, Decimal], actual: Mapping[str, Decimal]) -> list[str]:
    """Months paid for before the first or after the last that the plan pays in.

    >>> cost = Decimal(1)
    >>> months_outside({"2027-01": cost, "2027-04": cost}, {"2026-11": cost, "2027-03": cost})
    ['2026-11']
    """
    if not planned:
        return []
    first, last = min(planned), max(planned)
    return sorted(month for month in actual if not first <= month <= last)


def _describe_outside(
    planned: Mapping[str, Decimal], actual: Mapping[str, Decimal], currency: str
) -> Iterator[str]:
    outside = months_outside(planned, actual)
    if not outside:
        return
    paid = sum((actual[month] for month in outside), Decimal(0))
    are = "is no month" if len(outside) == 1 else "are no months"
    in_them = "in it" if len(outside) == 1 else "in them"
    yield (
        f"{', '.join(outside)} {are} of the plan, which pays from {min(planned)} to "
        f"{max(planned)}: the {format_money(paid, currency)} paid {in_them} count as paid, not as "
        "months done nor in the share that is carried on."
    )


def _ratios_of(pairs: list[tuple[Decimal, Decimal]], *, is_of_hours: bool) -> Ratios | None:
    """Of planned and actual of each month."""
    before = sum((planned for planned, _ in pairs), Decimal(0))
    months = [
        min(actual / planned, HIGHEST_RATIO)
        for planned, actual in pairs
        if planned > 0 and actual >= 0
    ]
    if before <= 0 or not months:
        return None
    after = sum((actual for _, actual in pairs), Decimal(0))
    middle = min(max(after / before, Decimal(0)), HIGHEST_RATIO)
    return Ratios(middle, min(months), max(months), len(months) > 1, is_of_hours)


def _total_budget(project: Project) -> Decimal | None:
    """The budget of the whole plan; one of a year or a month is another question."""
    if not project.budget or project.budget_period != BudgetPeriod.TOTAL:
        return None
    return Decimal(project.budget)


def _estimate(
    table: Variance,
    planned: Mapping[str, Decimal],
    actual: Mapping[str, Decimal],
    today: Remaining,
    budget: Decimal | None,
) -> Completion:
    running = table.open_months & actual.keys()
    done = actual.keys() - running
    left = {month: cost for month, cost in planned.items() if month not in actual}
    of_plan = set(table.answer.months) if table.answer else set()
    ratios = observed_ratios(table, planned, actual)
    still = Left()
    for month in left:
        still = still.plus(today.months[month])
    opened = [OpenMonth(actual[month], today.months.get(month, Left())) for month in running]
    paid_of_done = sum((actual[month] for month in done), _ZERO)
    estimate, low, high = (
        ratios.apply(paid_of_done, still, opened) if ratios else (None, None, None)
    )
    remaining = sum(left.values(), _ZERO) + sum(
        (max(planned.get(month, _ZERO) - actual[month], _ZERO) for month in running), _ZERO
    )
    remaining_today = still.total + sum(
        (max(month.planned.total - month.paid, _ZERO) for month in opened), _ZERO
    )
    hours_ratio, price_ratio = _ratios(table)
    return Completion(
        currency=table.currency,
        months_done=len(of_plan & done),
        months_left=len(of_plan - done),
        is_due_after=any(left[month] for month in left.keys() - of_plan),
        actual=sum(actual.values(), _ZERO),
        remaining_plan=remaining,
        remaining_today=remaining_today,
        prices_as_of=today.prices_as_of,
        offers_not_sold=today.not_sold,
        estimate=estimate,
        low=low,
        high=high,
        budget=budget,
        planned_total=sum(planned.values(), Decimal(0)),
        hours_ratio=hours_ratio,
        price_ratio=price_ratio,
        why_not="" if ratios else _why_not(running, done & of_plan),
        warnings=tuple(_describe_outside(planned, actual, table.currency)),
    )


def _why_not(running: Collection[str], done: Collection[str]) -> str:
    if running and not done:
        return "no month of the plan that was paid for was over when it was uploaded"
    return "nothing was planned in the months that were paid for"


def _ratios(table: Variance) -> tuple[float | None, float | None]:
    """Use and price so far against the plan; of cells whose hours are known on both sides, in
    months that were over."""
    cells = [
        cell
        for (month, _), cell in table.cells.items()
        if cell.has_hours and month not in table.open_months
    ]
    planned = float(sum((cell.planned for cell in cells), _ZERO))
    actual = float(sum((cell.actual for cell in cells), _ZERO))
    if not cells or not planned:
        return None, None
    planned_hours = sum(cell.planned_hours for cell in cells)
    actual_hours = sum(cell.actual_hours for cell in cells)
    price = (actual / actual_hours) / (planned / planned_hours)
    return round(actual_hours / planned_hours, 6), round(price, 6)
