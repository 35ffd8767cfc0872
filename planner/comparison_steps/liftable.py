"""What a request may lift: rules that nobody asked for, and limits that it states itself. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from planner.contract.place_limits import PLACES, read_place_limits
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import ANY, LARGEST_NODE, PlanRules
from planner.costing.advice.unfilled_machines import JOB_FIELD, filling_size
from planner.costing.assumptions.payback_margin import PAYBACK_MARGIN
from pricing.market.places import CLOUD_PARTITIONS, OTHER_CLOUDS, find_partition

COUNT_ON_RESALE = "on_prem.count_on_resale"
PARTITIONS = "constraints.partitions"
TERM_END = "term_end"
IN_PLACE = "on_prem.already_owned"
IN_PLACE_RULES = 6
"""Edition of the rules from which work without the servers in place is looked at, 2026."""
_STATED = "The request sets this limit."
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

    def lift(self, request: ComparisonRequest) -> ComparisonRequest:
        """The request with this rule or limit alone lifted."""
        section, _, name = self.field.rpartition(".")
        if not section:
            return request.model_copy(update={name: self.value})
        changed = getattr(request, section).model_copy(update={name: self.value})
        return request.model_copy(update={section: changed})


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


def list_rails(
    request: ComparisonRequest, rules: PlanRules, margin: float, providers: Collection[str] = ()
) -> Iterator[Rail]:
    """Rules in force that the request leaves to their default and that may cost something.

    `margin` is the share of its price that a purchase must save before its resale, `providers`
    are those of the catalog.
    """
    limits, workload = request.constraints, request.workload
    if not rules.interruptible and workload.interruptible is None:
        yield Rail(
            "workload.interruptible", True, "the work may be interrupted",
            "Spot machines can be reclaimed at any time and are often unavailable: the work must "
            "save its state and may have to wait.",
        )  # fmt: skip
    if rules.software != ANY and workload.software is None:
        yield Rail(
            "workload.software", ANY, "the code runs on any accelerator",
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
            IN_PLACE, (), "the servers in place are given up",
            "Servers in place cost money to run whatever is decided: this saves only if they can "
            "be switched off and their space, support and people then cost nothing.",
            is_stated=True,
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


def list_limits(request: ComparisonRequest) -> Iterator[Rail]:
    """The limits that a request states and could do without; what the work is stays as it is."""
    for name, shown in _LIMITS.items():
        if getattr(request.constraints, name) not in (None, ()):
            value = () if name in _LISTS else None
            rail = Rail(f"constraints.{name}", value, shown, _STATED, is_stated=True)
            yield replace(rail, shown=_within_others(rail, request)) if name in PLACES else rail
    if request.on_prem.servers == ():
        yield Rail("on_prem.servers", None, "servers from the list", _STATED, is_stated=True)
    if not request.use_catalog:
        yield Rail("use_catalog", True, "the prices of the catalog", _STATED, is_stated=True)
    if request.term_end == "within":
        yield Rail("term_end", "full", "commitments that outlast the plan", _STATED, is_stated=True)
