"""The budgets of a request: what a plan takes of them, and what they keep out. PURE.

Each budget of capital, and that of a month or in total where it leaves a scenario without a plan,
is lifted alone and the best plan of all sources is solved again; where none alone is in the way,
all together. A request without such budgets costs nothing here. Where purchases have to pay back
before their resale the budget in total is left alone: what it keeps out pays more before that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from planner.comparison.alternatives import ROUNDED, WORTH_NAMING, find_most_machines
from planner.comparison.results import SMALL_SHARE, ComparisonResults
from planner.contract.amounts import (
    FiscalYears,
    decimals_of,
    format_difference,
    format_money,
    format_month,
    parse_month,
)
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import (
    Alternative,
    BudgetKind,
    BudgetUse,
    FieldChange,
    Verdict,
)
from planner.costing.advice.decision import describe_parts, list_parts
from planner.costing.advice.verdict import (
    NamedLimit,
    best_without_buying,
    name_limit,
    why_not_bought,
)
from planner.costing.charge_cache import keep_charges
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter
from planner.costing.paying_purchases import buy_what_pays_back
from planner.costing.results.scenario_result import (
    Scenario,
    capital,
    cents,
    due_per_month,
    resale_value,
    total_without_resale,
)
from planner.costing.scenarios import solve_scenario
from planner.costing.sensible_plans import MOST_KINDS, count_kinds, count_machines
from pricing.common.copies import replace

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
        yield _budget_use("total", float(limits.total_budget), payments, f"{sentence}.")
    if limits.capex_budget is not None:
        yield _capital_use(results, plan, capital(plan), float(limits.capex_budget))
    years = FiscalYears(results.calendar.start, results.request.finance.fiscal_year_start_month)
    for budget in limits.capex_by_fiscal_year:
        first, last = years.months_of(budget.fiscal_year)
        price = capital(plan, range(first, last))
        use = _capital_use(results, plan, price, float(budget.amount))
        sentence = use.sentence
        if last <= 0 or first >= results.calendar.months:
            sentence = "The plan has no month in this fiscal year."
        elif not price:
            sentence = "Nothing is bought in this fiscal year."
        yield use.model_copy(update={"fiscal_year": budget.fiscal_year, "sentence": sentence})
    if limits.monthly_budget is not None:
        yield _monthly_use(results, plan, float(limits.monthly_budget))


def _capital_use(
    results: ComparisonResults, plan: Scenario, price: Decimal, amount: float
) -> BudgetUse:
    """The price of servers, or of what leased ones need beside the lease, against a budget."""
    if not price:
        return _budget_use("capital", amount, price, "Nothing is bought.")
    started = [results.inputs.by_key[key] for key in plan.units_started]
    what = "The servers with network, spares and installation come"
    if any(source.is_leased for source in started):
        what = "Network, spares and installation for the leased servers, paid at once, come"
        if any(source.is_owned and not source.is_leased for source in started):
            what = (
                "The servers bought, and the network, spares and installation for all of them, come"
            )
    come_to = format_money(price, results.request.currency)
    return _budget_use("capital", amount, price, f"{what} to {come_to}.")


def _monthly_use(results: ComparisonResults, plan: Scenario, amount: float) -> BudgetUse:
    """The budget of a month against the dearest one, those after the horizon too, in which
    commitments are still paid."""
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


def explain_exception(results: ComparisonResults, plan: Scenario) -> str:
    """Why servers are bought that save less than is asked of a purchase: no plan that buys nothing
    keeps to a budget. Empty where they save it, and where nothing can be rented at any price."""
    rules, inputs = results.preparation.rules, results.inputs
    can_rent = best_without_buying(results.consented_scenarios) is not None
    is_limited = inputs.total_budget is not None or inputs.monthly_budget is not None
    if can_rent or not (rules.needs_payback and plan.buys and is_limited):
        return ""
    unlimited = replace(inputs, total_budget=None, monthly_budget=None)
    rent = results.within(
        "rent_without_budgets",
        SMALL_SHARE,
        lambda part: solve_scenario(keep_charges(unlimited, inputs), ScenarioKey.CLOUD_MIX, part),
        None,
    )
    over = "" if rent is None or not rent.feasible else _broken_budget(results, rent)
    shortfall = why_not_bought(plan, rent, results.payback_margin, rules)
    if not (over and shortfall):
        return ""
    return (
        f"Renting alone would cost {over}: buying is advised because no plan that only rents "
        f"stays within it. {shortfall}"
    )


def _broken_budget(results: ComparisonResults, rent: Scenario) -> str:
    """The cost of renting beside the budget that it breaks; empty where it breaks none."""
    for use in list_budget_uses(results, rent):
        if use.headroom < -_ROUNDED and use.kind != "capital":
            planned, budget = (
                format_money(amount, results.request.currency)
                for amount in (use.planned, use.budget)
            )
            if use.kind == "total":
                return f"{planned}, above the budget of {budget}"
            return f"{planned} in its highest month, above the monthly budget of {budget}"
    return ""


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
    inputs, advised = results.inputs, results.recommendation.scenario
    names = [WHOLE_PLAN] if inputs.capex_budget is not None else []
    names += [part.name for part in inputs.capex_by_period]
    conflicts = {c.limit for scenario in results.scenarios.values() for c in scenario.conflicts}
    of_cash = [A_MONTH] if results.preparation.rules.needs_payback else [A_MONTH, IN_TOTAL]
    names += [name for name in of_cash if name in conflicts]
    if not (names and advised and results.request.cheaper_if):
        return None
    plan = results.scenarios[advised]
    return results.within(
        "budgets", SMALL_SHARE, lambda part: _list_gains(results, plan, names, part), None
    )


def _list_gains(
    results: ComparisonResults, plan: Scenario, names: list[str], work: WorkMeter
) -> tuple[BudgetGain, ...]:
    """Without all budgets no plan is dearer than without one: where that gains nothing, none
    does."""
    every = _find_gain(results, plan, names, work)
    if every is None:
        return ()
    gains = [every]
    if len(names) > 1:
        alone = [_find_gain(results, plan, [name], work) for name in names]
        gains = [gain for gain in alone if gain is not None] or gains
    # Where a monthly budget leaves a way to buy without a plan: the least raise that lets one in.
    taken = [use.planned for gain in gains for use in gain.uses if limit_of(use) == A_MONTH]
    conflicts = (c for scenario in results.scenarios.values() for c in scenario.conflicts)
    raises = {c.least for c in conflicts if c.limit == A_MONTH and c.is_sufficient}
    for least in sorted(raises):
        if taken and least < float(min(taken)):
            raised = replace(results.inputs, monthly_budget=least)
            gain = _find_gain(results, plan, [A_MONTH], work, raised)
            if gain is not None:
                gains.append(gain)
                break
    return tuple(sorted(gains, key=lambda gain: -(gain.alternative.saving or 0)))


def _find_gain(
    results: ComparisonResults,
    plan: Scenario,
    names: Collection[str],
    work: WorkMeter,
    raised: ModelInputs | None = None,
) -> BudgetGain | None:
    """The plan without these budgets, or with them as `raised`, if it may be advised and saves what
    is worth naming."""
    least_saving = abs(plan.net_present_cost) * WORTH_NAMING
    ceiling = float(plan.net_present_cost - least_saving) + ROUNDED
    limited = results.inputs
    lifted = raised or replace(
        limited,
        capex_budget=None if WHOLE_PLAN in names else limited.capex_budget,
        total_budget=None if IN_TOTAL in names else limited.total_budget,
        monthly_budget=None if A_MONTH in names else limited.monthly_budget,
        capex_by_period=tuple(p for p in limited.capex_by_period if p.name not in names),
    )
    inputs = keep_charges(lifted, limited)
    other = solve_scenario(inputs, ScenarioKey.HYBRID, work, ceiling)
    if not other.feasible or plan.net_present_cost - other.net_present_cost <= least_saving:
        return None
    rent = best_without_buying(results.consented_scenarios)
    if other.buys and not {A_MONTH, IN_TOTAL}.isdisjoint(names):  # which keep rent out as well
        rent = solve_scenario(inputs, ScenarioKey.CLOUD_MIX, work)
    terms = results.payback_margin, results.preparation.rules
    if why_not_bought(other, rent, *terms):
        fewer = buy_what_pays_back(inputs, rent, *terms, work, ceiling) or rent
        if fewer is None or plan.net_present_cost - fewer.net_present_cost <= least_saving:
            return None
        other = fewer
    uses = list_budget_uses(results, other)
    over = tuple(use for use in uses if limit_of(use) in names and exceeds(use))
    is_large = count_machines(other, limited) > find_most_machines(results, plan)
    if not over or is_large or count_kinds(other, limited) > MOST_KINDS:
        return None
    return BudgetGain(other, over, _name_gain(results, plan, other, over))


def _name_gain(
    results: ComparisonResults, plan: Scenario, other: Scenario, over: Sequence[BudgetUse]
) -> Alternative:
    currency = results.request.currency
    parts = list_parts(other, results.inputs, results.preparation.name_place, currency)
    limits = [(name_budget(use, results), ceil(use.planned)) for use in over]
    first, *others = (FieldChange(field=named.field, value=least) for named, least in limits)
    allowed = " and ".join(
        f"{name_budget(use, results).amount(float(use.budget))} {_describe_kind(use)}"
        for use in over
    )
    why, resale = f"The request allows no more than {allowed}.", resale_value(other)
    if resale:
        sold = format_money(resale, currency)
        why += f" Its total includes {sold} from reselling the servers."
    return Alternative(
        field=first.field,
        value=first.value,
        together_with=tuple(others),
        change=" and ".join(f"a {named.name} of {named.amount(least)}" for named, least in limits),
        plan=f"{describe_parts(parts)}.",
        total=other.total_cost,
        saving=plan.net_present_cost - other.net_present_cost,
        why=why,
    )


def _describe_kind(use: BudgetUse) -> str:
    if use.kind == "capital":
        return f"of capital {f'in fiscal year {use.fiscal_year}' if use.fiscal_year else 'in all'}"
    return "in any month" if use.kind == "monthly" else "of payments"


# Sentences of the verdict ---------------------------------------------------------------------


def describe_gain(
    results: ComparisonResults, facts: Verdict, gains: Sequence[BudgetGain] | None
) -> str:
    """What budgets have no room for, its price and what it would save; empty where they keep out
    nothing cheaper."""
    if not gains or facts.total is None:
        return ""
    gain = gains[0]
    uses = {limit_of(use): use for use in facts.budget}
    over = [uses[limit_of(use)] for use in gain.uses]
    purchases = list(_list_purchases(gain.plan, results))
    left = min(use.headroom for use in over)
    is_close = any(left < p.each and round(left) >= round(p.each) for p in purchases)
    show = _Amounts(results.request.currency, is_close)
    budgets = " and the ".join(_describe_budget(use, results, show) for use in over)
    verb = "has" if len(over) == 1 else "have"
    saving = _describe_saving(gain, facts.total, results.request.currency)
    for use in gain.uses:
        if use.kind != "capital":
            due = show(Decimal(ceil(use.planned)))
            saving += (
                f", with payments of {due} in all"
                if use.month is None
                else f", with {due} due in {parse_month(use.month):%B %Y}"
            )
    if not purchases:
        return (
            f"The {budgets} {verb} no room for a cheaper plan: {gain.alternative.plan[0].lower()}"
            f"{gain.alternative.plan[1:-1]}; that would be {saving}."
        )
    bought = sum(part.units or 0.0 for part in facts.decision if part.action == "buy")
    is_more = 0 < bought < sum(p.units for p in purchases)
    fits_one = any(left >= p.each for p in purchases)
    other = "the servers" if fits_one else f"a {'further ' if is_more else ''}server"
    listed = " and ".join(p.describe(show) for p in purchases)
    in_all = "" if [p.units for p in purchases] == [1] else f" ({show(capital(gain.plan))} in all)"
    return (
        f"The {budgets} {verb} no room for {other} that would save money: {listed}{in_all} would "
        f"make the plan {saving}."
    )


@dataclass(frozen=True)
class _Amounts:
    """Writes amounts in whole units, to the cent where two would look alike."""

    currency: str
    to_the_cent: bool = False

    def __call__(self, amount: Decimal) -> str:
        """
        >>> _Amounts("USD")(Decimal("355972.79")), _Amounts("USD", True)(Decimal("355972.79"))
        ('355,973 USD', '355,972.79 USD')
        """
        if self.to_the_cent:
            return f"{amount:,.{decimals_of(self.currency)}f} {self.currency}"
        return format_money(amount, self.currency) if amount else f"0 {self.currency}"


@dataclass(frozen=True)
class _Purchase:
    """Servers of a kind that a plan buys or leases, with the capital that one takes."""

    units: int
    label: str
    each: Decimal
    is_leased: bool

    def describe(self, show: _Amounts) -> str:
        """
        >>> [_Purchase(units, "DGX H100", Decimal(355973), False).describe(_Amounts("USD"))[:32]
        ...  for units in (1, 2)]
        ['1 × DGX H100, 355,973 USD with n', '2 × DGX H100, 355,973 USD each w']
        """
        what = "for network and spares" if self.is_leased else "with network and spares"
        each = " each" if self.units > 1 else ""
        return f"{self.units} × {self.label}, {show(self.each)}{each} {what}"


def _list_purchases(plan: Scenario, results: ComparisonResults) -> Iterator[_Purchase]:
    """Each kind of server that a plan buys or leases, its name with the month of purchase."""
    for key, started in plan.units_started.items():
        lines = (line for line in plan.lines if line.source == key and line.category in CAPITAL)
        price = sum((line.amount for line in lines), Decimal("0.00"))
        units, months = int(started.sum()), started.nonzero()[0].tolist()
        if price and units:
            source = results.inputs.by_key[key]
            when = f" in {results.calendar.month(months[0]):%B %Y}" if len(months) == 1 else ""
            lease = " on lease" if source.is_leased else ""
            yield _Purchase(units, f"{source.label}{lease}{when}", price / units, source.is_leased)


def _describe_budget(use: BudgetUse, results: ComparisonResults, show: _Amounts) -> str:
    """`capital budget of fiscal year 2027 (400,000 USD, 44,027 USD left)`."""
    named = name_budget(use, results)
    left = f", {show(use.headroom)} left" if use.planned else ""
    return f"{named.name} ({named.amount(float(use.budget))}{left})"


def _describe_saving(gain: BudgetGain, total: Decimal, currency: str) -> str:
    """What the plan would cost less in all; in present value where that alone is less."""
    if total > gain.plan.total_cost:
        less = f"{format_difference(total, gain.plan.total_cost, currency)} cheaper"
    else:
        saving = gain.alternative.saving or Decimal(0)
        less = f"{format_money(saving, currency)} cheaper in present value"
    resale = resale_value(gain.plan)
    return f"{less}, net of {format_money(resale, currency)} of resale" if resale else less


def explain_no_room(own: Scenario, gains: Sequence[BudgetGain] | None) -> str:
    """Where budgets leave no plan of owning: that higher ones would change nothing, or, where that
    is not worked out, what owning takes."""
    of_cash = ("constraints.monthly_budget", "constraints.total_budget")
    fields = ("constraints.capex_budget", "constraints.capex_by_fiscal_year.", *of_cash)
    limits = [change for change in own.relaxations if change.field.startswith(fields)]
    if not limits:
        return ""
    if gains is not None:
        is_cash = any(change.field in of_cash for change in limits)
        return (
            f"{'A higher budget' if is_cash else 'More capital'} would change nothing: even "
            "without a limit, no plan that may be advised is 2% cheaper."
        )
    sentence = limits[0].sentence
    return f"To own instead of rent, {sentence[0].lower()}{sentence[1:]}"


def describe_full_budget(results: ComparisonResults, facts: Verdict) -> str:
    """That a capital budget has no room for one more server, where something else serves too."""
    bought = [part for part in facts.decision if part.action == "buy"]
    if not bought or len(bought) == len(facts.decision):
        return ""
    at_once = [part for part in bought if part.starts == part.last_start]
    prices = [p.due_at_start / Decimal(str(p.units)) for p in at_once if p.due_at_start and p.units]
    years = FiscalYears(results.calendar.start, results.request.finance.fiscal_year_start_month)
    months = (results.calendar.index(parse_month(part.starts)) for part in at_once)
    fiscal_years = {None, *(years.year_of(month) for month in months)}
    uses = [u for u in facts.budget if u.kind == "capital" and u.fiscal_year in fiscal_years]
    least = min(prices, default=Decimal(0))
    full = min(uses, key=lambda use: use.headroom, default=None)
    if full is None or full.headroom >= least:
        return ""
    show = _Amounts(results.request.currency, round(full.headroom) >= round(least))
    return (
        f"The {name_budget(full, results).name} has no room for another server: "
        f"{show(full.headroom)} is left, and one takes {show(least)}."
    )
