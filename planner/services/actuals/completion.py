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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from planner.contract.amounts import (
    count_months,
    format_money,
    format_month,
    month_labels,
    parse_month,
)
from planner.contract.answer.comparison import OfferUsed, SavedPlan
from planner.models import BudgetPeriod, Project
from planner.services.actuals.actuals import NODE_HOURS, Variance, recommended_lines, variance
from planner.services.alerts.budget_watch import budget_over_horizon
from pricing import catalog as catalogs
from pricing.market.offer_table import OfferTable
from pricing.market.offers import PurchaseOption

CENT = Decimal("0.01")
_ZERO = Decimal(0)
_HOURLY = (PurchaseOption.ON_DEMAND.value, PurchaseOption.SPOT.value)
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
        amounts = {
            "actual": self.actual,
            "planned_total": self.planned_total,
            "remaining_plan": self.remaining_plan,
            "remaining_at_current_prices": self.remaining_today,
            "estimate_at_completion": self.estimate,
            "low": self.low,
            "high": self.high,
            "budget": self.budget,
            "budget_headroom": self.headroom,
        }
        return {
            "currency": self.currency,
            "months_done": self.months_done,
            "months_left": self.months_left,
            "prices_as_of": self.prices_as_of.isoformat() if self.prices_as_of else None,
            "offers_not_sold": self.offers_not_sold,
            **{
                name: None if amount is None else f"{amount.quantize(CENT):f}"
                for name, amount in amounts.items()
            },
            "hours_ratio": self.hours_ratio,
            "price_ratio": self.price_ratio,
            "why_not": self.why_not,
            "warnings": list(self.warnings),
        }


def estimate_completion(project: Project, table: Variance | None = None) -> Completion | None:
    """The estimate for a project with a plan and actuals; None without either."""
    table = variance(project) if table is None else table
    if table.answer is None or not table.cells:
        return None
    planned, actual = planned_by_month(table.answer), actual_by_month(table)
    today = remaining_by_month(table.answer)
    running = table.open_months & actual.keys()
    done = actual.keys() - running
    left = {month: cost for month, cost in planned.items() if month not in actual}
    of_plan = set(table.answer.months)
    ratios = observed_ratios(table, planned, actual)
    still = Left()
    for month in left:
        still = still.plus(today.months[month])
    opened = [OpenMonth(actual[month], today.months.get(month, Left())) for month in running]
    paid_of_done = sum((actual[month] for month in done), _ZERO)
    estimate, low, high = ratios.apply(paid_of_done, still, opened) if ratios else (None,) * 3
    remaining = sum(left.values(), _ZERO) + sum(
        (max(planned.get(month, _ZERO) - actual[month], _ZERO) for month in running), _ZERO
    )
    remaining_today = still.total + sum(
        (max(month.planned.total - month.paid, _ZERO) for month in opened), _ZERO
    )
    hours_ratio, price_ratio = _use_and_price(table)
    why_not = "" if ratios else "nothing was planned in the months that were paid for"
    if not ratios and running and not done & of_plan:
        why_not = "no month of the plan that was paid for was over when it was uploaded"
    is_of_plan = project.budget and project.budget_period == BudgetPeriod.TOTAL
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
        budget=Decimal(project.budget) if is_of_plan else None,
        planned_total=sum(planned.values(), _ZERO),
        hours_ratio=hours_ratio,
        price_ratio=price_ratio,
        why_not=why_not,
        warnings=tuple(_describe_outside(planned, actual, table.currency)),
    )


# What was planned and paid -----------------------------------------------------------------


def planned_by_month(answer: SavedPlan) -> dict[str, Decimal]:
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
    pairs = [(planned.get(month, _ZERO), actual[month]) for month in compared]
    return _ratios_of(pairs, is_of_hours=False)


def _ratios_of(pairs: list[tuple[Decimal, Decimal]], *, is_of_hours: bool) -> Ratios | None:
    before = sum((planned for planned, _ in pairs), _ZERO)
    months = [
        min(actual / planned, HIGHEST_RATIO)
        for planned, actual in pairs
        if planned > 0 and actual >= 0
    ]
    if before <= 0 or not months:
        return None
    after = sum((actual for _, actual in pairs), _ZERO)
    middle = min(max(after / before, _ZERO), HIGHEST_RATIO)
    return Ratios(middle, min(months), max(months), len(months) > 1, is_of_hours)


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


def _use_and_price(table: Variance) -> tuple[float | None, float | None]:
    """Use and price so far against the plan, of cells whose hours are known on both sides, in
    months that were over."""
    cells = [
        cell
        for (month, _), cell in table.cells.items()
        if cell.has_hours and month not in table.open_months
    ]
    planned = float(sum(cell.planned for cell in cells))
    if not cells or not planned:
        return None, None
    use = sum(cell.actual_hours for cell in cells) / sum(cell.planned_hours for cell in cells)
    price = float(sum(cell.actual for cell in cells)) / planned / use
    return round(use, 6), round(price, 6)


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
    paid = sum((actual[month] for month in outside), _ZERO)
    are = "is no month" if len(outside) == 1 else "are no months"
    in_them = "in it" if len(outside) == 1 else "in them"
    yield (
        f"{', '.join(outside)} {are} of the plan, which pays from {min(planned)} to "
        f"{max(planned)}: the {format_money(paid, currency)} paid {in_them} count as paid, not as "
        "months done nor in the share that is carried on."
    )


