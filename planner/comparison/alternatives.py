"""What would be cheaper if a limit were relaxed: those the request states, those it leaves alone.

PURE. Each rule that was left to its default is lifted alone and the best plan of all sources is
solved again; where no plan keeps to the limits, each limit of the request is lifted too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np

from planner.comparison.preparation import Preparation
from planner.comparison.results import (
    ANALYSIS_SHARE,
    SCENARIO_SHARE,
    ComparisonResults,
    hours_by_kind,
)
from planner.contract.accelerator_names import ARM_HOSTS, find_software
from planner.contract.amounts import format_money
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.verdict import Alternative
from planner.contract.copies import replace
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import ANY, LARGEST_NODE, PLACES, PlanRules, read_place_limits
from planner.contract.validation import with_value
from planner.costing.advice.decision import describe_parts, leave_unnamed, list_parts
from planner.costing.choice import FEW_SOLVES, clears_hurdle, judge
from planner.costing.cost_model.rental import least_by_date
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import solve_scenario
from planner.sizing.candidates.other_chips import porting_usd
from planner.sizing.footprint.memory import fast_domain
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows
from pricing.market.accelerators import get
from pricing.market.clouds import CLOUD_PARTITIONS, OTHER_CLOUDS, find_partition

MOST_ALTERNATIVES = 5
FEW_MACHINES, MOST_TIMES_THE_MACHINES = 8, 4
"""Machines that nobody minds, and how many times those of the advised plan somebody would run to
save money: work that fits one machine of eight is not spread over dozens of small ones. An
assumption of this project, 2026."""
MOST_KINDS = 2
"""Kinds of accelerator that somebody would tune one piece of work for. An assumption of this
project, 2026."""
WORTH_NAMING = Decimal("0.02")
"""Share of the net present cost from which a saving is worth a change of rules; 2026."""
OTHER_CARD_WORTH_NAMING = Decimal("0.1")
"""The same from which it is worth another accelerator than the one that is named; 2026."""
HALF_OF_COST = Decimal("0.5")
"""Share of the expected cost at which another accelerator belongs to the reasons; 2026."""
SAME_MEMORY, HALF_MEMORY = 0.95, 0.5
"""Share of an accelerator's memory from which another holds as much, and half as much; 2026."""
ROUNDED = 1.0
"""How far a plan's cost may be from the sum of its lines, which are rounded to the cent."""
NOTHING_TO_COMPARE = (
    "No plan keeps to the limits as they stand, so there is nothing to save against."
)
PARTITIONS = "constraints.partitions"
OTHER_CARDS = ("constraints.accelerators", "workload.accelerator")
TERM_END = "term_end"
NODE = "constraints.min_accelerators_per_node"
MIXED = "constraints.allow_mixed_accelerators"
SOFTWARE = "workload.software"
SELLING = "on_prem.already_owned"
_STATED = "The request sets this limit."


@dataclass(frozen=True)
class RelaxableLimit:
    """A rule in force that nobody asked for, or a limit that the request states, and how a request
    lifts it."""

    field: str
    value: Any
    shown: str
    """The value in words."""
    why: str = _STATED
    """Why it is off unless asked for."""
    is_stated: bool = False
    """Whether it is a limit that the request states."""

    least_node: int = 0
    """Accelerators of a machine at least, where a plan of many small ones would be cheaper."""
    keeps_to_one: bool = False
    """Whether the work then keeps to one kind of accelerator."""
    is_last_resort: bool = False
    """Whether nothing else makes a plan possible, so that its plan is named whatever it takes."""

    @property
    def together_with(self) -> dict[str, bool | int]:
        """What is set beside it."""
        one_kind: dict[str, bool | int] = {MIXED: False} if self.keeps_to_one else {}
        return one_kind | ({NODE: self.least_node} if self.least_node else {})

    def lift(self, request: ComparisonRequest) -> ComparisonRequest:
        """The request with this rule or limit alone lifted, and what is set beside it."""
        for field, value in {self.field: self.value, **self.together_with}.items():
            request = with_value(request, field, value)
        return request


