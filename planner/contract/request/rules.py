"""What a plan may choose from and what a commitment costs, unless a request says otherwise. PURE.

Answers change with these rules, so they have editions: under edition 1 nothing is ruled out and a
commitment counts for its months within the horizon, under edition 2 a plan keeps to what a
practitioner would sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

from planner.contract.money import decimals_of
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.workload import AcceleratorHours
from pricing.market.accelerators import find_software
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption
from pricing.market.places import CLOUD_PARTITIONS, COMMERCIAL, find_partition

TermEnd = Literal["full", "within", "prorate"]
ANY = "any"
SHORTEST_TERM = 12
"""Months of the shortest commitment that the three clouds sell; 2026."""
UNDATED_PRICE_MARGIN = 0.05
"""Share by which a price of unknown age must be lower than a dated one; assumption, 2026."""
LARGEST_NODE = 8
"""Accelerators that one node of a larger job holds at least: the 8 of HGX and DGX systems (NVIDIA
HGX H100 datasheet, 2023)."""


@dataclass(frozen=True)
class PlanRules:
    """The rules of one request, defaults filled in."""

    term_end: TermEnd = "prorate"
    """What counts of a commitment that ends after the horizon: all, none may, or its share."""
    partitions: tuple[str, ...] = CLOUD_PARTITIONS
    """Parts of the clouds that may be rented in."""
    software: str = ANY
    """Software stack that accelerators must run."""
    server_software: str = ANY
    """The same of the servers to buy that the request does not name itself."""
    interruptible: bool = True
    """Whether the recommendation may rest on machines that can be taken back."""
    whole_nodes: bool = False
    """Whether machines rented by the hour rent whole."""
    limits_dates: bool = False
    """Whether what is reserved by date is paid for in whole days and limited as clouds sell it."""
    limits_days: bool = False
    """Whether a reservation by date that holds whole months counts their days."""
    leaves_out_dear: bool = False
    """Whether kinds whose starts alone cost more than a known plan are left unsearched."""
    needs_on_demand_price: bool = False
    """Whether a commitment must be to a machine that is sold on demand in that region too."""
    consumer_in_datacentre: bool = True
    """Whether consumer cards may stand in servers of a data centre."""
    undated_price_margin: float = 0.0
    """Share by which a price without a date must be lower than a dated one to be chosen."""
    accelerators_per_job: int = 1
    """Accelerators that one job takes, on nodes that hold it or `LARGEST_NODE` of it."""
    price_processes: bool = False
    """Whether the risk is always there, and draws prices from the processes fitted to history."""
    packs_jobs: bool = False
    """Whether jobs take what the sizing found, on nodes that hold it or `LARGEST_NODE` of it."""

    one_accelerator: bool = False
    """Whether a plan keeps to one kind of accelerator, as sized work is one job on one kind."""
    needs_payback: bool = False
    """Whether servers are bought only where they pay back without their resale."""
    sets_resale_aside: bool = False
    """Whether that leaves the resale of servers in place aside too."""
    limits_to_payback: bool = False
    """Whether fewer servers are bought where not all of the cheapest plan's pay back."""
    keeps_books: bool = False
    """Whether budgets are held against what the lines of a plan come to."""
    ends_discounts: bool = False
    """Whether the discount of a contract counts in its months alone."""
    smallest_cents: int = 1
    """Hundredths of the currency in the smallest amount that is paid: 100 in one without cents."""
    judges_size: bool = False
    """Whether work too small to own anything for it gets no analysis of owning."""
    all_break_even: bool = True
    """Whether every server is held against every way of renting."""
    is_sized: bool = False
    """Whether the hours come from a model or samples rather than from the team."""
    any_node: bool = False
    """Whether jobs may be spread over nodes of any size and interconnect."""

    @property
    def needs_network(self) -> bool:
        """Whether jobs over many nodes need machines with a network for it."""
        return self.packs_jobs and not self.any_node

    @property
    def joins_nodes(self) -> bool:
        """Whether the jobs may take more accelerators than one node holds."""
        return self.needs_network and (self.is_sized or self.accelerators_per_job > 1)

    def job_size(self, min_accelerators: int) -> int:
        """Accelerators that one job takes where the sizing needs `min_accelerators` of a kind."""
        sized = min_accelerators if self.packs_jobs else 1
        return max(self.accelerators_per_job, sized)


RESALE_ASIDE_RULES = 6
"""Edition from which a purchase and renting are compared without any resale, 2026."""
FEWER_SERVERS_RULES = 6
"""Edition from which a plan buys the servers that pay back where more of them do not, 2026."""
RESERVED_DAYS_RULES = 6
"""Edition from which the days of a month count towards those of a reservation, 2026."""
DEAR_KINDS_RULES = 6
"""Edition from which kinds of accelerator are left unsearched whose servers and commitments alone
cost more than a plan that is known, 2026: before, their search was charged to the work that a
question may take, and answers that it cut short would be cut elsewhere."""
BOOKS_RULES = 6
"""Edition from which budgets are held against the lines of a plan, and lines are whole units in
currencies without cents, 2026."""
DISCOUNT_MONTHS_RULES = 6
"""Edition from which the discount of a contract counts in its months alone, 2026."""
SERVER_SOFTWARE_RULES = 6
"""Edition from which servers of the reference list run the software of the code, 2026."""
EDITION_1 = PlanRules()
"""Nothing is ruled out, and of a commitment the months within the horizon count."""