# What is left, at the prices of today ---------------------------------------------------------


class Left(NamedTuple):
    """Money of months to come, at the prices of today."""

    hourly: Decimal = _ZERO
    """What follows use."""
    fixed: Decimal = _ZERO

    @property
    def total(self) -> Decimal:
        return self.hourly + self.fixed

    def plus(self, other: Left) -> Left:
        return Left(self.hourly + other.hourly, self.fixed + other.fixed)


@dataclass(frozen=True)
class Remaining:
    """Each month of a plan at the prices of today."""

    months: Mapping[str, Left]
    prices_as_of: dt.date | None
    """Day on which the oldest of these prices was seen; None where none has a date."""
    not_sold: int
    """Offers of the plan that the catalog has no more, which stay at the planned price."""


def remaining_by_month(answer: SavedPlan) -> Remaining:
    """The months of the plan, those that are paid for too."""
    table = catalogs.current().offers
    factors: dict[str, Decimal | None] = {}
    dates: set[dt.date] = set()
    months: dict[str, Left] = defaultdict(Left)
    for line in recommended_lines(answer):
        follows_use = line.unit == NODE_HOURS and line.purchase_option in _HOURLY
        used = answer.offers.get(line.offer_id)
        amount = line.amount
        if follows_use and used is not None and used.native_price_per_hour is not None:
            if line.offer_id not in factors:
                factors[line.offer_id] = _factor(table, line.offer_id, used, dates)
            amount *= factors[line.offer_id] or 1
        left = Left(hourly=amount) if follows_use else Left(fixed=amount)
        month = format_month(answer.month(line.month))
        months[month] = months[month].plus(left)
    not_sold = sum(factor is None for factor in factors.values())
    return Remaining(dict(months), min(dates, default=None), not_sold)


def _factor(
    table: OfferTable, offer_id: str, used: OfferUsed, dates: set[dt.date]
) -> Decimal | None:
    """Price of today over that of the plan; None where the catalog does not have the offer."""
    offer, before = table.find(offer_id), Decimal(used.native_price_per_hour or 0)
    if offer is None or not offer.sold_now or offer.currency != used.native_currency or not before:
        return None
    if offer.as_of is not None:
        dates.add(offer.as_of)
    return offer.price_per_hour / before


# Money by the end of each month --------------------------------------------------------------


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
    ratios, today = observed_ratios(table, planned, actual), remaining_by_month(table.answer).months
    first, last = (parse_month(pick({*planned, *actual})) for pick in (min, max))
    names = month_labels(first, count_months(first, last) + 1)
    paid_for, begin = actual.keys() - table.open_months, min(planned)
    # Months from the first on that are paid for; those before the plan need no upload.
    lacking = (i for i, name in enumerate(names) if name not in paid_for and name >= begin)
    covered = next(lacking, len(names))
    months: list[BurnMonth] = []
    plan, paid, left = _ZERO, _ZERO, Left()
    opened: list[OpenMonth] = []
    for index, month in enumerate(names):
        plan += planned.get(month, _ZERO)
        if month not in actual:
            left = left.plus(today.get(month, Left()))
        elif month in table.open_months:
            opened.append(OpenMonth(actual[month], today.get(month, Left())))
        else:
            paid += actual[month]
        is_estimated = ratios is not None and index >= covered - 1
        ends = ratios.apply(paid, left, opened) if ratios and is_estimated else (None,) * 3
        months.append(BurnMonth(month, plan, paid if index < covered else None, *ends))
    return months


# What the budget leaves -----------------------------------------------------------------------


@dataclass(frozen=True)
class Headroom:
    """Budget for all months of the plan against what they cost, in one currency."""

    currency: str
    budget: Decimal
    period: BudgetPeriod
    """What the budget was set for; one of a month or a year counts for all months of the plan."""
    cost: Decimal
    is_estimate: bool
    """Whether the cost is the estimate at completion; before the first actuals it is the plan."""
    high: Decimal | None
    """The most that the estimate may come to."""

    @property
    def left(self) -> Decimal:
        """Below 0 where the budget does not suffice."""
        return self.budget - self.cost

    @property
    def left_at_most_cost(self) -> Decimal | None:
        return None if self.high is None else self.budget - self.high


def budget_headroom(
    project: Project, table: Variance, completion: Completion | None
) -> Headroom | None:
    """None without a budget, or without a feasible plan in the currency of the budget."""
    if table.plan is None:
        return None
    budget = budget_over_horizon(project, table.plan)
    planned = table.plan.read_summary().total_cost
    if budget is None or planned is None:
        return None
    estimate = completion.estimate if completion else None
    return Headroom(
        currency=table.currency,
        budget=budget,
        period=BudgetPeriod(project.budget_period),
        cost=planned if estimate is None else estimate,
        is_estimate=estimate is not None,
        high=completion.high if completion else None,
    )