LIMITS = {
    row["code"]: RelaxableLimit(
        field=row["field"],
        value=() if row["value"] == "[]" else json.loads(row["value"]),
        shown=row["shown"],
        why=row["why"] or _STATED,
        is_stated=bool(row["is_stated"]),
    )
    for row in read_rows(Path(__file__).with_suffix(".csv"))
}
"""Rules left to their default and limits of a request, by code; those of `constraints` by field."""
_CONSTRAINTS = [code for code, one in LIMITS.items() if one.field == f"constraints.{code}"]
_ROOM = ("power_kw", "rack_units")
_IS_STATED: Mapping[str, Callable[[ComparisonRequest], bool]] = {
    "servers": lambda request: request.on_prem.servers == (),
    "catalog": lambda request: not request.use_catalog,
    "term_end": lambda request: request.term_end == "within",
    "consent": lambda request: request.workload.interruptible is False,
    "software": lambda request: request.workload.software is not None,
}
"""Limits beside those of `constraints`, and whether a request states them."""
_IS_IN_FORCE: Mapping[str, Callable[[ComparisonRequest, PlanRules], bool]] = {
    "interruptible": lambda request, rules: (
        not rules.interruptible
        and request.workload.interruptible is None
        and request.workload.kind != "serving"
    ),
    "any_software": lambda request, rules: (
        rules.software != ANY and request.workload.software is None
    ),
    "partial_nodes": lambda request, rules: (
        rules.whole_nodes and request.constraints.allow_partial_nodes is None
    ),
    "mixed_accelerators": lambda request, rules: rules.one_accelerator,
    "mixed_machines": lambda request, rules: rules.one_machine,
    "in_place": lambda request, rules: bool(request.on_prem.already_owned),
    "single_jobs": lambda request, rules: (
        request.workload.accelerators_per_job is None and rules.accelerators_per_job > 1
    ),
}
"""Rules that a request leaves to their default, and where they may cost something."""


def list_rules(results: ComparisonResults) -> Iterator[RelaxableLimit]:
    """Rules in force that the request leaves to their default and that may cost something."""
    request, rules = results.request, results.preparation.rules
    yield from (LIMITS[code] for code, is_so in _IS_IN_FORCE.items() if is_so(request, rules))
    yield from _other_cards(results)
    if request.constraints.partitions is None:
        yield from _partitions_left_out(results)


def _other_cards(results: ComparisonResults) -> Iterator[RelaxableLimit]:
    request, rules = results.request, results.preparation.rules
    name = request.workload.accelerator
    if name is None or request.constraints.accelerators is not None or not request.use_catalog:
        return
    if results.demand.is_sized:
        yield RelaxableLimit(
            "workload.accelerator",
            None,
            "any accelerator that can do the work",
            f"The request names {name}: the hours of the others are estimated in the same way.",
            is_stated=True,
        )
        return
    offers, named = results.preparation.catalog.offers, get(results.demand.accelerator)
    cards = [get(slug) for slug in offers.accelerator.names if slug != named.slug]
    links = min(fast_domain(named), rules.accelerators_per_job)
    unlike = frozenset() if named.slug in ARM_HOSTS else ARM_HOSTS
    cards = [
        c
        for c in cards
        if find_software(c.slug) == rules.software
        and fast_domain(c) >= links
        and c.slug not in unlike
    ]
    why = (
        f"Hours of {named.name} are converted by measured training rates, which work of another "
        "kind may not reach: run a job on it first."
    )
    is_free = not rules.one_machine and all(s.existing is None for s in results.inputs.sources)
    for share, shown in ((SAME_MEMORY, "as much"), (HALF_MEMORY, "half as much")):
        alike = sorted(c.slug for c in cards if c.memory_gib >= share * named.memory_gib)
        if alike:
            shown = f"any accelerator with {shown} memory"
            value = (named.slug, *alike)
            yield RelaxableLimit(
                "constraints.accelerators", value, shown, why, True, keeps_to_one=is_free
            )
        smallest = _smallest_machine(results)
        if smallest <= results.demand.peak_accelerators.max():
            return
        rented = f"{named.name} is rented only in machines of {smallest:g} or more."
        if smallest == inf:
            rented = f"No price of renting {named.name} is known where it may be rented."
        why = f"{rented} {why} See that the work fits in half of its {named.memory_gib:g} GiB."


