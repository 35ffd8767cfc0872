"""Credits and minimum spends: money that a provider's bills use up. PURE.

A credit pays the bills of its provider, the first ones first, until it is used up or expires, but
for what is paid in advance (AWS re:Post, "Can I use AWS promotional credits to purchase a Reserved
Instance or Savings Plan?", 2024: upfront costs are not covered). Of a minimum spend what bills do
not come to is owed at its end; what credits pay does not count. A minimum spend that goes on after
the plan counts with the share of its months that are over by then.

Bills are [L, 2]: by month, those due for use and those paid in advance (`in_advance`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.request.finance import OtherCost
from planner.contract.request.on_prem import Credit, Existing, MinimumSpend
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import Stream
from planner.costing.cost_model.terms import Calendar, PaidWhen

Floats = NDArray[np.float64]
BILLED = frozenset(
    {
        *(Category.COMPUTE, Category.COMMITMENT, Category.UPFRONT),
        *(Category.STORAGE, Category.EGRESS, Category.SUPPORT),
    }
)
"""Categories of what a provider bills."""


def in_advance(category: Category) -> int:
    """Column of bills in which a category stands: 1 of what is paid in advance."""
    return int(category is Category.UPFRONT)


@dataclass(frozen=True)
class SpendPool:
    """One credit or minimum spend; its months are counted from the start of the plan."""

    label: str
    provider: str
    amount: float
    first: int
    last: int
    is_credit: bool

    @property
    def category(self) -> Category:
        """What its lines are for."""
        return Category.CREDIT if self.is_credit else Category.SHORTFALL

    @property
    def paid(self) -> PaidWhen:
        """When its lines are paid: with the bills, or at the end of its last month."""
        return PaidWhen.RUNNING if self.is_credit else PaidWhen.MONTH_END

    def worth(self, calendar: Calendar) -> Floats:
        """[L, 2] net present value, after tax, of a bill of 1 that it pays or that counts."""
        worth = calendar.discount_of(self.paid)
        if not self.is_credit:
            worth = np.full(calendar.length, worth[self.last])
        counts = self.counts(calendar.length)
        return np.where(counts, worth[:, None] * (1.0 - calendar.tax_rate), 0.0)

    def counts(self, length: int) -> NDArray[np.bool_]:
        """[L, 2] bills that it pays, or that count."""
        months = np.arange(length)
        within = (months >= self.first) & (months <= self.last)
        return np.stack([within, within & (not self.is_credit)], axis=1)

    def most_excess(self, calendar: Calendar) -> float:
        """The most by which bills that it counts are worth more than they cost, as they are paid
        later: what a dearer offer of its provider can save."""
        own = calendar.discount_of(PaidWhen.RUNNING) * (1.0 - calendar.tax_rate)
        return float((self.worth(calendar) - own[:, None]).max(initial=0.0)) * self.amount


def read_pools(existing: Existing, calendar: Calendar) -> tuple[SpendPool, ...]:
    """The pools of a request that matter to its plan: credits by their end, then minimum spends."""
    credits = sorted(existing.credits, key=lambda one: (one.expires, one.label))
    pools = (
        *(_credit(one, calendar) for one in credits),
        *(_minimum(one, calendar) for one in existing.minimum_spend),
    )
    return tuple(pool for pool in pools if pool.amount > 0 and pool.last >= 0)


def _credit(one: Credit, calendar: Calendar) -> SpendPool:
    last = min(calendar.index(one.expires), calendar.length - 1)
    return SpendPool(one.label, one.provider, float(one.amount), 0, last, is_credit=True)


def _minimum(one: MinimumSpend, calendar: Calendar) -> SpendPool:
    first, last = calendar.index(one.first), calendar.index(one.last)
    within = max(0, min(last, calendar.months - 1) - first + 1)
    due = float(one.amount) * within / (last - first + 1) - float(one.spent)
    amount = floor(max(0.0, due) * 100.0 + 1e-6) / 100.0
    last = min(last, calendar.months - 1)
    return SpendPool(one.label, one.provider, amount, max(first, 0), last, is_credit=False)


def settle_pools(
    pools: Iterable[SpendPool], bills: Mapping[str, Floats]
) -> Iterator[tuple[SpendPool, Floats]]:
    """Each pool with its lines […, L], credits negative and shortfalls positive; `bills` are the
    […, L, 2] amounts that each provider bills.

    >>> credit = SpendPool("c", "aws", 25.0, 0, 2, is_credit=True)
    >>> least = SpendPool("m", "aws", 30.0, 0, 3, is_credit=False)
    >>> bills = {"aws": np.array([[10.0, 2.0], [10.0, 0.0], [10.0, 0.0], [10.0, 0.0]])}
    >>> [amounts.tolist() for _, amounts in settle_pools([credit, least], bills)]
    [[-10.0, -10.0, -5.0, 0.0], [0.0, 0.0, 0.0, 13.0]]
    """
    left = {provider: amounts.copy() for provider, amounts in bills.items()}
    shape = next((amounts.shape for amounts in bills.values()), (0, 2))
    for pool in pools:
        open_bills = left.get(pool.provider, np.zeros(shape))
        within = np.where(pool.counts(shape[-2]), open_bills, 0.0)
        in_turn = within.reshape((*shape[:-2], -1))
        before = (np.cumsum(in_turn, axis=-1) - in_turn).reshape(shape)
        used = np.clip(pool.amount - before, 0.0, within)
        open_bills -= used
        amounts = np.zeros(shape[:-1])
        if pool.is_credit:
            amounts -= used[..., 0]
        else:
            amounts[..., pool.last] = np.maximum(pool.amount - used.sum(axis=(-2, -1)), 0.0)
        yield pool, amounts


KEY = "other"
"""Key of the source that carries them."""


def build_other_cost_source(
    costs: Sequence[OtherCost], scenario: ScenarioKey | None, calendar: Calendar, hours: Floats
) -> CapacitySource | None:
    """The costs of one scenario, or those that all have; None without any. `hours` [T] are the
    accelerator-hours of the work."""
    streams = tuple(_stream(cost, calendar, hours) for cost in select_costs(costs, scenario))
    if not streams:
        return None
    return CapacitySource(KEY, "Other costs", "", "", 0.0, 0.0, fixed_streams=streams)


def select_costs(costs: Iterable[OtherCost], scenario: ScenarioKey | None) -> list[OtherCost]:
    """Those of one scenario, or those that all have."""
    return [c for c in costs if c.scenarios is None or scenario in c.scenarios]


def _stream(cost: OtherCost, calendar: Calendar, hours: Floats) -> Stream:
    quantity = np.zeros(calendar.length)
    if cost.amount is not None:
        quantity[cost.month] = 1.0
        unit, price = "payments", cost.amount
    elif cost.days is not None:
        quantity[cost.month] = cost.days
        unit, price = "days", cost.per_day or 0.0
    elif cost.per_month is not None:
        quantity[cost.month : calendar.months] = 1.0
        unit, price = "months", cost.per_month
    else:
        quantity[cost.month : calendar.months] = hours[cost.month :]
        unit, price = "accelerator-hours", cost.per_accelerator_hour or 0.0
    prices = np.full(calendar.length, float(price))
    is_once = cost.amount is not None or cost.days is not None
    paid = PaidWhen.DATED if is_once else None
    return Stream(Category.OTHER, cost.label, unit, quantity, prices, paid=paid)


@dataclass(frozen=True)
class Bills:
    """What a provider bills for a source, before tax."""

    hour: Floats
    """[L, 2] for a node-hour."""
    unit: Floats
    """[T, L, 2] for a unit started in month m."""
    fixed: Floats
    """[L, 2] whatever the plan."""


def bills_of(source: CapacitySource, calendar: Calendar) -> Bills:
    """What its provider bills for a source, by month."""
    hour, fixed = np.zeros((calendar.length, 2)), np.zeros((calendar.length, 2))
    unit = np.zeros((calendar.months, calendar.length, 2))
    for charge in source.hour_charges:
        if charge.category in BILLED:
            hour[:, in_advance(charge.category)] += charge.per_hour
    for unit_charge in source.unit_charges:
        if unit_charge.category in BILLED and source.term is not None:
            column = in_advance(unit_charge.category)
            unit[:, :, column] += unit_charge.amounts(source.term)
    for stream in source.fixed_streams:
        if stream.category in BILLED:
            fixed[:, in_advance(stream.category)] += stream.quantity * stream.unit_price
    return Bills(hour, unit, fixed)
