"""The advice in words: what to do, what it saves, and why. PURE."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from planner.contract.amounts import NOISE, format_money
from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.scenario import CostLine, Relaxation, least_changes
from planner.contract.answer.verdict import Alternative, BudgetUse
from planner.contract.labels import (
    COMMITTED,
    TRAITS,
    budget_title,
    cloud_title,
    join_place,
    join_reasons,
    options_where,
)
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import SHORTEST_TERM
from planner.costing.advice.decision import OBLIGATIONS, name_contract
from planner.costing.choice import Choice, Part, Refusal, rank
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.inputs.exclusions import describe_missing, find_missing
from planner.costing.inputs.offer_rules import StatedQuotas
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import LARGEST_SHARE, LEAST_GROUPS, ConflictingConstraint
from planner.costing.results.scenario_result import Scenario, cents
from pricing.common.words import capitalize_first, pluralize
from pricing.market.accelerators import get
from pricing.market.coverage import PriceState

SCENARIO_NAMES = {
    ScenarioKey.ON_DEMAND: "renting on demand",
    ScenarioKey.CLOUD: "renting with contracts",
    ScenarioKey.ON_PREM: "owning servers",
    ScenarioKey.HYBRID: "combining owned and rented machines",
}
NEGLIGIBLE = Decimal("0.0001")
"""Share of the cost under which two scenarios count as the same: 0.01 %."""
HALF_CENT = 0.005
"""Gap, and difference in money, under which a plan is called the cheapest without more ado."""


def name_rival(other: Scenario, best: Scenario, inputs: ModelInputs) -> str:
    """The way to buy of another plan in words; beside a plan that buys or leases servers too,
    owning is said with its number of servers, and beside one that has some as buying more."""
    owned = {source.key for source in inputs.sources if source.is_owned}
    mine, theirs = (
        {key: int(n.sum()) for key, n in plan.units_started.items() if key in owned}
        for plan in (best, other)
    )
    if not theirs and other.key in (ScenarioKey.CLOUD, ScenarioKey.HYBRID):
        is_dated = _options_of(other, inputs) & options_where(is_paid_ahead=True)
        is_signed = _options_of(other, inputs) & options_where(is_commitment=True)
        return "reserving by date" if is_dated and not is_signed else SCENARIO_NAMES[other.key]
    if not (mine and theirs):
        if theirs and any(one.is_owned and one.existing is not None for one in inputs.sources):
            return "buying more servers"
        is_leased = theirs and all(inputs.by_key[key].is_leased for key in theirs)
        is_all = is_leased and other.key is ScenarioKey.ON_PREM
        return "leasing servers" if is_all else SCENARIO_NAMES[other.key]
    if mine == theirs:
        are_leased = all(inputs.by_key[key].is_leased for key in mine)
        return f"{'leasing' if are_leased else 'buying'} the same and {_name_rest(other, inputs)}"
    return f"owning {pluralize(sum(theirs.values()), 'new server')}"


def _options_of(plan: Scenario, inputs: ModelInputs) -> set[str]:
    used = [inputs.by_key[key] for key in (*plan.used_hours, *plan.units_started)]
    return {s.purchase_option for s in used if not s.is_owned and s.existing is None}


def _name_rest(plan: Scenario, inputs: ModelInputs) -> str:
    options = _options_of(plan, inputs)
    if options & options_where(is_paid_ahead=True):
        return "reserving by date"
    return "signing for the rest" if options & COMMITTED else "renting by the hour"


@dataclass(frozen=True)
class Recommendation:
    """The cheapest scenario by net present cost, and what it rests on."""

    scenario: ScenarioKey | None
    saving: Decimal
    """Net present cost that it saves against `next_best`."""
    next_best: ScenarioKey | None
    """The cheapest scenario with another plan."""
    because: tuple[str, ...]


def recommend(
    scenarios: Mapping[ScenarioKey, Scenario],
    choice: Choice | None,
    inputs: ModelInputs,
    currency: str,
    *,
    is_laid_anew: bool = False,
) -> Recommendation:
    """The scenario of the plan that is chosen, and the sentences for it. `is_laid_anew`: the work
    could be laid over other months."""
    ranked = [] if choice is None else rank(choice, scenarios.values())
    if choice is None or not ranked:
        sentences: tuple[str, ...] = ("No plan keeps to these limits.",)
        widest = scenarios[ScenarioKey.HYBRID]
        if widest.relaxations:
            sentences += (describe_relaxations(least_changes(scenarios)),)
        if others := widest.why_not[len(widest.relaxations) :]:
            sentences += (f"What stands in the way: {join_reasons(others)}.",)
        return Recommendation(None, Decimal("0.00"), None, sentences)
    best = next(s for s in scenarios.values() if s.lines == choice.plan.lines)
    at = float(choice.expected[choice.index])
    edge = at + abs(at) * float(NEGLIGIBLE)
    rivals = (s for s in ranked if float(choice.expected[choice.find(s) or 0]) > edge)
    other, saving = next((s for s in rivals if is_other_plan(s, best)), None), Decimal("0.00")
    because = f"Expected present value {format_money(cents(at), currency)}"
    if other is not None:
        saving = cents(float(choice.expected[choice.find(other) or 0]) - at)
        rival = name_rival(other, best, inputs)
        because += f", {format_money(saving, currency)} less than {rival}, the next best"
    proof = describe_proof(
        best,
        currency,
        is_all_known=not describe_unknown_prices(best, inputs),
        is_undercut=bool(choice.refusals)
        or any(map(choice.is_too_uncertain, range(len(choice.candidates)))),
        is_laid_anew=is_laid_anew,
    )
    other_key = other.key if other else None
    return Recommendation(best.key, saving, other_key, (f"{because}.", proof))


def is_other_plan(one: Scenario, other: Scenario) -> bool:
    """Whether two plans have other sources; the same hours of them in other months are no rival."""
    return one.units_started.keys() != other.units_started.keys() or (
        one.used_hours.keys() != other.used_hours.keys()
    )


def describe_refusal(choice: Choice, index: int, inputs: ModelInputs, currency: str) -> str:
    """Why a plan is not advised although it costs less in expectation."""
    refusal, plan = choice.refusals[index], choice.candidates[index]
    rival = choice.candidates[refusal.rival]
    saving = format_money(cents(refusal.saving), currency)
    saves = f"{_name_refused(choice, index, inputs)} saves {saving} of expected present value"
    if not rival.parts:
        saves += " against renting alone"
    if rival.bound:
        less = format_money(cents(plan.bound - rival.bound), currency)
        saves += f" against a plan that binds to {less} less" if plan.bound > rival.bound else ""
    if refusal.saving < refusal.required:
        least = format_money(cents(refusal.required), currency)
        return f"{saves}; at least {least} is asked for."
    return f"{saves}, {_describe_chance(refusal)}"


def describe_uncertainty(choice: Choice, index: int, plan: Scenario, inputs: ModelInputs) -> str:
    """Why a plan that costs less is not certain enough to be advised."""
    share, within = float(choice.certain[index]), float(choice.within_budget[index])
    budget = ["keeps the budget"] if within < 1 else []
    machines = ["has its machines in time"] if share < within else []
    name = capitalize_first(name_rival(plan, choice.plan, inputs))
    asked_for = choice.terms.certainty
    chance = f"in only {write_short(share, asked_for)} of outcomes; {asked_for:.0%} is asked for"
    return f"{name} {' and '.join((*budget, *machines))} {chance}."


def describe_forgone(choice: Choice, index: int, inputs: ModelInputs, currency: str) -> str:
    """What a plan that is not advised would save beside the advised."""
    refusal = choice.refusals[index]
    if refusal.rival != choice.index:
        return describe_refusal(choice, index, inputs, currency)
    saving = f"{format_money(cents(refusal.saving), currency)} of expected present value"
    saves = f"{_name_refused(choice, index, inputs)} saves another {saving}"
    if refusal.saving < refusal.required:
        least = format_money(cents(refusal.required), currency)
        return f"{saves}, less than the {least} that such a step has to save."
    return f"{saves}, {_describe_chance(refusal)}"


def _name_refused(choice: Choice, index: int, inputs: ModelInputs) -> str:
    plan, rival = choice.candidates[index], choice.candidates[choice.refusals[index].rival]
    parts = [part for part in plan.parts if not rival.has(part)]
    return name_part(parts[0], inputs) if parts else "The larger order"


def _describe_chance(refusal: Refusal) -> str:
    chance = write_short(refusal.chance, refusal.required_chance)
    return f"but in only {chance} of outcomes; {refusal.required_chance:.0%} is asked for."


def write_short(share: float, least: float) -> str:
    """A share that is less than is asked for, told apart from that.

    >>> write_short(0.83, 0.9), write_short(0.896, 0.9)
    ('83%', '89.6%')
    """
    return f"{share:.1%}" if f"{share:.0%}" == f"{least:.0%}" else f"{share:.0%}"


def write_chance(share: float) -> str:
    """A share of simulated outcomes, of which only all are all.

    >>> write_chance(0.93), write_chance(0.9995), write_chance(0.001), write_chance(1.0)
    ('93% of', 'more than 99% of', 'less than 1% of', 'all')
    """
    if share in (0.0, 1.0):
        return "all" if share else "none of the"
    rounded = f"{share:.0%}"
    return {"100%": "more than 99%", "0%": "less than 1%"}.get(rounded, rounded) + " of"


def name_part(part: Part, inputs: ModelInputs) -> str:
    """A part of a plan in words, as the subject of a sentence."""
    kind, *names = part
    if kind in ("servers", "leased"):
        did = "Leasing" if kind == "leased" else "Buying"
        return f"{did} {inputs.by_key[names[0]].label}"
    if kind in ("contract", "block"):
        provider, option, accelerator, months = names
        what = f"{get(accelerator).name} at {cloud_title(provider)}"
        if kind == "block":
            return f"Reserving {what} by date"
        return f"Signing a {months}-month {name_contract(option)} for {what}"
    if kind == "provider":
        return f"A contract with {cloud_title(names[0])} as well"
    if kind == "region":
        return f"Renting in {join_place(*names)} as well"
    return f"Renting {names[0]} as well"


def describe_unknown_prices(best: Scenario | None, inputs: ModelInputs) -> tuple[str, ...]:
    """Commitments to what a plan rents that are sold at prices not known here, a sentence for each
    provider; without a plan everything sold at such prices."""
    if best is None:
        missing = find_missing(inputs.coverage, frozenset(TRAITS))
    else:
        sources = [inputs.by_key[key] for key in (*best.used_hours, *best.units_started)]
        kinds = {source.accelerator for source in sources if not source.is_owned}
        options = (
            COMMITTED
            if (inputs.term_end != "within" or inputs.calendar.months >= SHORTEST_TERM)
            else options_where(is_paid_ahead=True)
        )
        missing = find_missing(inputs.coverage, options, kinds) if kinds else ()
    sold = [row for row in missing if row.state is PriceState.SOLD_PRICE_UNKNOWN]
    return tuple(describe_missing(sold))


def describe_proof(
    best: Scenario,
    currency: str,
    is_all_known: bool = True,
    is_undercut: bool = False,
    is_laid_anew: bool = False,
) -> str:
    """What the bound rules out: as a share of the cost, as money where the plan earns; of the plans
    that may be advised where another one costs less; for the hours of each month that the work is
    laid over, where these are not those asked for."""
    open_gap = best.cost - best.bound
    by = "is cheaper"
    if open_gap > max(NOISE * abs(best.cost), HALF_CENT):
        gap = max(best.gap, float(NEGLIGIBLE))
        by = f"is more than {gap:.2%} cheaper"
        if best.cost <= 0:
            by = f"is more than {format_money(open_gap, currency)} cheaper"
    known = "" if is_all_known else " at the prices that are known"
    plan = "plan that may be advised" if is_undercut else "plan"
    proven = "Proven for the hours of these months" if is_laid_anew else "Proven"
    return f"{proven}: no {plan} from these offers and servers {by}{known}."


def best_without_buying(scenarios: Mapping[ScenarioKey, Scenario]) -> Scenario | None:
    """The feasible plan of least net present cost that buys nothing; None if there is none."""
    renting = [s for s in scenarios.values() if s.feasible and not s.buys]
    return min(renting, key=lambda s: s.net_present_cost, default=None)


def capital_to_approve(lines: Sequence[CostLine]) -> Decimal | None:
    """All invoices of the month in which the first servers are bought: the servers, their
    network, spares and installation; None where none is bought."""
    bought = [line.month for line in lines if line.category is Category.CAPEX]
    if not bought:
        return None
    first = min(bought)
    due = (line.amount for line in lines if line.category in CAPITAL and line.month == first)
    return sum(due, Decimal("0.00"))


def contract_terms(sources: Iterable[CapacitySource]) -> tuple[dict[str, int], dict[str, int]]:
    """Duration of each commitment and lease, and how long after its signature it begins, months."""
    terms = {s.key: s.term for s in sources if s.term and (s.is_leased or not s.is_owned)}
    durations = {key: term.duration_months for key, term in terms.items()}
    return durations, {key: term.lead_months for key, term in terms.items()}


def obligation_to_sign(
    plan: Scenario, duration: Mapping[str, int], leads: Mapping[str, int] = MappingProxyType({})
) -> Decimal | None:
    """All payments of the commitments and leases that begin in the first month in which any does;
    None where nothing is committed to. `duration` is the term of each source, months, and
    `leads` how many months after it is signed it begins, 0 where not named.

    Of a source that begins units in several months the payments of the first units are the share
    of its units that they are in each month of their term.
    """
    starts = {
        key: [int(month) for month in units.nonzero()[0]]
        for key, units in plan.units_started.items()
        if key in duration
    }
    first = min((months[0] for months in starts.values() if months), default=None)
    if first is None:
        return None
    total = Decimal("0.00")
    for key, months in starts.items():
        if months and months[0] == first:
            total += _payments_of_first(plan, key, first, leads.get(key, 0), duration[key])
    return total


def _payments_of_first(plan: Scenario, key: str, signed: int, lead: int, duration: int) -> Decimal:
    units = plan.units_started[key]
    own, first = int(units[signed]), signed + lead
    total = Decimal("0.00")
    for line in plan.lines:
        if line.source != key or line.category not in OBLIGATIONS:
            continue
        if line.category is Category.UPFRONT:
            total += line.amount if line.month == first else Decimal(0)
        elif first <= line.month < first + duration:
            last = line.month - lead
            started = int(units[max(0, last - duration + 1) : last + 1].sum())
            total += line.amount * own / max(started, own)
    return total.quantize(Decimal("0.01"))


_BUDGETS = {
    "capex_budget": "capital budget",
    "monthly_budget": "monthly budget",
    "total_budget": "total budget",
}
MOST_LISTED = 3
"""Values of a field that a sentence lists."""
_SPOT, _QUOTA, _MOST_UNITS = "max_spot_share", "quota ", "max_units "
_OF_YEAR = "capex_by_fiscal_year "
_ROOM = f"{_QUOTA}constraints."
_ROOM_NAMES = {
    "power_kw": ("power limit for own servers", "kW"),
    "rack_units": ("rack limit for own servers", "rack units"),
}


@dataclass(frozen=True)
class NamedLimit:
    """A limit as a reader knows it."""

    field: str
    """Field of the request that sets it."""
    name: str
    unit: str
    """Currency code, %, accelerators, servers, providers, kW or rack units."""
    is_least: bool = False
    """Whether it is a least number, which has to be lowered."""

    def amount(self, value: float) -> str:
        """A value of it with its unit.

        >>> NamedLimit("constraints.monthly_budget", "monthly budget", "EUR").amount(42336)
        '42,336 EUR'
        >>> NamedLimit("constraints.max_spot_share", "share of spot", "%").amount(0.4568)
        '45.68 %'
        >>> NamedLimit("constraints.total_budget", "budget", "EUR").amount(900000.5)
        '900,000.50 EUR'
        """
        shown = round(value * 100, 6) if self.unit == "%" else value
        unit = self.unit.removesuffix("s") if shown == 1 else self.unit
        is_in_cents = self.unit.isupper() and round(shown) != shown == round(shown, 2)
        return f"{shown:,.2f} {unit}" if is_in_cents else f"{shown:,.10g} {unit}"

    def instead(self, current: float, required: float) -> str:
        """`a monthly budget of at least 42,336 USD instead of 100 USD`; a least number has no unit,
        as its name says it.

        >>> NamedLimit("f", "minimum number of providers", "providers", is_least=True).instead(3, 2)
        'a minimum of 2 providers instead of 3'
        """
        if self.is_least:
            return f"a minimum of {self.amount(required)} instead of {current:g}"
        return (
            f"a {self.name} of at least {self.amount(required)} instead of {self.amount(current)}"
        )


def name_limit(limit: str, request: ComparisonRequest, inputs: ModelInputs) -> NamedLimit:
    """The limit that the optimiser calls `limit`, in the words of the request."""
    if limit in _BUDGETS:
        return NamedLimit(f"constraints.{limit}", _BUDGETS[limit], request.currency)
    if limit == _SPOT:
        return NamedLimit(f"constraints.{limit}", "share of spot", "%")
    if limit == LARGEST_SHARE:
        return NamedLimit("constraints.max_provider_share", "largest share of one provider", "%")
    if limit == LEAST_GROUPS:
        name = "minimum number of providers"
        return NamedLimit("constraints.min_providers", name, "providers", is_least=True)
    if limit.startswith(_ROOM):
        return _name_room(limit.removeprefix(_QUOTA))
    if limit.startswith(_QUOTA):
        return _name_quota(limit.removeprefix(_QUOTA), request)
    if limit.startswith(_OF_YEAR):
        year = int(limit.removeprefix(_OF_YEAR))
        years = [budget.fiscal_year for budget in request.constraints.capex_by_fiscal_year]
        field = f"constraints.capex_by_fiscal_year.{years.index(year)}.amount"
        return NamedLimit(field, f"capital budget of fiscal year {year}", request.currency)
    key = limit.removeprefix(_MOST_UNITS)
    source = inputs.by_key[key]
    slug = key.removeprefix("server:")
    names = [
        server.label or server.server if server.server == "custom" else server.server
        for server in request.on_prem.servers or ()
    ]
    at = f"on_prem.servers.{names.index(slug)}" if slug in names else "on_prem.servers"
    return NamedLimit(f"{at}.max_units", f"limit on purchases of {source.label}", "servers")


def _name_room(field: str) -> NamedLimit:
    name, unit = _ROOM_NAMES[field.rpartition(".")[2]]
    return NamedLimit(field, name, unit)


def _name_quota(group: str, request: ComparisonRequest) -> NamedLimit:
    rules = StatedQuotas.read(request).rules
    index = [rule.group for rule in rules].index(group)
    field = f"constraints.quotas.{index}.max_accelerators"
    return NamedLimit(field, rules[index].words, "accelerators")


def list_relaxations(
    conflicts: Sequence[ConflictingConstraint], request: ComparisonRequest, inputs: ModelInputs
) -> tuple[Relaxation, ...]:
    """What would let a plan in, of the limits in conflict that have a value."""
    return tuple(_relax(conflict, request, inputs) for conflict in conflicts)


def _relax(
    conflict: ConflictingConstraint, request: ComparisonRequest, inputs: ModelInputs
) -> Relaxation:
    named = name_limit(conflict.limit, request, inputs)
    current, required = conflict.current_value or 0.0, conflict.least
    if named.is_least:  # 1 asks for nothing: servers that come later work in no month before
        required = max(required, 1.0)
    both = "" if conflict.is_sufficient else ", together with the other limits named"
    return Relaxation(
        field=named.field,
        current_value=current,
        required_value=required,
        is_sufficient=conflict.is_sufficient,
        change=f"a minimum of {named.amount(required)}"
        if named.is_least
        else f"a {named.name} of {named.amount(required)}",
        sentence=f"It takes {named.instead(current, required)}{both}.",
    )


def describe_relaxations(relaxations: Sequence[Relaxation]) -> str:
    """Those of which one alone is enough as alternatives, those that must change together as such;
    empty without any.

    >>> one, other = (
    ...     Relaxation(
    ...         field="a", current_value=1, required_value=2, is_sufficient=True, change=more,
    ...         sentence=f"It takes {more}."
    ...     )
    ...     for more in ("more money", "more spot")
    ... )
    >>> describe_relaxations((one, other))
    'It takes more money, or more spot.'
    """
    if len(relaxations) < 2 or not all(one.is_sufficient for one in relaxations):
        return " ".join(one.sentence for one in relaxations)
    first, *others = (one.sentence.rstrip(".") for one in relaxations)
    return f"{', or '.join([first, *(other.removeprefix('It takes ') for other in others)])}."


def as_typed(value: object) -> str:
    """A value as a request in TOML or JSON has it.

    >>> as_typed(True), as_typed(("commercial", "other-clouds")), as_typed("within"), as_typed(12)
    ('true', '["commercial", "other-clouds"]', '"within"', '12')
    """
    return json.dumps(value, ensure_ascii=False, default=str)


def describe_alternative(one: Alternative, currency: str) -> str:
    """What lifting a rule would save, or make possible, and how a request lifts it."""
    without = one.value is None or one.value == ()
    changes = [(one.field, one.value), *one.together_with.items()]
    listed = " and ".join(f"{field} = {as_typed(value)}" for field, value in changes)
    if isinstance(one.value, tuple) and len(one.value) > MOST_LISTED:
        listed = f"{one.change} ({one.field}, {len(one.value)} of them)"
    how = f"without {one.field}" if without else f"with {listed}"
    if one.saving is None:
        in_all = f"{format_money(one.total, currency)} in all"
        total = "" if one.plan.endswith(f" {in_all}).") else f" {in_all}, as stated."
        return f"Possible {how}: {one.plan}{total} {one.why}"
    saving = format_money(one.saving, currency)
    return f"Expected to save {saving} of present value {how}: {one.plan} {one.why}"


def describe_budget(use: BudgetUse, currency: str) -> str:
    """What a plan leaves of a budget, or is over it.

    >>> use = BudgetUse(
    ...     kind="capital", fiscal_year=2027, budget=900_000, planned=720_000, headroom=180_000,
    ...     sentence="One server."
    ... )
    >>> describe_budget(use, "USD")
    'Capital budget of fiscal year 2027: 180,000 USD left of 900,000 USD. One server.'
    """
    side = "over" if use.headroom < 0 else "left of"
    amounts = f"{abs(use.headroom):,.0f} {currency} {side} {use.budget:,.0f} {currency}"
    return f"{budget_title(use.kind, use.fiscal_year)}: {amounts}. {use.sentence}".strip()