def resolve_rules(request: ComparisonRequest) -> PlanRules:
    """The rules in force for a request: what it says, else the defaults of its edition.

    >>> from planner.contract.request.comparison import read_request
    >>> hours = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
    >>> rules = resolve_rules(read_request({"workload": hours, "rules": 2}))
    >>> rules.term_end, rules.partitions, rules.software, rules.interruptible, rules.whole_nodes
    ('full', ('commercial',), 'cuda', False, True)
    >>> resolve_rules(read_request({"workload": hours, "rules": 1})) == EDITION_1
    True
    """
    limits, workload = request.constraints, request.workload
    is_first = request.rules == 1
    software = workload.software or (ANY if is_first else _implied_software(request))
    allows_parts = limits.allow_partial_nodes
    return PlanRules(
        term_end=request.term_end or ("prorate" if is_first else _default_term_end(request)),
        partitions=limits.partitions
        or (CLOUD_PARTITIONS if is_first else _default_partitions(request)),
        software=software,
        server_software=software if _chooses_servers_by_software(request) else ANY,
        interruptible=_is_interruptible(request)
        if workload.interruptible is None
        else workload.interruptible,
        whole_nodes=not (is_first if allows_parts is None else allows_parts),
        limits_dates=not is_first,
        limits_days=request.rules >= RESERVED_DAYS_RULES,
        leaves_out_dear=request.rules >= DEAR_KINDS_RULES,
        needs_on_demand_price=not is_first,
        price_processes=not is_first,
        packs_jobs=not is_first,
        one_accelerator=not is_first and _keeps_to_one_accelerator(request),
        needs_payback=not is_first and not _counts_on_resale(request),
        sets_resale_aside=request.rules >= RESALE_ASIDE_RULES,
        limits_to_payback=request.rules >= FEWER_SERVERS_RULES and not _counts_on_resale(request),
        keeps_books=request.rules >= BOOKS_RULES,
        ends_discounts=request.rules >= DISCOUNT_MONTHS_RULES,
        smallest_cents=_smallest_cents(request),
        judges_size=not is_first,
        all_break_even=is_first or request.break_even == "all",
        is_sized=not is_first and not isinstance(workload, AcceleratorHours),
        any_node=bool(limits.allow_any_node),
        consumer_in_datacentre=is_first
        if limits.allow_consumer_in_datacentre is None
        else limits.allow_consumer_in_datacentre,
        undated_price_margin=_undated_price_margin(request),
        accelerators_per_job=workload.accelerators_per_job
        or (1 if is_first else _joined_accelerators(request)),
    )


def _chooses_servers_by_software(request: ComparisonRequest) -> bool:
    """Whether servers are chosen for the work and not by the request, which knows its own."""
    return request.rules >= SERVER_SOFTWARE_RULES and request.on_prem.servers is None


def _smallest_cents(request: ComparisonRequest) -> int:
    counts_all = request.rules >= BOOKS_RULES
    return 10 ** (2 - decimals_of(request.currency)) if counts_all else 1


def _keeps_to_one_accelerator(request: ComparisonRequest) -> bool:
    is_sized = not isinstance(request.workload, AcceleratorHours)
    return is_sized and not request.constraints.allow_mixed_accelerators


def _counts_on_resale(request: ComparisonRequest) -> bool:
    """What the request says; a residual rate of its own is counted on."""
    counted = request.on_prem.count_on_resale
    return request.on_prem.residual_rate is not None if counted is None else counted


def _undated_price_margin(request: ComparisonRequest) -> float:
    margin = request.constraints.undated_price_margin
    if margin is not None:
        return margin
    return 0.0 if request.rules == 1 else UNDATED_PRICE_MARGIN


def _default_term_end(request: ComparisonRequest) -> TermEnd:
    """All of a commitment counts; a plan for less than a year takes none that outlasts it."""
    return "within" if request.horizon_months < SHORTEST_TERM else "full"


def _joined_accelerators(request: ComparisonRequest) -> int:
    """Accelerators that an interconnect asked for joins: those of the peak, up to a node of
    `LARGEST_NODE`; 1 where none is asked for."""
    workload = request.workload
    if request.constraints.interconnect is None or not isinstance(workload, AcceleratorHours):
        return 1
    least = ceil(max(workload.hours_per_month) / HOURS_PER_MONTH)
    peak = max(workload.peak_accelerators) if workload.peak_accelerators else least
    return max(1, min(peak, LARGEST_NODE))


def _default_partitions(request: ComparisonRequest) -> tuple[str, ...]:
    """The commercial one, and those of the regions and providers that the request names."""
    named = request.constraints.regions or ()
    of_regions = {find_partition(provider, name) for name in named for provider in ("aws", "azure")}
    of_providers = {find_partition(name, "") for name in request.constraints.providers or ()}
    return (COMMERCIAL, *sorted((of_regions | of_providers) - {COMMERCIAL}))


def _implied_software(request: ComparisonRequest) -> str:
    """CUDA, unless the request names accelerators that run something else."""
    names = [request.workload.accelerator, *(request.constraints.accelerators or ())]
    stacks = {find_software(name) for name in names if name} - {""}
    if len(stacks) > 1:
        return ANY
    return next(iter(stacks), "cuda")


def _is_interruptible(request: ComparisonRequest) -> bool:
    """Consent to spot: a share of it, or an option that can be interrupted, is asked for."""
    limits = request.constraints
    options = limits.purchase_options or ()
    named = any(o.is_interruptible or o is PurchaseOption.DWS_FLEX_START for o in options)
    return request.rules == 1 or named or (limits.max_spot_share or 0.0) > 0