def _smallest_machine(results: ComparisonResults) -> float:
    """Accelerators of the smallest machine of the one that is named, in the parts of clouds that
    the rules allow; infinite where none is sold."""
    offers = results.preparation.catalog.offers
    rows = offers.select(accelerators={get(results.demand.accelerator).slug})
    is_allowed = np.isin(offers.partitions, list(results.preparation.rules.partitions))
    sizes = offers.accelerator_count[rows[is_allowed[offers.place_codes[rows]]]]
    return float(sizes.min(initial=inf))


def describe_idle(results: ComparisonResults) -> str:
    """That the accelerator that is named is sold only in machines larger than the work, and how
    many of one stay idle; empty where all are at work."""
    key, named = results.recommendation.scenario, results.request.workload.accelerator
    if key is None or results.demand.is_sized or named is None:
        return ""
    plan, inputs, one = results.scenarios[key], results.inputs, get(results.demand.accelerator)
    used = [inputs.by_key[name] for name in {*plan.used_hours, *plan.units_started}]
    size, busy = _smallest_machine(results), ceil(results.demand.peak_accelerators.max())
    is_rented = all(
        not source.is_owned
        and source.existing is None
        and (source.accelerator, source.accelerators) == (one.slug, size)
        for source in used
    )
    if not (is_rented and busy < size < inf):
        return ""
    return f"{one.name} is sold only in machines of {size:g}: {size - busy:g} of {size:g} idle."


def describe_instead(
    alternatives: Iterable[Alternative], expected: Decimal | None, currency: str
) -> Iterator[str]:
    """The cheapest plan on other accelerators or in other clouds, where it is at most half of what
    the plan is `expected` to cost."""
    for one in alternatives:
        is_half = expected is not None and one.total <= expected * HALF_OF_COST
        if is_half and one.field in {*OTHER_CARDS, PARTITIONS}:
            cost = format_money(one.total, currency)
            yield f"With {one.change}, {one.plan[0].lower()}{one.plan[1:-1]}: {cost}."
            return


def _partitions_left_out(results: ComparisonResults) -> Iterator[RelaxableLimit]:
    partitions = results.preparation.rules.partitions
    if not set(CLOUD_PARTITIONS) <= set(partitions):
        yield RelaxableLimit(
            PARTITIONS,
            CLOUD_PARTITIONS,
            "regions in China and of the US government as well",
            "Regions in China or of the US government need separate accounts and contracts.",
        )
    known = {find_partition(name, "") for name in results.preparation.catalog.offers.provider.names}
    if OTHER_CLOUDS in known - set(partitions):
        yield RelaxableLimit(
            PARTITIONS,
            (*partitions, OTHER_CLOUDS),
            "other clouds as well",
            "Smaller clouds need separate contracts and often offer nothing but machines.",
        )


def _list_constraints(request: ComparisonRequest, names: Iterable[str]) -> Iterator[RelaxableLimit]:
    for name in names:
        if getattr(request.constraints, name) not in (None, ()):
            limit = LIMITS[name]
            if name in PLACES:
                others = read_place_limits(limit.lift(request).constraints)
                kept_to = " and ".join(other.words for other in others)
                shown = f"{limit.shown} within {kept_to}" if kept_to else limit.shown
                limit = replace(limit, shown=shown)
            yield limit


