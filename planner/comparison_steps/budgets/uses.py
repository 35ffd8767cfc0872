"""The budgets of a request: what a plan takes of them, and what they make it buy. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.scenario_results import SMALL_SHARE
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import BudgetKind, BudgetUse
from planner.contract.money import format_money
from planner.contract.months import FiscalYears, format_month
from planner.contract.request.constraints import FiscalYearBudget
from planner.costing.advice.payback import best_without_buying, why_not_bought
from planner.costing.kept_charges import keep_charges
from planner.costing.results.payments import (
    capital,
    due_per_month,
    resale_value,
    total_without_resale,
)
from planner.costing.results.scenario_result import Scenario, cents
from planner.costing.scenarios import solve_scenario

_ROUNDED = Decimal("0.05")
"""What the rounding of its lines to cents may add to a month."""


def list_budget_uses(results: ComparisonResults, plan: Scenario) -> Iterator[BudgetUse]:
    """What a plan takes of each budget of the request."""
    limits = results.request.constraints
    if limits.total_budget is not None:
        yield _total(results, plan, float(limits.total_budget))
    if limits.capex_budget is not None:
        yield _capital(results, plan, capital(plan), float(limits.capex_budget))
    years = FiscalYears(results.calendar.start, results.request.finance.fiscal_year_start_month)
    for budget in limits.capex_by_fiscal_year:
        yield _capital_of_year(results, plan, budget, years)
    if limits.monthly_budget is not None:
        yield _monthly(results, plan, float(limits.monthly_budget))


def _total(results: ComparisonResults, plan: Scenario, amount: float) -> BudgetUse:
    """All payments, without what servers fetch at the end, which nobody promises."""
    payments, resale = total_without_resale(plan), resale_value(plan)
    sentence = f"All payments of the plan come to {_money(payments, results)}"
    if resale:
        sentence += f", before {_money(resale, results)} from reselling the servers at the end"
    return _budget_use("total", amount, payments, f"{sentence}.")


def _capital(
    results: ComparisonResults, plan: Scenario, price: Decimal, amount: float
) -> BudgetUse:
    """The price of servers, or of what leased ones need beside the lease, against a budget."""
    if not price:
        return _budget_use("capital", amount, price, "Nothing is bought.")
    started = [results.inputs.by_key[key] for key in plan.units_started]
    is_leased = any(source.is_leased for source in started)
    is_bought = any(source.is_owned and not source.is_leased for source in started)
    what = "The servers with network, spares and installation come"
    if is_leased:
        servers = "servers bought, and the network, spares and installation for all of them,"
        what = "Network, spares and installation for the leased servers, paid at once, come"
        what = f"The {servers} come" if is_bought else what
    return _budget_use("capital", amount, price, f"{what} to {_money(price, results)}.")


def _capital_of_year(
    results: ComparisonResults, plan: Scenario, budget: FiscalYearBudget, years: FiscalYears
) -> BudgetUse:
    """The capital budget of a fiscal year against what is ordered in its months."""
    first, last = years.months_of(budget.fiscal_year)
    price = capital(plan, range(first, last))
    use = _capital(results, plan, price, float(budget.amount))
    sentence = use.sentence
    if last <= 0 or first >= results.calendar.months:
        sentence = "The plan has no month in this fiscal year."
    elif not price:
        sentence = "Nothing is bought in this fiscal year."
    return use.model_copy(update={"fiscal_year": budget.fiscal_year, "sentence": sentence})


def _monthly(results: ComparisonResults, plan: Scenario, amount: float) -> BudgetUse:
    """The budget of a month against the dearest one, those after the horizon too, in which
    commitments are still paid."""
    due = due_per_month(plan)
    highest = max(range(len(due)), key=due.__getitem__)
    calendar = results.calendar
    month = calendar.month(highest)
    use = _budget_use("monthly", amount, due[highest])
    after = ", after the end of the plan" if highest >= calendar.months else ""
    sentence = (
        f"The monthly budget of {_money(use.budget, results)} is exceeded by "
        f"{_money(-use.headroom, results)} in {month:%B %Y}{after}."
        if use.headroom < -_ROUNDED
        else f"The highest month is {month:%B %Y}{after}, with {_money(use.planned, results)}."
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


def explain_exception(results: ComparisonResults, plan: Scenario) -> str:
    """Why servers are bought that save less than is asked of a purchase: no plan that buys nothing
    keeps to a budget. Empty where they save it, and where nothing can be rented at any price."""
    rules = results.preparation.rules
    if not (rules.needs_payback and plan.buys) or _can_rent(results):
        return ""
    rent = _rent_without_budgets(results)
    over = "" if rent is None else _broken_budget(results, rent)
    shortfall = why_not_bought(plan, rent, results.payback_margin, rules)
    if not (over and shortfall):
        return ""
    return (
        f"Renting alone would cost {over}: buying is advised because no plan that only rents "
        f"stays within it. {shortfall}"
    )


def _can_rent(results: ComparisonResults) -> bool:
    return best_without_buying(results.consented_scenarios) is not None


def _rent_without_budgets(results: ComparisonResults) -> Scenario | None:
    """The best plan that buys nothing whatever is due in all or in a month; None where there is
    none, or no work left to find it with."""
    inputs = replace(results.inputs, total_budget=None, monthly_budget=None)
    if inputs.total_budget == results.inputs.total_budget and (
        inputs.monthly_budget == results.inputs.monthly_budget
    ):
        return None
    return results.within(
        "rent_without_budgets",
        SMALL_SHARE,
        lambda part: solve_scenario(
            keep_charges(inputs, results.inputs), ScenarioKey.CLOUD_MIX, part
        ),
        None,
    )


def _broken_budget(results: ComparisonResults, rent: Scenario) -> str:
    """The cost of renting beside the budget that it breaks; empty where it breaks none."""
    if not rent.feasible:
        return ""
    for use in list_budget_uses(results, rent):
        if use.headroom < -_ROUNDED and use.kind == "total":
            planned, budget = _money(use.planned, results), _money(use.budget, results)
            return f"{planned}, above the budget of {budget}"
        if use.headroom < -_ROUNDED and use.kind == "monthly":
            planned, budget = _money(use.planned, results), _money(use.budget, results)
            return f"{planned} in its highest month, above the monthly budget of {budget}"
    return ""


def _money(amount: Decimal, results: ComparisonResults) -> str:
    return format_money(amount, results.request.currency)
