"""What would be cheaper if a limit that nobody asked for were lifted. PURE.

Each rule of the request that was left to its default is lifted alone and the best plan of all
sources is solved again. Where no plan keeps to the limits, each limit of the request is too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from math import inf
from typing import Any

import numpy as np

from planner.comparison_steps.liftable import (
    COUNT_ON_RESALE,
    PARTITIONS,
    TERM_END,
    Rail,
    list_limits,
    list_rails,
    list_room,
    list_spare_servers,
    why_off,
)
from planner.comparison_steps.preparation import Preparation
from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.scenario_results import ANALYSIS_SHARE, SCENARIO_SHARE
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import Alternative
from planner.contract.request.rules import LARGEST_NODE, SHORTEST_TERM
from planner.costing.advice.decision import list_parts
from planner.costing.advice.part_words import describe_choice, describe_parts
from planner.costing.advice.payback import why_not_bought
from planner.costing.assumptions.payback_margin import PAYBACK_MARGIN
from planner.costing.cost_model.by_date import least_by_date
from planner.costing.kept_charges import keep_charges
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.paying_purchases import buy_what_pays_back
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import is_allowed, solve_scenario
from planner.costing.sensible_plans import (
    MOST_KINDS,
    count_kinds,
    count_machines,
    limit_machines,
    next_larger_node,
)
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput
from pricing.common.pluralize import pluralize

MOST = 5
WORTH_NAMING = Decimal("0.02")
"""Share of the net present cost from which a saving is worth a change of rules; 2026."""
ROUNDED = 1.0
"""How far a plan's cost may be from the sum of its lines, which are rounded to the cent."""
_ANY_OFFERS: Mapping[str, Any] = {
    "interruptible": False,
    "one_accelerator": False,
    "needs_payback": False,
    "term_end": "full",
}
"""Rules that do not say which offers may matter, at some value."""
_OF_NO_OFFER = ("assumptions", "demand", "servers", "contracts")
"""What is worked out of a question whatever offers it may choose from."""
BY_SAVING_RULES = 6
"""Edition of the rules from which they are in the order of the saving that they state, 2026."""
TRIES, NEXT_BEST_RULES = 4, 6
"""Plans looked at with a rule lifted, and the edition of the rules from which more than one is,
2026."""
NOTHING_TO_COMPARE = (
    "No plan keeps to the limits as they stand, so there is nothing to save against."
)


def find_alternatives(
    results: ComparisonResults, of_budgets: Sequence[Alternative] = ()
) -> tuple[Alternative, ...]:
    """At most five, the largest saving first; none where it is not asked for. Where no plan keeps
    to the limits, those of which one alone stands in the way: the cheapest plan first.
    Those `of_budgets` are worked out already and go before the others.

    Each rule has its share of the work left: those that it is not enough for are left out.
    """
    if not results.request.cheaper_if:
        return ()
    advised = results.recommendation.scenario
    plan = None if advised is None else results.scenarios[advised]
    rails = tuple(_list_rails(results, is_possible=plan is not None))
    most_machines = find_most_machines(results, plan)
    work = results.parts["alternatives"] = results.work.share(ANALYSIS_SHARE)
    alternatives: list[Alternative] = []
    for i, rail in enumerate(rails):
        part = work.share(1 / (len(rails) - i))
        if part.is_spent:
            part.leave_out("what would be cheaper")
            break
        with suppress(WorkSpentError, InvalidInput):  # what is lifted may be refused elsewhere
            alternatives.extend(_try(rail, results, plan, most_machines, part))
    needed = sorted(_without_needless(alternatives), key=_rank)
    named = [*sorted(of_budgets, key=_rank), *needed][:MOST]
    if results.request.rules >= BY_SAVING_RULES:
        return tuple(sorted(named, key=_rank))
    return tuple(sorted(named, key=lambda one: _place(one, plan)))


def _list_rails(results: ComparisonResults, *, is_possible: bool) -> Iterator[Rail]:
    """What is lifted: the rules and the room for own servers; where there is no plan all limits
    of the request."""
    preparation = results.preparation
    yield from list_spare_servers(results)
    yield from (list_room if is_possible else list_limits)(results.request)
    offers, margin = preparation.catalog.offers, results.payback_margin
    sold = offers.accelerator.names if results.request.use_catalog else ()
    yield from list_rails(results.request, preparation.rules, margin, offers.provider.names, sold)


