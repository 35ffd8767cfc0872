"""What a request may lift: rules that nobody asked for, and limits that it states itself. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from typing import Any

from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.verdict import FieldChange
from planner.contract.field_paths import with_value
from planner.contract.money import format_money
from planner.contract.place_limits import PLACES, read_place_limits
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import ANY, LARGEST_NODE, PlanRules
from planner.contract.request.workload import AcceleratorHours
from planner.costing.advice.owed_after import left_to_others
from planner.costing.advice.unfilled_machines import JOB_FIELD, filling_size
from planner.costing.assumptions.payback_margin import PAYBACK_MARGIN
from planner.costing.results.scenario_result import Scenario
from planner.sizing.candidates.other_chips import porting_usd
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import find, find_software, other_meanings
from pricing.market.places import CLOUD_PARTITIONS, OTHER_CLOUDS, find_partition

COUNT_ON_RESALE = "on_prem.count_on_resale"
PARTITIONS = "constraints.partitions"
TERM_END = "term_end"
SOFTWARE = "workload.software"
INTERRUPTIBLE = "workload.interruptible"
IN_PLACE = "on_prem.already_owned"
IN_PLACE_RULES = 6
"""Edition of the rules from which work without the servers in place is looked at, 2026."""
OF_ONE_NAME, OF_ONE_NAME_RULES = "constraints.accelerators", 6
"""Edition of the rules from which the other accelerators of a shared name are looked at, 2026."""
ROOM, ROOM_RULES = ("power_kw", "rack_units", "sites"), 6
"""Limits on the room for own servers, and the edition of the rules from which an answer with a plan
says what they cost, 2026."""
OF_THE_WORK_RULES = 6
"""Edition of the rules from which what the work is said to be may be in the way of a plan, 2026."""
LEFT_OUT_RULES = 6
"""Edition of the rules from which plans that do not pay for their porting, or that leave most of
their contracts to somebody else, are not named, 2026."""
_STATED = "The request sets this limit."
_ON = ", with "
_ROOM_STATED = (
    "The request sets this limit: weigh the saving against what more power or space would cost, "
    "which is not counted beyond the rate for colocation."
)
_IN_PLACE_STATED = (
    "Servers you already own cost money to run whatever is decided: this saves only if they can be "
    "switched off and their space, support and people then cost nothing."
)
_ROUNDING = 1e-6
"""Servers above a whole number that are its rounding, 2026."""
_LIMITS: Mapping[str, str] = {
    "providers": "any provider",
    "regions": "any region",
    "geographies": "any place",
    "countries": "any country",
    "partitions": "every part of the clouds that the rules allow",
    "accelerators": "any accelerator that can do the work",
    "purchase_options": "any way of paying",
    "min_accelerator_memory_gib": "accelerators with any amount of memory",
    "min_accelerators_per_node": "machines of any size",
    "interconnect": "any interconnect",
    "max_spot_share": "any share of spot",
    "quotas": "quotas as large as needed",
    "max_term_months": "commitments of any length",
    "max_provider_share": "any share for one provider",
    "min_providers": "a single provider",
    "power_kw": "any amount of power for own servers",
    "rack_units": "any number of rack units for own servers",
    "sites": "enough room at every site",
    "capex_budget": "any amount of capital",
    "capex_by_fiscal_year": "any amount of capital in each year",
    "monthly_budget": "any monthly budget",
    "total_budget": "any total budget",
}
"""Limit of `constraints` → the same lifted, in words."""
_LISTS = frozenset({"quotas", "sites", "capex_by_fiscal_year"})
"""Those that are lifted by an empty list."""


@dataclass(frozen=True)
class Rail:
    """A rule in force that nobody asked for, or a limit that the request states, and how a request
    lifts it."""

    field: str
    value: Any
    shown: str
    """The value in words."""
    why: str
    """Why it is off unless asked for."""
    is_stated: bool = False
    """Whether it is a limit that the request states."""
    beside: tuple[FieldChange, ...] = ()
    """Limits that keep out plans which nobody would run."""

    def lift(self, request: ComparisonRequest) -> ComparisonRequest:
        """The request with this rule or limit alone lifted, and what is set beside it."""
        for field, value in [(self.field, self.value), *((x.field, x.value) for x in self.beside)]:
            request = with_value(request, field, value)
        return request

    def keep_out(self, field: str, value: int, words: str) -> Rail:
        """The same with a limit beside it."""
        others = tuple(one for one in self.beside if one.field != field)
        shown = self.shown.partition(_ON)[0]
        beside = (*others, FieldChange(field=field, value=value))
        return replace(self, beside=beside, shown=f"{shown}{_ON}{words}")


def _list_partition_rails(rules: PlanRules, providers: Collection[str]) -> Iterator[Rail]:
    if not set(CLOUD_PARTITIONS) <= set(rules.partitions):
        yield Rail(
            PARTITIONS, CLOUD_PARTITIONS,
            "regions in China and of the US government as well",
            "Regions in China or of the US government need separate accounts and contracts.",
        )  # fmt: skip
    if _has_other_clouds(providers, rules):
        yield Rail(
            PARTITIONS, (*rules.partitions, OTHER_CLOUDS), "other clouds as well",
            "Smaller clouds need separate contracts and often offer nothing but machines.",
        )  # fmt: skip


def _has_other_clouds(providers: Collection[str], rules: PlanRules) -> bool:
    """Whether the catalog has some that the rules leave out."""
    partitions = {find_partition(name, "") for name in providers}
    return OTHER_CLOUDS in partitions - set(rules.partitions)


def _rail_of_name(request: ComparisonRequest, sold: Collection[str]) -> Iterator[Rail]:
    """All accelerators of a name that several share, where others than the one that it is read as
    are sold: the hours are converted by measured rates, so the work is the same."""
    workload, name = request.workload, request.workload.accelerator or ""
    is_open = isinstance(workload, AcceleratorHours) and request.constraints.accelerators is None
    usual = find(name)
    others = [one for one in other_meanings(name) if one.slug in sold]
    if request.rules < OF_ONE_NAME_RULES or not is_open or usual is None or not others:
        return
    called = ", ".join(one.name for one in others)
    yield Rail(
        OF_ONE_NAME, (usual.slug, *(one.slug for one in others)),
        f"{name.strip()} may be {called} as well",
        f"{name.strip()} is read as {usual.name}; {called} is sold under that name too. Its hours "
        "for the same work are converted by measured training rates: check that its memory and "
        "its links suit your work.",
        is_stated=True,
    )  # fmt: skip


def list_rails(
    request: ComparisonRequest,
    rules: PlanRules,
    margin: float,
    providers: Collection[str] = (),
    sold: Collection[str] = (),
) -> Iterator[Rail]:
    """Rules in force that the request leaves to their default and that may cost something.

    `margin` is the share of its price that a purchase must save before its resale, `providers`
    are those of the catalog and `sold` its accelerators.
    """
    limits, workload = request.constraints, request.workload
    yield from _rail_of_name(request, sold)
    if not rules.interruptible and workload.interruptible is None:
        yield Rail(
            INTERRUPTIBLE, True, "the work may be interrupted",
            "Spot machines can be reclaimed at any time and are often unavailable: the work must "
            "save its state and may have to wait.",
        )  # fmt: skip
    if rules.software != ANY and workload.software is None:
        yield Rail(
            SOFTWARE, ANY, "the code runs on any accelerator",
            "Code written for CUDA runs only on NVIDIA; porting it takes engineers weeks.",
        )  # fmt: skip
    if limits.partitions is None:
        yield from _list_partition_rails(rules, providers)
    if rules.whole_nodes and limits.allow_partial_nodes is None:
        yield Rail(
            "constraints.allow_partial_nodes", True, "machines rented in part",
            "Providers rent whole machines: this works only if other work of yours fills the rest.",
        )  # fmt: skip
    if rules.joins_nodes and limits.allow_any_node is None:
        yield Rail(
            "constraints.allow_any_node", True, "jobs on machines of any size and network",
            "A job spread over machines without a fast network spends most of its time waiting.",
        )  # fmt: skip
    if rules.one_accelerator:
        yield Rail(
            "constraints.allow_mixed_accelerators", True, "several kinds of accelerator at once",
            "A job runs on one kind of accelerator; splitting the work means tuning it twice.",
        )  # fmt: skip
    if request.on_prem.already_owned and request.rules >= IN_PLACE_RULES:
        yield Rail(
            IN_PLACE, (), "the servers you already own are given up",
            _IN_PLACE_STATED, is_stated=True,
        )  # fmt: skip
    yield from _rails_of_purchases(request, rules, margin)
    if request.term_end is None and rules.term_end != "prorate":
        yield Rail(
            TERM_END, "prorate", "only the part of a commitment within the plan counts",
            "A commitment is owed to its end: it holds only if other work of yours takes over "
            "what is left of the term.",
        )  # fmt: skip
    yield from _rail_of_jobs(request, rules)
    if workload.accelerators_per_job is None and rules.accelerators_per_job > 1:
        yield Rail(
            "workload.accelerators_per_job", 1, "each accelerator is a job of its own",
            "The interconnect asked for joins the accelerators of one machine.",
        )  # fmt: skip


def _rail_of_jobs(request: ComparisonRequest, rules: PlanRules) -> Iterator[Rail]:
    """Jobs of a stated size that leave part of every machine idle, made as large as fills it."""
    job = request.workload.accelerators_per_job or 1
    fills = filling_size(job)
    peaks = getattr(request.workload, "peak_accelerators", None) or (fills,)
    if rules.packs_jobs and job < fills <= min(filter(None, peaks), default=fills):
        yield Rail(
            JOB_FIELD, fills, f"jobs of {fills} accelerators, which fill machines of "
            f"{LARGEST_NODE}",
            f"The request states jobs of {job}, which leave part of such a machine idle.",
        )  # fmt: skip


def _rails_of_purchases(
    request: ComparisonRequest, rules: PlanRules, margin: float
) -> Iterator[Rail]:
    """Those on what a purchase has to save before its resale."""
    if margin and request.on_prem.payback_margin is None:
        yield Rail(
            PAYBACK_MARGIN, 0, "a purchase that only just pays back",
            f"Before resale the servers save less than {margin:.0%} of their price: a late "
            "delivery, work that ends early or falling rents would turn that into a loss.",
        )  # fmt: skip
    if rules.needs_payback:
        yield Rail(
            COUNT_ON_RESALE, True, "resale value counts",
            "The servers pay back only with their resale at the end, which nobody guarantees.",
        )  # fmt: skip


def _within_others(rail: Rail, request: ComparisonRequest) -> str:
    """A limit on places lifted, in words, with the others that stay."""
    lifted = rail.lift(request)
    others = read_place_limits(lifted.constraints, lifted.rules)
    kept_to = " and ".join(limit.words for limit in others)
    return f"{rail.shown} within {kept_to}" if kept_to else rail.shown


def list_spare_servers(results: ComparisonResults) -> Iterator[Rail]:
    """Servers in place beyond those that could do all the work at its peak, of one kind alone."""
    own, inputs = results.request.on_prem.already_owned, results.inputs
    kinds = results.preparation.servers.owned
    if len(own) != 1 or len(kinds) != 1 or results.request.rules < IN_PLACE_RULES:
        return
    server, units = kinds[0][0], own[0].units
    capacity = inputs.throughput.get(server.accelerator, 0.0) * server.accelerator_count
    needed = ceil(float(inputs.peak.max()) / capacity - _ROUNDING) if capacity else units
    if 0 < needed < units:
        yield Rail(
            f"{IN_PLACE}.0.units", needed,
            f"{needed} of the {units} × {server.label} that you own, which could do all the work",
            _IN_PLACE_STATED, is_stated=True,
        )  # fmt: skip


def _limit_rail(name: str) -> Rail:
    """A limit of `constraints` that a request states, lifted."""
    value = () if name in _LISTS else None
    return Rail(f"constraints.{name}", value, _LIMITS[name], _STATED, is_stated=True)


def list_room(request: ComparisonRequest) -> Iterator[Rail]:
    """Limits on the room for own servers, which somebody set and money may lift."""
    if request.rules >= ROOM_RULES:
        for name in ROOM:
            if getattr(request.constraints, name) not in (None, ()):
                yield replace(_limit_rail(name), why=_ROOM_STATED)


def list_limits(request: ComparisonRequest) -> Iterator[Rail]:
    """The limits that a request states and could do without."""
    for name in _LIMITS:
        if getattr(request.constraints, name) not in (None, ()):
            rail = _limit_rail(name)
            yield replace(rail, shown=_within_others(rail, request)) if name in PLACES else rail
    if request.on_prem.servers == ():
        yield Rail("on_prem.servers", None, "servers from the list", _STATED, is_stated=True)
    if not request.use_catalog:
        yield Rail("use_catalog", True, "the prices of the catalog", _STATED, is_stated=True)
    if request.term_end == "within":
        yield Rail("term_end", "full", "commitments that outlast the plan", _STATED, is_stated=True)
    if request.rules >= OF_THE_WORK_RULES:
        yield from _limits_of_the_work(request)


def _limits_of_the_work(request: ComparisonRequest) -> Iterator[Rail]:
    """What a request says of its work that may contradict the rest of it."""
    if request.workload.interruptible is False:
        yield Rail(INTERRUPTIBLE, True, "the work may be interrupted", _STATED, is_stated=True)
    if request.workload.software is not None:
        shown = "software that runs on the accelerators named, or CUDA"
        yield Rail(SOFTWARE, None, shown, _STATED, is_stated=True)


def why_off(
    rail: Rail,
    results: ComparisonResults,
    lifted: ComparisonResults,
    other: Scenario,
    saving: Decimal | None,
) -> str:
    """Why a rule is off unless asked for, with what its saving leaves out; "" where nobody would
    choose the plan: it saves no more than porting to it costs, or leaves more of its contracts to
    somebody else than it costs itself."""
    if results.request.rules < LEFT_OUT_RULES:
        return rail.why
    if rail.field == SOFTWARE:
        usd = porting_usd(_stacks(other, lifted) - {results.preparation.rules.software})
        porting = Decimal(str(usd * results.preparation.units_per_usd))
        if saving is not None and saving <= porting:
            return ""
        left_out = "" if saving is None else ", which the saving does not count"
        cost = f"Porting costs some {format_money(porting, results.request.currency)}{left_out}"
        return f"{rail.why} {cost} (planning value)." if porting else rail.why
    if rail.field == TERM_END:
        owed, months = left_to_others(other, lifted.inputs)
        if owed > other.total_cost:
            return ""
        left = f"{format_money(owed, results.request.currency)} for {pluralize(months, 'month')}"
        return f"{rail.why} {left} after the plan is not counted here." if owed else rail.why
    return rail.why


def _stacks(plan: Scenario, results: ComparisonResults) -> set[str]:
    """Software that the accelerators of a plan run."""
    keys = {*plan.used_hours, *plan.units_started}
    return {find_software(results.inputs.by_key[key].accelerator) for key in keys}
