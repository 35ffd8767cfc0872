"""Whether to keep the servers that the team owns, or to sell them. PURE.

With V(m) what they fetch in month m, net present and after tax, and T the plan's end, where those
that are kept are sold (or where their useful life is over), selling them

- today saves E(plan) − E(best plan without them) + V(0) − V(T)
- in the first month m without work saves what running them costs from then on, and V(m) − V(T)

What they fetch in the end is in no plan, as it is the same in all that keep them.
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from functools import partial

import numpy as np

from planner.comparison.alternatives import LIMITS, SELLING, least_saving, try_without
from planner.comparison.results import SMALL_SHARE, ComparisonResults
from planner.contract.amounts import format_money
from planner.contract.answer.verdict import Alternative
from planner.contract.copies import replace
from planner.costing.analysis.plan_exposure import run_in_place
from planner.costing.model_inputs import Floats
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario, cents
from pricing.common.invalid_input import InvalidInput

Advice = tuple[str, tuple[Alternative, ...]]
"""What to do with them, and the plan without them where selling them saves enough."""


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
    now, end = _fetched(results, 0), _fetched(results, calendar.months)
    after_tax = " after tax" * (calendar.tax_rate > 0)
    fetched = f"{money(now[1])}{after_tax}"
    limit = LIMITS["in_place"]
    limit = replace(limit, why=f"{limit.why} The saving counts {fetched} that they fetch now.")
    without = None
    with suppress(InvalidInput):
        sold = cents(float(now[0] - end[0])), cents(float(now[1]))
        without = next(try_without(limit, results, plan, work, sold), None)
    saving = Decimal("-Infinity") if without is None else without.saving or Decimal(0)
    idle = int(np.flatnonzero(results.inputs.hours).max(initial=-1)) + 1
    then = _fetched(results, idle)
    spared = run_in_place(results.inputs.server_sources, calendar)[idle:, 0].sum()
    spared += then[0] - end[0]
    them = " and ".join(
        f"{sum(batch.units for batch in batches)} × {server.label}"
        for server, batches in results.inputs.servers.owned
    )
    if without is not None and saving > max(least_saving(plan, SELLING), Decimal(spared)):
        return (
            f"Selling {them} now for {fetched} saves {money(saving)} in present value, if space "
            "and people then cost nothing.",
            (without,),
        )
    if idle < calendar.months and spared > results.terms.effort_cost:
        return (
            f"Sell {them} in {calendar.month(idle):%B %Y}, when the work is done, for "
            f"{money(then[1])}{after_tax}: {money(spared)} better in present value than at the "
            "plan's end.",
            (),
        )
    more = "no other plan does the work well"
    if without is not None:
        apart = f"{money(abs(saving))} {'less' if saving > 0 else 'more'}"
        more = f"the work costs {'only ' * (saving > 0)}{apart} in present value"
    return f"Keep {them}: sold now for {fetched}, {more}.", ()


def _fetched(results: ComparisonResults, month: int) -> Floats:
    """[2] what they fetch in a month, or when their life is over before, net present and nominal,
    after tax."""
    calendar, assumptions = results.calendar, results.inputs.assumptions
    left = 1.0 - calendar.tax_rate * (assumptions.depreciation != "none")
    fetched = np.zeros(2)
    for server, batches in results.inputs.servers.owned:
        life = int(server.assumptions(assumptions)["useful_life_months"])
        for batch in batches:
            at = min(month, max(life - batch.age_months, 0))
            amount = batch.units * batch.sale_value(at, server, assumptions) * left
            fetched += amount * np.array([calendar.discount[at], 1.0])
    return fetched