def _place(one: Alternative, plan: Scenario | None) -> tuple[bool, Decimal, str]:
    """The order before `BY_SAVING_RULES`: what saves most of the total first; last what costs less
    in today's money alone, the largest saving of it first."""
    if one.saving is None or plan is None or one.total < plan.total_cost:
        return False, one.total, one.field
    return True, -one.saving, one.field


def _rank(one: Alternative) -> tuple[Decimal, str]:
    """The largest saving first; without any the cheapest."""
    return (one.total if one.saving is None else -one.saving, one.field)


def _without_needless(alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Without counting on the resale where a narrower margin gives the same plan."""
    plans = [one.plan for one in alternatives if one.field == PAYBACK_MARGIN]
    return [one for one in alternatives if one.field != COUNT_ON_RESALE or one.plan not in plans]


def _try(
    rail: Rail,
    results: ComparisonResults,
    plan: Scenario | None,
    most_machines: float,
    work: WorkMeter,
) -> Iterator[Alternative]:
    """The plan with a rule lifted, if it saves anything worth naming, or there is no `plan`; where
    nobody would run it, the next best one without what is in the way."""
    least_saving = abs(plan.net_present_cost) * WORTH_NAMING if plan else Decimal(0)
    ceiling = float(plan.net_present_cost - least_saving) if plan else inf
    for _ in range(TRIES):
        best = _solve_lifted(rail, results, ceiling, work)
        if best is None:
            return
        lifted, other = best
        saving = plan.net_present_cost - other.net_present_cost if plan else None
        if saving is not None and saving <= least_saving:
            return
        has_many = count_machines(other, lifted.inputs) > most_machines
        has_kinds = count_kinds(other, lifted.inputs) > MOST_KINDS
        why = "" if has_many or has_kinds else why_off(rail, results, lifted, other, saving)
        if why:
            yield _name(rail, results, lifted, other, saving, why)
            return
        narrower = _keep_out(rail, lifted, other) if has_many or rail.field == TERM_END else None
        if narrower is None or results.request.rules < NEXT_BEST_RULES:
            return
        rail = narrower


def _keep_out(rail: Rail, lifted: ComparisonResults, other: Scenario) -> Rail | None:
    """The same rule lifted without machines as small as the many of a plan, or without contracts
    as long as those that leave too much to others; None where there is nothing to keep out."""
    if rail.field != TERM_END:
        least = next_larger_node(other, lifted.inputs)
        if least > LARGEST_NODE:
            return None
        words = f"machines of at least {least} accelerators"
        return rail.keep_out("constraints.min_accelerators_per_node", least, words)
    started = (lifted.inputs.by_key[key] for key in other.units_started)
    longest = max((s.term.duration_months for s in started if s.term and not s.is_owned), default=1)
    if longest <= SHORTEST_TERM:
        return None
    words = f"commitments of at most {pluralize(longest - 1, 'month')}"
    return rail.keep_out("constraints.max_term_months", longest - 1, words)


def _name(
    rail: Rail,
    results: ComparisonResults,
    lifted: ComparisonResults,
    other: Scenario,
    saving: Decimal | None,
    why: str,
) -> Alternative:
    """The plan with a rule lifted, as the answer names it."""
    parts = list_parts(
        other,
        lifted.inputs,
        results.preparation.name_place,
        results.request.currency,
        choice=describe_choice(lifted.request),
    )
    return Alternative(
        field=rail.field,
        value=rail.value,
        together_with=rail.beside,
        change=rail.shown,
        plan=f"{describe_parts(parts)}.",
        total=other.total_cost,
        saving=saving,
        why_no_saving="" if saving is not None else NOTHING_TO_COMPARE,
        why=why,
    )


def _solve_lifted(
    rail: Rail,
    results: ComparisonResults,
    ceiling: float,
    work: WorkMeter,
) -> tuple[ComparisonResults, Scenario] | None:
    """The best plan with a rule lifted, and its question; of runs done
    sooner than asked for the cheaper of that and of the plan that spreads them over their months,
    where who asks with the rule lifted would have them done sooner at all."""
    best: tuple[ComparisonResults, Scenario] | None = None
    bases = [*([results.sooner.preparation] if results.sooner else []), results.preparation]
    for base in bases:
        if best is not None and not pays_sooner(*best):
            break
        preparation = _prepare(base, rail)
        if ceiling < inf and rail.field == PARTITIONS and _has_same_offers(preparation, base):
            continue
        lifted = ComparisonResults(preparation, work)
        other = find_best_allowed(results, lifted, ceiling)
        if other is not None and (best is None or float(other.net_present_cost) < ceiling):
            best, ceiling = (lifted, other), float(other.net_present_cost)
    return best


def pays_sooner(results: ComparisonResults, plan: Scenario | None) -> bool:
    """Whether reserving by date could cost less than this plan for the runs as asked."""
    return least_reserved(results) < (float(plan.total_cost) if plan else inf)


def least_reserved(results: ComparisonResults, *, is_present: bool = False) -> float:
    """What the hours asked for cost at least if they are reserved by date, in these months or
    sooner, after tax and with all credits: in all, or net present."""
    inputs, calendar = results.inputs, results.inputs.calendar
    worth = np.full(calendar.months, 1.0 - calendar.tax_rate)
    credits = sum(pool.amount for pool in inputs.pools if pool.is_credit) * worth[0]
    if is_present:
        worth *= calendar.running_discount[: calendar.months]
    return least_by_date(inputs.sources, inputs.hours, worth) - float(credits)


def _has_same_offers(lifted: Preparation, preparation: Preparation) -> bool:
    """Whether no offer of the parts that were added matters: the plans are then the same."""
    lifted_keys, keys = ({one.key for one in each.rentals} for each in (lifted, preparation))
    return lifted_keys == keys


def find_most_machines(results: ComparisonResults, plan: Scenario | None) -> float:
    """Machines of the largest plan that is worth naming beside `plan`."""
    peak = float(results.demand.peak_accelerators.max())
    return limit_machines(plan, results.inputs, peak)


def find_best_allowed(
    results: ComparisonResults, lifted: ComparisonResults, ceiling: float
) -> Scenario | None:
    """The best plan of all sources; of those that buy nothing if its servers do not pay back. None
    where there is none, or where it is known to cost at least `ceiling`."""
    lifted.charge_preparation()
    work = lifted.work.share(SCENARIO_SHARE, stops=False)
    is_same = lifted.inputs is results.inputs

    def solve(key: ScenarioKey, ceiling: float = inf) -> Scenario:
        if is_same:
            return results.solved_scenarios[key]
        return solve_scenario(lifted.inputs, key, work, ceiling)

    plans = [solve(key, ceiling + ROUNDED) for key in _ways_to_try(lifted)]
    best = min(plans, key=lambda plan: (not plan.feasible, plan.net_present_cost))
    rules = lifted.preparation.rules
    if rules.needs_payback and best.feasible and best.buys:
        renting = solve(ScenarioKey.CLOUD_MIX)
        terms = lifted.payback_margin, rules
        if why_not_bought(best, renting, *terms):
            best = buy_what_pays_back(lifted.inputs, renting, *terms, work, ceiling) or renting
    return best if best.feasible else None


def _ways_to_try(lifted: ComparisonResults) -> list[ScenarioKey]:
    """The way that takes in all others; each that the work agrees with where some costs are those
    of a few ways."""
    if not any(cost.scenarios for cost in lifted.request.other_costs):
        return [ScenarioKey.HYBRID]
    consent = lifted.inputs.interruptible
    return [key for key in ScenarioKey if is_allowed(key, consent)]


def _prepare(preparation: Preparation, rail: Rail) -> Preparation:
    """The same question with a rule lifted; what the rule does not touch is not worked out anew."""
    lifted = replace(preparation, request=rail.lift(preparation.request))
    if rail.is_stated or rail.beside:
        return lifted
    known: Mapping[str, Any] = vars(preparation)
    # Coverage is for warnings, which an alternative does not show.
    names = ["units_per_usd", "laid_out", "custom", "coverage"]
    if rail.field == PARTITIONS:
        names += _OF_NO_OFFER
    if rail.field != TERM_END:  # which loans and leases follow
        names += ["calendar", "all_servers"]
    if replace(lifted.rules, **_ANY_OFFERS) == replace(preparation.rules, **_ANY_OFFERS):
        names.append("rentals")
    if rail.field in (PAYBACK_MARGIN, COUNT_ON_RESALE):  # which judge plans, and make none
        names.append("inputs")
    share_known(names, known, lifted)
    if "inputs" not in vars(lifted):
        vars(lifted)["inputs"] = keep_charges(lifted.inputs, preparation.inputs)
    return lifted


def share_known(names: Iterable[str], known: Mapping[str, Any], lifted: Preparation) -> None:
    """What is worked out already, for the lifted question as well."""
    vars(lifted).update({name: known[name] for name in names if name in known})
