"""The budgets of a request: what a plan takes of them, and what they keep out. PURE.

Each budget of capital, and that of a month or in total where it leaves a scenario without a plan,
is lifted alone and the best plan of all sources is solved again; where none alone is in the way,
all together. A request without such budgets costs nothing here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from planner.comparison.alternatives import (
    ROUNDED,
    WORTH_NAMING,
    count_machines,
    find_most_machines,
    has_many_kinds,
)
from planner.comparison.results import SMALL_SHARE, ComparisonResults
from planner.contract.amounts import FiscalYears, format_money, format_month
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import Alternative, BudgetKind, BudgetUse, Verdict
from planner.contract.copies import replace
from planner.costing.advice.decision import describe_parts, list_parts
from planner.costing.advice.verdict import NamedLimit, best_without_buying, name_limit, write_chance
from planner.costing.choice import FEW_SOLVES, judge
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import (
    Scenario,
    capital,
    cents,
    due_per_month,
    resale_value,
    total_without_resale,
)
from planner.costing.scenarios import solve_scenario

WHOLE_PLAN, A_MONTH, IN_TOTAL = "capex_budget", "monthly_budget", "total_budget"
"""The capital budget of all years, that of a month and that of all payments, as the optimiser
calls them."""
_ROUNDED = Decimal("0.05")
"""What the rounding of its lines to cents may add to a month."""


# What a plan takes ----------------------------------------------------------------------------


def list_budget_uses(results: ComparisonResults, plan: Scenario) -> Iterator[BudgetUse]:
    """What a plan takes of each budget of the request."""
    limits, currency = results.request.constraints, results.request.currency
    if limits.total_budget is not None:
        # Without what servers fetch at the end, which nobody promises.
        payments, resale = total_without_resale(plan), resale_value(plan)
        sentence = f"All payments of the plan come to {format_money(payments, currency)}"
        if resale:
            sold = format_money(resale, currency)
            sentence += f", before {sold} from reselling the servers at the end"
        choice = results.choice
        at = None if choice is None or results.simulation is None else choice.find(plan)
        chance = None if choice is None or at is None else float(choice.within_budget[at])
        if chance is not None:
            sentence += f"; it is kept in {write_chance(chance)} outcomes"
        use = _budget_use("total", float(limits.total_budget), payments, f"{sentence}.")
        yield use.model_copy(update={"chance": chance})
    if limits.capex_budget is not None:
        yield _capital_use(results, capital(plan), float(limits.capex_budget))
    years = FiscalYears(results.calendar.start, results.request.finance.fiscal_year_start_month)
    for budget in limits.capex_by_fiscal_year:
        first, last = years.months_of(budget.fiscal_year)
        price = capital(plan, range(first, last))
        use = _capital_use(results, price, float(budget.amount))
        sentence = use.sentence
        if last <= 0 or first >= results.calendar.months:
            sentence = "The plan has no month in this fiscal year."
        elif not price:
            sentence = "Nothing is bought in this fiscal year."
        yield use.model_copy(update={"fiscal_year": budget.fiscal_year, "sentence": sentence})
    if limits.monthly_budget is not None:
        yield _monthly_use(results, plan, float(limits.monthly_budget))


def _capital_use(results: ComparisonResults, price: Decimal, amount: float) -> BudgetUse:
    come_to = format_money(price, results.request.currency)
    words = f"Servers, network, spares and installation come to {come_to}."
    return _budget_use("capital", amount, price, words if price else "Nothing is bought.")


def _monthly_use(results: ComparisonResults, plan: Scenario, amount: float) -> BudgetUse:
    due, calendar, currency = due_per_month(plan), results.calendar, results.request.currency
    highest = max(range(len(due)), key=due.__getitem__)
    month = calendar.month(highest)
    use = _budget_use("monthly", amount, due[highest])
    after = ", after the end of the plan" if highest >= calendar.months else ""
    sentence = (
        f"The monthly budget of {format_money(use.budget, currency)} is exceeded by "
        f"{format_money(-use.headroom, currency)} in {month:%B %Y}{after}."
        if exceeds(use)
        else f"The highest month is {month:%B %Y}{after}, with "
        f"{format_money(use.planned, currency)}."
    )
    return use.model_copy(update={"month": format_month(month), "sentence": sentence})


def _budget_use(kind: BudgetKind, amount: float, planned: Decimal, sentence: str = "") -> BudgetUse:
    budget = cents(amount)
    return BudgetUse(
        kind=kind, budget=budget, planned=planned, headroom=budget - planned, sentence=sentence
    )


def exceeds(use: BudgetUse) -> bool:
    """Whether a plan is over a budget by more than the rounding of a month's lines adds."""
    return use.headroom < (-_ROUNDED if use.kind == "monthly" else 0)


def limit_of(use: BudgetUse) -> str:
    """The budget of a use, as the optimiser calls it."""
    if use.kind != "capital":
        return A_MONTH if use.kind == "monthly" else IN_TOTAL
    return WHOLE_PLAN if use.fiscal_year is None else f"capex_by_fiscal_year {use.fiscal_year}"


def name_budget(use: BudgetUse, results: ComparisonResults) -> NamedLimit:
    """The budget of a use as a reader knows it, with the field that sets it."""
    return name_limit(limit_of(use), results.request, results.inputs)


# What budgets keep out ------------------------------------------------------------------------


@dataclass(frozen=True)
class BudgetGain:
    """A cheaper plan that budgets keep out."""

    plan: Scenario
    uses: tuple[BudgetUse, ...]
    """What it takes of each budget that it does not keep to."""
    alternative: Alternative