def find_alternatives(
    results: ComparisonResults, known: Sequence[Alternative] = ()
) -> tuple[Alternative, ...]:
    """At most five, the largest saving first; none where it is not asked for. Where no plan keeps
    to the limits, those of which one alone stands in the way: the cheapest plan first.
    Those `known` already, of budgets and of selling, go before the others.

    Each limit has its share of the work left: those that it is not enough for are left out.
    """
    request = results.request
    if not request.cheaper_if:
        return ()
    plan = results.advised
    limits: list[RelaxableLimit] = []
    if plan is not None:
        limits += _list_constraints(request, _ROOM)
    else:
        stated = _list_constraints(request, _CONSTRAINTS)
        limits += [replace(limit, why=_STATED) for limit in stated]
        limits += [LIMITS[code] for code, is_stated in _IS_STATED.items() if is_stated(request)]
    limits += [one for one in list_rules(results) if plan is None or one.field != SELLING]
    work = results.parts["alternatives"] = results.work.share(ANALYSIS_SHARE)
    alternatives: list[Alternative] = []
    last = [] if plan is not None else [replace(one, is_last_resort=True) for one in limits]
    for i, limit in enumerate([*limits, *last]):
        if limit.is_last_resort and (alternatives or known):
            break
        part = work.share(1 / (len(limits) - i % len(limits)))
        if part.is_spent:
            part.leave_out("what would be cheaper")
            break
        with suppress(WorkSpentError, InvalidInput):  # what is lifted may be refused elsewhere
            alternatives.extend(try_without(limit, results, plan, part))
    every = [*sorted(known, key=_rank), *sorted(alternatives, key=_rank)]
    each = {(one.field, one.plan, one.total): one for one in reversed(every)}  # the first of them
    named = sorted(each.values(), key=every.index)[:MOST_ALTERNATIVES]
    return tuple(sorted(named, key=_rank))


def _rank(alternative: Alternative) -> tuple[Decimal, str]:
    saving = alternative.saving
    return (alternative.total if saving is None else -saving, alternative.field)


def least_saving(plan: Scenario | None, field: str) -> Decimal:
    """What lifting a limit saves at least to be worth naming."""
    worth = OTHER_CARD_WORTH_NAMING if field in OTHER_CARDS else WORTH_NAMING
    return abs(plan.net_present_cost) * worth if plan else Decimal(0)


def try_without(
    limit: RelaxableLimit,
    results: ComparisonResults,
    plan: Scenario | None,
    work: WorkMeter,
    sold: tuple[Decimal, Decimal] | None = None,
) -> Iterator[Alternative]:
    """The plan without a limit, where it saves enough. Where servers are `sold` for it, whatever it
    saves: the present value that is fetched so, and the amount."""
    least = least_saving(plan, limit.field)
    ceiling = float(plan.net_present_cost - least) if plan and sold is None else inf
    gained, fetched = sold or (Decimal(0), Decimal(0))
    best = _solve_lifted(limit, results, ceiling, work)
    if best is None:
        return
    lifted, other = best
    has_many = count_machines(other, lifted.inputs) > find_most_machines(results, plan)
    if has_many and not limit.is_last_resort:  # on machines larger than those of which it has most
        parts = list_parts(other, lifted.inputs, leave_unnamed, "")
        most = max(parts, key=lambda part: part.units or 0.0)
        node = int(lifted.inputs.by_key[most.source].accelerators) + 1
        if node <= LARGEST_NODE:
            yield from try_without(replace(limit, least_node=node), results, plan, work, sold)
        return
    if has_many_kinds(other, lifted.inputs) and not limit.is_last_resort:
        tried = (tuple(try_without(one, results, plan, work)) for one in _narrow(limit, *best))
        yield from next(filter(None, tried), ())
        return
    kinds = hours_by_kind(other, lifted.inputs).keys()
    others = (s.key for s in lifted.inputs.sources if s.capacity and s.accelerator not in kinds)
    choice, _ = judge(
        lifted.inputs,
        [other],
        lifted.terms,
        results.few_outcomes,
        work,
        most_solves=FEW_SOLVES,
        excluded=frozenset(others) if limit.keeps_to_one else frozenset(),
    )
    if results.choice is not None and not choice.is_as_certain_as(results.choice):
        return
    other = choice.plan
    is_of_offers = limit.field in (PARTITIONS, SOFTWARE)
    if is_of_offers and results.inputs.by_key.keys() >= {*other.used_hours, *other.units_started}:
        return  # of what may be had already
    expected = float(choice.expected[choice.index])
    saving = results.saving_of(other, lifted.inputs, expected, work) + gained if plan else None
    if saving is not None and saving <= least and sold is None:
        return
    why = _why_off(limit, results, lifted, other, saving)
    if why:
        parts = list_parts(
            other, lifted.inputs, results.preparation.name_place, results.request.currency
        )
        yield Alternative(
            field=limit.field,
            value=limit.value,
            together_with=limit.together_with,
            change=limit.shown
            + (
                f", with machines of at least {limit.least_node} accelerators"
                * bool(limit.least_node)
            ),
            plan=f"{describe_parts(parts)}.",
            total=other.total_cost - fetched,
            saving=saving,
            why_no_saving="" if saving is not None else NOTHING_TO_COMPARE,
            why=why,
        )


