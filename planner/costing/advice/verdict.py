"""The advice in words: what to do, what it saves, and why. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.relaxation import least_changes
from planner.contract.money import format_money
from planner.contract.purchase_options import COMMITTED, TRAITS, options_where
from planner.contract.reasons import join_reasons
from planner.contract.request.rules import SHORTEST_TERM
from planner.contract.shares import NOISE
from planner.costing.advice.limit_words import describe_relaxations
from planner.costing.advice.shares import ALL, NONE, shares_in_words
from planner.costing.advice.warnings import warn_beyond_horizon
from planner.costing.analysis.break_even import BreakEven
from planner.costing.inputs.missing_prices import describe_missing, find_missing
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import rank_feasible
from pricing.common.pluralize import pluralize
from pricing.market.coverage import PriceState
from pricing.market.offers import HOURS_PER_MONTH

SCENARIO_NAMES = {
    ScenarioKey.ON_DEMAND: "renting on demand",
    ScenarioKey.SPOT: "renting on spot",
    ScenarioKey.COMMITTED: "renting under commitments",
    ScenarioKey.CLOUD_MIX: "mixing commitments, on-demand and spot machines",
    ScenarioKey.ON_PREM: "owning servers",
    ScenarioKey.HYBRID: "combining owned and rented machines",
}
NEGLIGIBLE = Decimal("0.0001")
"""Share of the cost under which two scenarios count as the same: 0.01 %."""
HALF_CENT = 0.005
"""Gap, and difference in money, under which a plan is called the cheapest without more ado."""


def name_rival(other: Scenario, best: Scenario, inputs: ModelInputs) -> str:
    """The way to buy of another plan in words; beside a plan that buys or leases servers too,
    owning is said with its number of servers."""
    owned = {source.key for source in inputs.sources if source.is_owned}
    if other.key is not ScenarioKey.ON_PREM or not owned & best.units_started.keys():
        return SCENARIO_NAMES[other.key]
    count = sum(int(n.sum()) for key, n in other.units_started.items() if key in owned)
    is_beside = any(key not in owned for key in other.used_hours)
    rest = " and renting the rest on demand" if is_beside else ""
    return f"owning {pluralize(count, 'new server')}{rest}"


@dataclass(frozen=True)
class Recommendation:
    """The cheapest scenario by net present cost, and what it rests on."""

    scenario: ScenarioKey | None
    saving: Decimal
    """Net present cost that it saves against `next_best`."""
    next_best: ScenarioKey | None
    """The cheapest scenario with another plan."""
    because: tuple[str, ...]


def choose(scenarios: Mapping[ScenarioKey, Scenario]) -> Scenario | None:
    """The feasible scenario of least net present cost; of those that cost the same the one that
    uses the fewest ways of buying."""
    return min(_as_cheap(scenarios), key=_width, default=None)


def choose_widest(scenarios: Mapping[ScenarioKey, Scenario]) -> Scenario | None:
    """The same; of those that cost the same the one that may use the most ways of buying."""
    return max(_as_cheap(scenarios), key=_width, default=None)


def _width(scenario: Scenario) -> int:
    return list(ScenarioKey).index(scenario.key)


def _as_cheap(scenarios: Mapping[ScenarioKey, Scenario]) -> list[Scenario]:
    """The feasible scenarios that cost the same as the cheapest."""
    ranked = rank_feasible(scenarios)
    edge = _edge(ranked) if ranked else Decimal(0)
    return [s for s in ranked if s.net_present_cost <= edge]


def _edge(ranked: Sequence[Scenario]) -> Decimal:
    """Net present cost up to which a scenario costs the same as the cheapest."""
    return ranked[0].net_present_cost + abs(ranked[0].net_present_cost) * NEGLIGIBLE


def recommend(
    scenarios: Mapping[ScenarioKey, Scenario],
    inputs: ModelInputs,
    break_even: Sequence[BreakEven],
    currency: str,
    barred: Sequence[Scenario] = (),
    *,
    is_laid_anew: bool = False,
) -> Recommendation:
    """The scenario that `choose` finds, and the sentences for it; `barred` are the scenarios that
    may not be advised. `is_laid_anew`: the work could be laid over other months."""
    ranked, best = rank_feasible(scenarios), choose(scenarios)
    if best is None:
        sentences = ("No plan keeps to these limits.", *_describe_obstacles(scenarios))
        return Recommendation(None, Decimal("0.00"), None, sentences)
    edge = _edge(ranked)
    other = next((s for s in ranked if s.net_present_cost > edge), None)
    saving = other.net_present_cost - best.net_present_cost if other else Decimal("0.00")
    because = [*_describe_plan(best, inputs)]
    because += _describe_saving(best, ranked, other, inputs, currency)
    because += _describe_resale(best, inputs, currency)
    if other is None or other.key is not ScenarioKey.ON_DEMAND:
        because += _compare_with_on_demand(best, scenarios, currency)
    because += warn_beyond_horizon(best, inputs, currency)
    because += _describe_break_even(best, [*scenarios.values(), *barred], inputs, break_even)
    is_undercut = any(s.feasible and s.net_present_cost < best.net_present_cost for s in barred)
    because += describe_proof(
        best,
        currency,
        is_all_known=not describe_unknown_prices(best, inputs),
        is_undercut=is_undercut,
        is_laid_anew=is_laid_anew,
    )
    return Recommendation(best.key, saving, other.key if other else None, tuple(because))


def _describe_plan(best: Scenario, inputs: ModelInputs) -> Iterator[str]:
    """What to start and to rent, what there is, and what share of the hours each serves."""
    shares = shares_in_words(best, inputs)
    for key, units_started in best.units_started.items():
        source = inputs.by_key[key]
        verb = "Lease" if source.is_leased else "Buy" if source.is_owned else "Commit to"
        start_months = [
            f"{int(units_started[m])} in {inputs.calendar.month(m):%Y-%m}"
            for m in np.flatnonzero(units_started).tolist()
        ]
        many = "" if len(start_months) <= 6 else f" and {len(start_months) - 6} more times"
        share = shares.get(key, NONE)
        subject = "It serves" if units_started.sum() == 1 else "They serve"
        served = "" if share == ALL else f" {subject} {share}."
        yield f"{verb} {source.label}: {', '.join(start_months[:6])}{many}.{served}"
    rented = [inputs.by_key[key] for key in best.used_hours if inputs.by_key[key].term is None]
    for source in rented:
        comma = "," if "," in source.label else ""  # … in us-east-1, on demand, for …
        yield f"Rent {source.label}{comma} for {shares[source.key]}."
    for source in inputs.sources:
        if source.existing is not None and source.existing.any():
            verb = "serves" if source.existing.max() == 1 else "serve"
            share = shares.get(source.key, NONE)
            comma = "," if "," in source.label else ""  # DGX H100, already owned, serves …
            yield f"{source.existing.max()} × {source.label}{comma} {verb} {share}."


def _describe_saving(
    best: Scenario,
    ranked: Sequence[Scenario],
    other: Scenario | None,
    inputs: ModelInputs,
    currency: str,
) -> Iterator[str]:
    value = f"Present value {format_money(best.net_present_cost, currency)}"
    if other is None:
        yield f"{value}; {_why_no_next_best(best, ranked)}."
        return
    saving = other.net_present_cost - best.net_present_cost
    share = _format_percent(saving, other) if other.key is ScenarioKey.ON_DEMAND else ""
    yield (
        f"{value}, {format_money(saving, currency)}{share} less than "
        f"{name_rival(other, best, inputs)}, the next best."
    )


def _why_no_next_best(best: Scenario, ranked: Sequence[Scenario]) -> str:
    """Why there is no next best."""
    if len(ranked) == 1:
        return "no other scenario has a plan"
    if all(scenario.lines == best.lines for scenario in ranked):
        return "no other scenario gives a different plan"
    return "every other plan costs the same"


def _describe_resale(best: Scenario, inputs: ModelInputs, currency: str) -> Iterator[str]:
    """Income that is easily overlooked: what servers already owned fetch, what makes a total
    negative."""
    residual_lines = [line for line in best.lines if line.category is Category.RESIDUAL]
    is_owned = any(inputs.by_key[line.source].existing is not None for line in residual_lines)
    if not residual_lines or (best.total_cost >= 0 and not is_owned):
        return
    income = -sum((line.amount for line in residual_lines), Decimal("0.00"))
    tax = inputs.calendar.tax_rate
    before = ", before tax," if tax else ""
    total_without_resale = best.total_cost + income * (1 - Decimal(str(tax)))
    why = (
        "; without it the total would not be negative"
        if best.total_cost < 0 <= total_without_resale
        else ""
    )
    yield (
        f"The total of {format_money(best.total_cost, currency)} counts "
        f"{format_money(income, currency)} of resale value{before} at the end as "
        f"income{why}."
    )


def _compare_with_on_demand(
    best: Scenario, scenarios: Mapping[ScenarioKey, Scenario], currency: str
) -> Iterator[str]:
    rent = scenarios[ScenarioKey.ON_DEMAND]
    if rent.feasible and rent.net_present_cost > best.net_present_cost:
        saved = rent.net_present_cost - best.net_present_cost
        share = _format_percent(saved, rent)
        yield (
            f"That is {format_money(saved, currency)}{share} less than renting on demand alone, in "
            "present value."
        )


def _format_percent(saved: Decimal, of: Scenario) -> str:
    """The saving as a share, where the other plan costs anything at all."""
    return f" ({saved / of.net_present_cost:.0%})" if of.net_present_cost > 0 else ""


def _servers_of(plan: Scenario) -> set[str]:
    """Servers that a plan buys."""
    return {key.partition(":")[2] for key in plan.units_started if key.startswith("server:")}


def _describe_break_even(
    best: Scenario,
    plans: Iterable[Scenario],
    inputs: ModelInputs,
    break_even: Sequence[BreakEven],
) -> Iterator[str]:
    """When the server that matters pays back against renting on demand: one that the plan buys,
    else the first of those that owning would buy, then also against what the plan rents instead."""
    finite = [b for b in break_even if b.purchase_option == "on_demand" and b.hours is not None]
    bought_servers = _servers_of(best)
    own = (plan for plan in plans if plan.key is ScenarioKey.ON_PREM)
    servers = bought_servers or {server for plan in own for server in _servers_of(plan)}
    row = min(
        (b for b in finite if b.server in servers),
        key=lambda b: (b.hours or 0.0, b.server),
        default=None,
    )
    if row is None:
        return
    server = inputs.by_key[f"server:{row.server}"]
    name, over_life = server.label, _describe_life(row, server.hours_per_month / HOURS_PER_MONTH)
    after = (
        f"against renting on demand after {pluralize(round(row.hours or 0), 'hour')} of use "
        f"({row.months_at_full_use:,.1f} months without a break)"
    )
    if bought_servers:
        yield f"{name} pays for itself {after}{over_life}."
        return
    on_demand_rent = [
        b
        for b in break_even
        if b.server == row.server
        and b.purchase_option != "on_demand"
        and b.against in (*best.used_hours, *best.units_started)
    ]
    sentences = f"{after}{_against_plan_rentals(on_demand_rent)}{over_life}"
    yield f"If bought, {name} would pay for itself {sentences}."


def _describe_life(row: BreakEven, ceiling: float) -> str:
    """The use from which the server costs less with every cost in, which the hours leave out;
    never where that is more than the utilisation it can reach."""
    use = row.utilisation_over_life
    if use is None or use > 1:
        return "; with all costs included, it never costs less than on demand"
    if use > ceiling:
        return (
            "; with all costs included, it never costs less than on demand, as that would take "
            f"{use:.1%} use and {ceiling:.1%} is the most it can reach"
        )
    return (
        f"; with all costs over its life included, it costs less than on demand above {use:.0%} use"
    )


def _against_plan_rentals(rows: Sequence[BreakEven]) -> str:
    if not rows:
        return ""
    if any(row.hours is None for row in rows):
        return ", but never against what the plan rents"
    hours = max(row.hours or 0.0 for row in rows)
    return f", and against what the plan rents after {pluralize(round(hours), 'hour')}"


def _holds_a_term(inputs: ModelInputs) -> bool:
    """Whether a plan could take the shortest commitment that clouds sell."""
    return inputs.term_end != "within" or inputs.calendar.months >= SHORTEST_TERM


def describe_unknown_prices(best: Scenario | None, inputs: ModelInputs) -> tuple[str, ...]:
    """Commitments to what a plan rents that are sold at prices not known here, a sentence for each
    provider; without a plan everything sold at such prices."""
    if best is None:
        missing = find_missing(inputs.coverage, frozenset(TRAITS))
    else:
        sources = [inputs.by_key[key] for key in (*best.used_hours, *best.units_started)]
        kinds = {source.accelerator for source in sources if not source.is_owned}
        options = COMMITTED if _holds_a_term(inputs) else options_where(is_paid_ahead=True)
        missing = find_missing(inputs.coverage, options, kinds) if kinds else ()
    sold = [row for row in missing if row.state is PriceState.SOLD_PRICE_UNKNOWN]
    return tuple(describe_missing(sold))


def describe_proof(
    best: Scenario,
    currency: str,
    is_all_known: bool = True,
    is_undercut: bool = False,
    is_laid_anew: bool = False,
) -> Iterator[str]:
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
    yield f"{proven}: no {plan} from these offers and servers {by}{known}."


def _describe_obstacles(scenarios: Mapping[ScenarioKey, Scenario]) -> Iterator[str]:
    """What keeps the widest scenario from a plan: the least change of its limits, then what else
    there is to say."""
    widest = scenarios[ScenarioKey.HYBRID]
    if widest.relaxations:
        yield describe_relaxations(least_changes(scenarios))
    others = widest.why_not[len(widest.relaxations) :]
    if others:
        yield f"What stands in the way: {join_reasons(others)}."
