"""Whether to keep the servers that the team owns, or to sell them. PURE.

With V(m) what they fetch in month m, net present and after tax, and T the plan's end, where those
that are kept are sold (or where their useful life is over), selling them

- today saves E(plan) − E(best plan without them) + V(0) − V(T)
- in the first month m without work saves what running them costs from then on, and V(m) − V(T)

What they fetch in the end is in no plan, as it is the same in all that keep them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import islice

import numpy as np

from planner.comparison.alternatives import (
    LIMITS,
    SELLING,
    RelaxableLimit,
    least_saving,
    try_without,
)
from planner.comparison.results import SMALL_SHARE, ComparisonResults
from planner.contract.amounts import format_money
from planner.contract.answer.verdict import Alternative
from planner.contract.copies import replace
from planner.costing.analysis.plan_exposure import run_in_place
from planner.costing.cost_model.ownership import ServerBatch, ServerToBuy
from planner.costing.model_inputs import Floats
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario, cents
from pricing.common.invalid_input import InvalidInput

Advice = tuple[str, tuple[Alternative, ...]]
"""What to do with them, and the plan without them where selling them saves enough."""
Batches = list[tuple[ServerToBuy, ServerBatch]]
MOST_SALES, MOST_NUMBERS = 6, 5
"""Sales that are weighed, and numbers of units of an entry; a planning choice, 2026."""


def weigh_sale(results: ComparisonResults) -> Advice:
    """Whether to keep or to sell what is owned; empty where nothing is, where it is not asked, and
    where the work left does not allow for it."""
    nothing: Advice = "", ()
    plan = results.advised
    if plan is None or not results.inputs.servers.owned or not results.request.cheaper_if:
        return nothing
    return results.within("sale", SMALL_SHARE, lambda work: _weigh(results, plan, work), nothing)


def _weigh(results: ComparisonResults, plan: Scenario, work: WorkMeter) -> Advice:
    calendar, money = results.calendar, partial(format_money, currency=results.request.currency)
    after_tax = " after tax" * (calendar.tax_rate > 0)
    every = [(server, one) for server, some in results.inputs.servers.owned for one in some]
    sales: list[tuple[Decimal, Batches, str, Alternative | None]] = []
    ways = list(islice(_list_sales(every), MOST_SALES))
    for i, (limit, some) in enumerate(ways):
        now, end = (_fetched(results, some, month) for month in (0, calendar.months))
        fetched = f"{money(now[1])}{after_tax}"
        sold = cents(float(now[0] - end[0])), cents(float(now[1]))
        limit = replace(limit, why=f"{limit.why} The saving counts {fetched} that they fetch now.")
        part = work.share(1 / (len(ways) - i))
        with suppress(WorkSpentError):
            other = None
            with suppress(InvalidInput):  # what is left may be refused elsewhere
                other = next(try_without(limit, results, plan, part, sold), None)
            saving = Decimal("-Infinity") if other is None else other.saving or Decimal(0)
            sales.append((saving, some, fetched, other))
    if not sales:
        return "", ()
    saving, some, fetched, best = max(sales, key=lambda sale: sale[0])
    idle = int(np.flatnonzero(results.inputs.hours).max(initial=-1)) + 1
    then, end = (_fetched(results, every, month) for month in (idle, calendar.months))
    spared = run_in_place(results.inputs.server_sources, calendar)[idle:, 0].sum()
    spared += then[0] - end[0]
    if best is not None and saving > max(least_saving(plan, SELLING), Decimal(spared)):
        return (
            f"Selling {_name(some)} now for {fetched} saves {money(saving)} in present value, if "
            "space and people then cost nothing.",
            (best,),
        )
    if idle < calendar.months and spared > results.terms.effort_cost:
        return (
            f"Sell {_name(every)} in {calendar.month(idle):%B %Y}, when the work is done, for "
            f"{money(then[1])}{after_tax}: {money(spared)} better in present value than at the "
            "plan's end.",
            (),
        )
    more = "no other plan does the work well"
    if best is not None:
        apart = f"{money(abs(saving))} {'less' if saving > 0 else 'more'}"
        more = f"the work costs {'only ' * (saving > 0)}{apart} in present value"
    which = "" if some == every else f"{_name(some)} "
    return f"Keep {_name(every)}: {which}sold now for {fetched}, {more}.", ()


def _list_sales(every: Batches) -> Iterator[tuple[RelaxableLimit, Batches]]:
    """All that is owned, then of each entry some units: every number of few, five of many."""
    limit, owned = LIMITS["in_place"], sum(batch.units for _, batch in every)
    yield limit, every
    for server, batch in every:
        numbers = np.unique(np.linspace(1, batch.units, MOST_NUMBERS).round()).astype(int)
        for units in numbers[numbers < owned].tolist():
            some = [(server, replace(batch, units=units))]
            field, left = f"{SELLING}.{batch.place}.units", batch.units - units
            yield replace(limit, field=field, value=left, shown=f"{_name(some)} sold"), some


def _name(some: Batches) -> str:
    units: dict[str, int] = {}
    for server, batch in some:
        units[server.label] = units.get(server.label, 0) + batch.units
    return " and ".join(f"{count} × {label}" for label, count in units.items())


def _fetched(results: ComparisonResults, some: Batches, month: int) -> Floats:
    """[2] what they fetch in a month, or when their life is over before, net present and nominal,
    after tax."""
    calendar, assumptions = results.calendar, results.inputs.assumptions
    left = 1.0 - calendar.tax_rate * (assumptions.depreciation != "none")
    fetched = np.zeros(2)
    for server, batch in some:
        life = int(server.assumptions(assumptions)["useful_life_months"])
        at = min(month, max(life - batch.age_months, 0))
        amount = batch.units * batch.sale_value(at, server, assumptions) * left
        fetched += amount * np.array([calendar.discount[at], 1.0])
    return fetched