def _why_off(
    limit: RelaxableLimit,
    results: ComparisonResults,
    lifted: ComparisonResults,
    other: Scenario,
    saving: Decimal | None,
) -> str:
    """Why a rule is off unless asked for, with what its saving leaves out; "" where nobody would
    choose the plan: it saves no more than porting to it costs."""
    currency = results.request.currency
    if limit.field == SOFTWARE:
        sources = (lifted.inputs.by_key[key] for key in (*other.used_hours, *other.units_started))
        stacks = {find_software(source.accelerator) for source in sources}
        usd = porting_usd(stacks - {results.preparation.rules.software})
        porting = Decimal(str(usd * results.preparation.units_per_usd))
        if saving is not None and saving <= porting:
            return ""
        left_out = "" if saving is None else ", which the saving does not count"
        cost = f"Porting costs some {format_money(porting, currency)}{left_out} (planning value)."
        return f"{limit.why} {cost}" if porting else limit.why
    return limit.why


def _solve_lifted(
    limit: RelaxableLimit, results: ComparisonResults, ceiling: float, work: WorkMeter
) -> tuple[ComparisonResults, Scenario] | None:
    """The cheapest plan at stated values with a limit lifted, and its question; of runs finished
    early the cheaper of that and of the plan that spreads them over their months, where who asks
    with the limit lifted would have them finished early at all."""
    best: tuple[ComparisonResults, Scenario] | None = None
    early = results.early_finish
    for base in [*([early.preparation] if early else []), results.preparation]:
        if best is not None and not may_pay_to_reserve(*best):
            break
        preparation = relax(base, limit)
        is_of_offers = ceiling < inf and limit.field in (PARTITIONS, SOFTWARE)
        if is_of_offers and offered_in(preparation) == offered_in(base):
            continue
        lifted = ComparisonResults(preparation, work)
        other = find_best_allowed(results, lifted, ceiling)
        if other is None or (best is not None and float(other.net_present_cost) >= ceiling):
            continue
        ceiling = float(other.net_present_cost)
        best = lifted, other
    return best


def offered_in(preparation: Preparation) -> set[str]:
    """Offers and servers of a question that may be in its cheapest plan."""
    to_buy = (one.label for one in preparation.servers.to_buy)
    return {*(one.key for one in preparation.rentals), *to_buy}


_ANY_OFFERS: Mapping[str, Any] = {
    "interruptible": False,
    "one_accelerator": False,
    "one_machine": False,
    "term_end": "full",
}
"""Rules that do not say which offers may matter, at some value."""


def relax(preparation: Preparation, limit: RelaxableLimit) -> Preparation:
    """The same question with a limit lifted; what it does not touch is not worked out anew."""
    lifted = replace(preparation, request=limit.lift(preparation.request))
    if limit.is_stated or limit.least_node:
        return lifted
    # Coverage is for warnings, which an alternative does not show.
    names = ["units_per_usd", "laid_out", "custom", "coverage", "windows"]
    if limit.field == PARTITIONS:
        names += ["assumptions", "demand", "servers", "contracts"]
    if limit.field != TERM_END:  # which loans and leases follow
        names += ["calendar", "all_servers"]
    if replace(lifted.rules, **_ANY_OFFERS) == replace(preparation.rules, **_ANY_OFFERS):
        names.append("rentals")
    share_known(names, preparation, lifted)
    return lifted


