"""What a plan will have cost when it ends: paid so far, and what is left at observed use.

Estimate at completion = actual so far + what follows use in the months without an upload, at the
prices of today × actual over planned accelerator-hours of the last three months + what does not
follow use. A month that was not over when it was uploaded last (`Variance.open_months`) is no
measure of use, and comes to what the same gives for it, or to what is paid of it where that is
more. Where no
hours can be compared, all that is left is taken × actual over planned cost so far (the cost
performance of earned value, PMI Practice Standard for Earned Value Management). The range is that
of simulated outcomes of what is left (`outlook`).
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import PlainSerializer

from planner.contract.amounts import (
    count_months,
    format_money,
    format_month,
    month_labels,
    parse_month,
)
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import OfferUsed, SavedPlan
from planner.costing.analysis.outlook import LAST_MONTHS, MonthLeft, draw_left
from planner.costing.price_processes.process import PriceProcess, find_process
from planner.models import Project
from planner.services.actuals.actuals import NODE_HOURS, Cell, Variance, recommended_lines, variance
from planner.services.alerts.alerts import budget_over_horizon
from pricing import catalog as catalogs
from pricing.market.offers import PurchaseOption

CENT = Decimal("0.01")
_ZERO = Decimal(0)
_HOURLY = (PurchaseOption.ON_DEMAND.value, PurchaseOption.SPOT.value)
HIGHEST_RATIO = Decimal(10)
"""A month that cost ten times its plan says nothing of the months to come beyond that."""


@dataclass
class Month:
    """What a month was planned to cost, would cost at the prices of today, and what was paid."""

    planned: Decimal = _ZERO
    rents: dict[PriceProcess, Decimal] = field(default_factory=dict)
    """At the prices of today, what follows use, by what moves its price."""
    fixed: Decimal = _ZERO
    """At the prices of today, what does not."""
    paid: Decimal | None = None
    """None without an upload."""
    is_open: bool = False
    """Whether it was not over when it was uploaded last."""

    @property
    def hourly(self) -> Decimal:
        """At the prices of today, what follows use."""
        return sum(self.rents.values(), _ZERO)

    @property
    def is_done(self) -> bool:
        return self.paid is not None and not self.is_open

    def left_of(self, whole: Decimal) -> Decimal:
        """What is still to be paid where all of it comes to `whole`."""
        if self.paid is None:
            return whole
        return max(whole - self.paid, _ZERO) if self.is_open else _ZERO

    def expect(self, ratio: Decimal, *, is_of_hours: bool) -> Decimal:
        """What was paid of it and what is left, at a ratio of actual over planned."""
        whole = self.fixed + self.hourly * ratio
        if not is_of_hours:
            whole = (self.fixed + self.hourly) * ratio
        return (self.paid or _ZERO) + self.left_of(whole)


class Ratios(NamedTuple):
    """Actual over planned: of the last months that are done, and of each."""

    middle: Decimal
    each: tuple[Decimal, ...]
    is_of_hours: bool
    """Whether it compares hours; else money."""


class Estimate(NamedTuple):
    """Money at the end of the plan: as expected, and in simulated outcomes."""

    estimate: Decimal | None = None
    outcomes: tuple[float, ...] = ()

    def percentile(self, percent: float) -> Decimal | None:
        """Money that so many per cent of the outcomes stay below; None without any."""
        if not self.outcomes:
            return None
        return Decimal(float(np.percentile(self.outcomes, percent))).quantize(CENT)

    def chance_over(self, budget: Decimal | None) -> float | None:
        """Share of the outcomes that end above a budget; None without either."""
        if budget is None or not self.outcomes:
            return None
        return round(sum(one > budget for one in self.outcomes) / len(self.outcomes), 4)


class Course:
    """A plan month by month, from the first that is planned or paid for to the last."""

    def __init__(self, table: Variance, answer: SavedPlan) -> None:
        self.table, self.answer = table, answer
        rows: dict[str, Month] = defaultdict(Month)
        offers = catalogs.current().offers
        self.prices_as_of: dt.date | None = None
        factors: dict[str, Decimal | None] = {}
        for line in recommended_lines(answer):
            row = rows[format_month(answer.month(line.month))]
            row.planned += line.amount
            if line.unit != NODE_HOURS or line.purchase_option not in _HOURLY:
                row.fixed += line.amount
                continue
            used = answer.offers.get(line.offer_id)
            if used and used.native_price_per_hour is not None and line.offer_id not in factors:
                factors[line.offer_id] = self._factor(offers, line.offer_id, used)
            process = _process(used, answer.first_month.year)
            amount = line.amount * (factors.get(line.offer_id) or 1)
            row.rents[process] = row.rents.get(process, _ZERO) + amount
        self.offers_not_sold = sum(factor is None for factor in factors.values())
        self.planned = sorted(rows)
        for (month, _), cell in table.cells.items():
            rows[month].paid = (rows[month].paid or _ZERO) + cell.actual
            rows[month].is_open = month in table.open_months
        first, last = (parse_month(pick(rows)) for pick in (min, max)) if rows else (None, None)
        names = month_labels(first, count_months(first, last) + 1) if first and last else []
        self.months = {name: rows[name] for name in names}
        self.outside = [
            name
            for name, row in self.months.items()
            if row.paid is not None
            and self.planned
            and not self.planned[0] <= name <= self.planned[-1]
        ]
        self.done_cells = [
            (month, cell)
            for (month, _), cell in table.cells.items()
            if cell.has_hours and month not in self.outside and rows[month].is_done
        ]
        self.ratios = self._observe()

    def _factor(self, offers: Any, offer_id: str, used: OfferUsed) -> Decimal | None:
        offer, before = offers.find(offer_id), Decimal(used.native_price_per_hour or 0)
        if not offer or not offer.sold_now or offer.currency != used.native_currency or not before:
            return None
        if offer.as_of is not None:
            self.prices_as_of = min(self.prices_as_of or offer.as_of, offer.as_of)
        return Decimal(offer.price_per_hour / before)

    def _observe(self) -> Ratios | None:
        """Ratios of hours where both are known, else of money; None where nothing was planned in
        the months that are done. Months that the plan does not have compare with nothing."""
        pairs: dict[str, tuple[Decimal, Decimal]] = defaultdict(lambda: (_ZERO, _ZERO))
        for month, cell in self.done_cells:
            hours = Decimal(cell.planned_hours), Decimal(cell.actual_hours)
            pairs[month] = pairs[month][0] + hours[0], pairs[month][1] + hours[1]
        is_of_hours = bool(pairs)
        if not is_of_hours:
            pairs = {
                name: (row.planned, row.paid or _ZERO)
                for name, row in self.months.items()
                if row.is_done and name not in self.outside
            }
        last = [pairs[month] for month in sorted(pairs)[-LAST_MONTHS:]]
        before = sum((planned for planned, _ in last), _ZERO)
        after = sum((actual for _, actual in last), _ZERO)
        each = [
            min(actual / planned, HIGHEST_RATIO)
            for planned, actual in pairs.values()
            if planned > 0 and actual >= 0
        ]
        if before <= 0 or not each:
            return None
        middle = min(max(after / before, _ZERO), HIGHEST_RATIO)
        return Ratios(middle, tuple(each), is_of_hours)

    def estimate(self) -> Estimate:
        """Money at the end of the plan, as it is expected."""
        ratios, months = self.ratios, self.months.values()
        if ratios is None:
            return Estimate()
        is_of_hours = ratios.is_of_hours
        expected = [row.expect(ratios.middle, is_of_hours=is_of_hours) for row in months]
        paid = sum((row.paid or _ZERO for row in months if row.is_done), _ZERO)
        left = [
            MonthLeft(
                {process: float(amount) for process, amount in row.rents.items()},
                float(row.fixed),
                float(row.paid or 0),
            )
            for row in months
            if not row.is_done
        ]
        observed = [float(one) for one in ratios.each]
        middle = float(ratios.middle)
        drawn = draw_left(left, self.answer, middle, observed, is_of_hours=is_of_hours)
        return Estimate(sum(expected, _ZERO), tuple((float(paid) + drawn).tolist()))


def _process(used: OfferUsed | None, year: int) -> PriceProcess:
    if used is None or not used.purchase_option:
        return find_process("", PurchaseOption.ON_DEMAND, year)
    return find_process(used.accelerator, PurchaseOption(used.purchase_option), year, used.provider)


Cents = Annotated[
    Decimal,
    PlainSerializer(lambda amount: f"{amount.quantize(CENT):f}", str, when_used="json-unless-none"),
]


class Completion(AnswerModel):
    """Money of a plan at its end, and how the hours compare; null where it cannot be known, with
    the reason in `why_not`."""

    currency: str
    months_done: int
    """Months of the plan that are paid for and were over when they were uploaded last."""
    months_left: int
    """Other months of the plan."""
    is_due_after: bool
    """Whether what is left holds money of the months after the plan, such as a last invoice."""
    actual: Cents
    planned_total: Cents
    remaining_plan: Cents
    remaining_at_current_prices: Cents
    prices_as_of: dt.date | None
    """Day on which the oldest of the current prices was seen."""
    offers_not_sold: int
    """Offers of the plan that the catalog has no more, which stay at the planned price."""
    estimate_at_completion: Cents | None
    low: Cents | None
    """10th percentile of the simulated outcomes."""
    high: Cents | None
    """90th percentile of the simulated outcomes."""
    budget: Cents | None
    """For all months of the plan."""
    chance_over_budget: float | None
    """Share of the simulated outcomes that end above the budget."""
    hours_ratio: float | None
    """Actual over planned accelerator-hours so far."""
    price_ratio: float | None
    """Actual over planned cost of an accelerator-hour so far."""
    why_not: str
    warnings: tuple[str, ...] = ()


def estimate_completion(project: Project, table: Variance | None = None) -> Completion | None:
    """The estimate for a project with a plan and actuals; None without either."""
    table = variance(project) if table is None else table
    if table.plan is None or table.answer is None or not table.cells:
        return None
    course, of_plan = Course(table, table.answer), set(table.answer.months)
    rows = course.months
    done = {name for name, row in rows.items() if row.is_done} & of_plan
    why_not = "" if course.ratios else "nothing was planned in the months that were paid for"
    if not course.ratios and table.open_months and not done:
        why_not = "no month of the plan that was paid for was over when it was uploaded"
    hours_ratio, price_ratio = _use_and_price([cell for _, cell in course.done_cells])
    end, budget = course.estimate(), budget_over_horizon(project, table.plan)
    return Completion(
        currency=table.currency,
        months_done=len(done),
        months_left=len(of_plan - done),
        is_due_after=any(
            row.planned for name, row in rows.items() if row.paid is None and name not in of_plan
        ),
        actual=sum((row.paid or _ZERO for row in rows.values()), _ZERO),
        planned_total=sum((row.planned for row in rows.values()), _ZERO),
        remaining_plan=sum((row.left_of(row.planned) for row in rows.values()), _ZERO),
        remaining_at_current_prices=sum(
            (row.left_of(row.hourly + row.fixed) for row in rows.values()), _ZERO
        ),
        prices_as_of=course.prices_as_of,
        offers_not_sold=course.offers_not_sold,
        estimate_at_completion=end.estimate,
        low=end.percentile(10),
        high=end.percentile(90),
        budget=budget,
        chance_over_budget=end.chance_over(budget),
        hours_ratio=hours_ratio,
        price_ratio=price_ratio,
        why_not=why_not,
        warnings=_describe_outside(course),
    )


def _use_and_price(cells: list[Cell]) -> tuple[float | None, float | None]:
    planned = float(sum(cell.planned for cell in cells))
    if not planned:
        return None, None
    use = sum(cell.actual_hours for cell in cells) / sum(cell.planned_hours for cell in cells)
    price = float(sum(cell.actual for cell in cells)) / planned / use
    return round(use, 6), round(price, 6)


def _describe_outside(course: Course) -> tuple[str, ...]:
    if not course.outside:
        return ()
    paid = sum((course.months[name].paid or _ZERO for name in course.outside), _ZERO)
    are, them = ("is no month", "it") if len(course.outside) == 1 else ("are no months", "them")
    return (
        f"{', '.join(course.outside)} {are} of the plan, which pays from {course.planned[0]} to "
        f"{course.planned[-1]}: the {format_money(paid, course.table.currency)} paid in {them} "
        "count as paid, not as months done nor in the share that is carried on.",
    )