def find_budget_gains(results: ComparisonResults) -> tuple[BudgetGain, ...] | None:
    """The cheaper plan behind each budget that is in its way, the largest saving first; None where
    that is not worked out: not wanted, no such budget or no work left for it."""
    inputs, plan = results.inputs, results.advised
    names = [WHOLE_PLAN] if inputs.capex_budget is not None else []
    names += [part.name for part in inputs.capex_by_period]
    conflicts = {c.limit for scenario in results.scenarios.values() for c in scenario.conflicts}
    names += [name for name in (A_MONTH, IN_TOTAL) if name in conflicts]
    if not names or plan is None or not results.request.cheaper_if:
        return None

    def list_gains(work: WorkMeter) -> tuple[BudgetGain, ...]:
        every = _find_gain(results, plan, names, work)
        if every is None:
            return ()
        each = names if len(names) > 1 else []
        alone = [_find_gain(results, plan, [name], work) for name in each]
        gains = [gain for gain in alone if gain is not None] or [every]
        return tuple(sorted(gains, key=lambda gain: -(gain.alternative.saving or 0)))

    return results.within("budgets", SMALL_SHARE, list_gains, None)


def _find_gain(
    results: ComparisonResults, plan: Scenario, names: Collection[str], work: WorkMeter
) -> BudgetGain | None:
    least_saving = abs(plan.net_present_cost) * WORTH_NAMING
    ceiling = float(plan.net_present_cost - least_saving) + ROUNDED
    limited = results.inputs
    inputs = replace(
        limited,
        capex_budget=None if WHOLE_PLAN in names else limited.capex_budget,
        total_budget=None if IN_TOTAL in names else limited.total_budget,
        monthly_budget=None if A_MONTH in names else limited.monthly_budget,
        capex_by_period=tuple(p for p in limited.capex_by_period if p.name not in names),
    )
    other = solve_scenario(inputs, ScenarioKey.HYBRID, work, ceiling)
    if not other.feasible or plan.net_present_cost - other.net_present_cost <= least_saving:
        return None
    rent = best_without_buying(results.scenarios)
    if other.buys and not {A_MONTH, IN_TOTAL}.isdisjoint(names):  # which keep rent out as well
        rent = solve_scenario(inputs, ScenarioKey.CLOUD, work)
    plans = [one for one in (other, rent) if one is not None and one.feasible]
    choice, _ = judge(
        inputs, plans, results.terms, results.few_outcomes, work, most_solves=FEW_SOLVES
    )
    other, expected = choice.plan, float(choice.expected[choice.index])
    saving = results.saving_of(other, inputs, expected, work)
    if saving <= least_saving:
        return None
    uses = list_budget_uses(results, other)
    over = tuple(use for use in uses if limit_of(use) in names and exceeds(use))
    is_large = count_machines(other, limited) > find_most_machines(results, plan)
    if not over or is_large or has_many_kinds(other, limited):
        return None
    return BudgetGain(other, over, _name_gain(results, saving, other, over))


def _name_gain(
    results: ComparisonResults, saving: Decimal, other: Scenario, over: Sequence[BudgetUse]
) -> Alternative:
    currency = results.request.currency
    parts = list_parts(other, results.inputs, results.preparation.name_place, currency)
    limits = [(name_budget(use, results), ceil(use.planned)) for use in over]
    first, *others = ((named.field, least) for named, least in limits)
    allowed = " and ".join(
        f"{name_budget(use, results).amount(float(use.budget))} {_describe_kind(use)}"
        for use in over
    )
    why, resale = f"The request allows no more than {allowed}.", resale_value(other)
    if resale:
        sold = format_money(resale, currency)
        why += f" Its total includes {sold} from reselling the servers."
    return Alternative(
        field=first[0],
        value=first[1],
        together_with=dict(others),
        change=" and ".join(f"a {named.name} of {named.amount(least)}" for named, least in limits),
        plan=f"{describe_parts(parts)}.",
        total=other.total_cost,
        saving=saving,
        why=why,
    )


def _describe_kind(use: BudgetUse) -> str:
    if use.kind == "capital":
        return f"of capital {f'in fiscal year {use.fiscal_year}' if use.fiscal_year else 'in all'}"
    return "in any month" if use.kind == "monthly" else "of payments"


def describe_gain(
    results: ComparisonResults, facts: Verdict, gains: Sequence[BudgetGain] | None
) -> str:
    """What budgets have no room for and what it would save; empty where they keep out nothing
    cheaper."""
    if not gains or facts.total is None:
        return ""
    gain, currency = gains[0], results.request.currency
    uses = {limit_of(use): use for use in facts.budget}
    over = [uses[limit_of(use)] for use in gain.uses]
    budgets = " and the ".join(
        f"{name_budget(use, results).name} ({use.budget:,.0f} {currency}"
        + (f", of which {format_money(use.planned, currency)} is used)" if use.planned else ")")
        for use in over
    )
    less = facts.total - gain.plan.total_cost
    saving = f"{format_money(less, currency)} cheaper"
    if less <= 0:
        present = gain.alternative.saving or Decimal(0)
        saving = f"{format_money(present, currency)} cheaper in present value"
    resale = resale_value(gain.plan)
    net = f", net of {format_money(resale, currency)} of resale" if resale else ""
    has = "has" if len(over) == 1 else "have"
    plan = gain.alternative.plan[0].lower() + gain.alternative.plan[1:-1]
    return f"The {budgets} {has} no room for a cheaper plan: {plan}; that would be {saving}{net}."