def share_known(names: Iterable[str], known: Preparation, other: Preparation) -> None:
    """What is worked out already of a question, for another one as well."""
    values = vars(known)
    vars(other).update({name: values[name] for name in names if name in values})


def find_best_allowed(
    results: ComparisonResults, lifted: ComparisonResults, ceiling: float
) -> Scenario | None:
    """The best plan of all sources at stated values; of those that buy nothing if its servers do
    not clear the hurdle. None where there is none, or where it is known to cost at least
    `ceiling`."""
    lifted.charge_preparation()
    work = lifted.work.share(SCENARIO_SHARE, stops=False)
    is_same = lifted.inputs is results.inputs

    def solve(key: ScenarioKey, ceiling: float = inf) -> Scenario:
        if is_same:
            return results.solved_scenarios[key]
        return solve_scenario(lifted.inputs, key, work, ceiling)

    ways = [ScenarioKey.HYBRID]  # which takes in all others, unless some costs are those of a few
    if any(cost.scenarios for cost in lifted.request.other_costs):
        ways = list(ScenarioKey)
    plans = [solve(key, ceiling + ROUNDED) for key in ways]
    best = min(plans, key=lambda plan: (not plan.feasible, plan.net_present_cost))
    if best.feasible and best.buys:
        renting = solve(ScenarioKey.CLOUD)
        best = best if clears_hurdle(best, renting, lifted.terms) else renting
    return best if best.feasible else None


def find_most_machines(results: ComparisonResults, plan: Scenario | None) -> float:
    """Machines of the largest plan that is worth naming beside `plan`; where there is none, beside
    the machines of eight that the peak fills."""
    peak = float(results.demand.peak_accelerators.max())
    machines = ceil(peak / LARGEST_NODE) if plan is None else count_machines(plan, results.inputs)
    return max(float(FEW_MACHINES), MOST_TIMES_THE_MACHINES * machines)


def count_machines(plan: Scenario, inputs: ModelInputs) -> float:
    """Machines of a plan, of each part as many as it has at once: contracts that follow one another
    are for the same machines."""
    count = 0.0
    for part in list_parts(plan, inputs, leave_unnamed, ""):
        source, started = inputs.by_key[part.source], plan.units_started.get(part.source)
        units = part.units or 0.0
        if source.term is not None and started is not None:
            in_service = source.units_in_service(started.astype(np.float64))
            units = min(units, float(in_service.max()))
        count += units
    return count


def has_many_kinds(plan: Scenario, inputs: ModelInputs) -> bool:
    """Whether a plan runs on more kinds of accelerator than somebody would tune the work for; one
    beside those in place is not too many."""
    kinds = hours_by_kind(plan, inputs).keys()
    return len(kinds) > MOST_KINDS and len(kinds - _kinds_in_place(inputs)) > 1


def _kinds_in_place(inputs: ModelInputs) -> set[str]:
    return {s.accelerator for s in inputs.sources if s.existing is not None and s.capacity}


def _narrow(
    limit: RelaxableLimit, lifted: ComparisonResults, other: Scenario
) -> Iterator[RelaxableLimit]:
    """A lifted choice of accelerators with one kind alone beside what is named and in place, that
    of most work first."""
    named, hours = lifted.demand.accelerator, hours_by_kind(other, lifted.inputs)
    base = (named, *sorted(_kinds_in_place(lifted.inputs) - {named}))
    if limit.field == OTHER_CARDS[0] and len(base) + 1 < len(limit.value or hours):
        for kind in sorted(hours.keys() - {*base}, key=lambda kind: (-hours[kind], kind)):
            yield replace(limit, value=(*base, kind), shown=f"{get(kind).name} as well")


def may_pay_to_reserve(results: ComparisonResults, plan: Scenario | None) -> bool:
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
