"""A work laid out on every accelerator that can do it, ranked, and why the others cannot. PURE.

Order of the ranking: those that can do the work first; fewest accelerators to meet the deadline (or
the usual 500 h); shortest time to solution; then memory headroom, memory bandwidth, interconnect,
energy and class. Price is left to costing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from planner.contract.accelerator_memory import usable_gib
from planner.contract.answer.estimate import EstimateCandidate
from planner.contract.request.workload import Serving, SizedWorkload
from planner.sizing.evidence.benchmarks import MIXED
from planner.sizing.footprint.memory import ONE_NODE, RACK_DOMAIN, fast_domain
from planner.sizing.layout.step_time import links_of
from planner.sizing.performance.levels import peak_tflops
from planner.sizing.runs.placed_run import placed_on
from planner.sizing.runs.run_size import RunSize, RunTask
from planner.sizing.runs.sample_run import SampleTask
from planner.sizing.runs.schedule import Schedule, Window, lay_out, lay_out_months
from planner.sizing.runs.served_run import ServingTask
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.common.words import pluralize
from pricing.market.accelerators import Accelerator, all_accelerators, get, resolve

OF_THE_ACCELERATOR = ("accelerator", "accelerators", "precision", "layout")
"""Fields whose refusal says that one accelerator cannot do the work."""


def assign_accelerator(
    workload: SizedWorkload, accelerators: Sequence[str] | None
) -> SizedWorkload:
    """The workload with the accelerator that its measured rate belongs to.

    A rate without a place is that of the only accelerator there is to choose from; with several
    it is refused.
    """
    measured = [name for name in workload.measured_fields if getattr(workload, name) is not None]
    if not measured or workload.accelerator is not None:
        return workload
    if accelerators is None or len(accelerators) != 1:
        raise InvalidInput("accelerator", f"is required with {measured[0]}: where was it measured?")
    return workload.model_copy(update={"accelerator": accelerators[0]})


@dataclass(frozen=True)
class Placement:
    """The runs of a workload, to be laid over their windows on any kind of accelerator."""

    workload: SizedWorkload
    windows: Sequence[Window]
    horizon: int
    is_whole: bool = False
    """Whether on machines as they are rented, which a comparison looks for itself."""

    def on(self, one: Accelerator) -> Schedule:
        """The runs on one kind of accelerator; refuses where it cannot do the work."""
        return self._laid(task_on(self.workload, one))

    def everywhere(
        self, accelerators: Sequence[Accelerator]
    ) -> tuple[dict[str, Schedule], dict[str, str]]:
        """slug → schedule, and slug → reason for those that cannot do the work."""
        eligible: dict[str, Schedule] = {}
        excluded: dict[str, str] = {}
        for one in accelerators:
            outcome = self._exclusion(one) or self._try(one)
            if isinstance(outcome, Schedule):
                eligible[one.slug] = outcome
            else:
                excluded[one.slug] = outcome
        return eligible, excluded

    def _exclusion(self, one: Accelerator, least: int = 1) -> str | None:
        is_served = isinstance(self.workload, Serving)
        return exclusion(one, least) if not is_served or one.retired else None

    def _laid(self, task: RunTask) -> Schedule:
        if isinstance(task, ServingTask):
            size = task.at() if self.is_whole else task.as_sold()
            return lay_out_months(size, self.horizon)
        factor = self.workload.attempts_factor
        return lay_out(self.windows, self.horizon, task, factor, self.is_whole)

    def _try(self, one: Accelerator) -> Schedule | str:
        try:
            task = task_on(self.workload, one)
            return self._exclusion(one, task.min_accelerators) or self._laid(task)
        except InvalidInput as error:
            if error.field in OF_THE_ACCELERATOR or error.field.split(".")[0] == "runs":
                return error.message
            raise


TASKS: dict[str, Callable[[Any, Accelerator], RunTask]] = {
    "training": placed_on,
    "samples": SampleTask,
    "serving": ServingTask,
}
"""Kind of work → its run on one kind of accelerator."""


@lru_cache(maxsize=256)
def task_on(workload: SizedWorkload, one: Accelerator) -> RunTask:
    """A run on one kind of accelerator: the same task for the same run, which keeps each number of
    accelerators that it was sized on: runs over fewer months, or under other limits, are sized on
    many of the same numbers."""
    return TASKS[workload.kind](workload, one)


def choose_reference(eligible: Mapping[str, Schedule]) -> str:
    """The accelerator in whose hours the demand is stated: an A100 or H100 where one fits, the
    one with the fewest hours else."""
    preferred = (slug for slug in PREFERRED if slug in eligible)
    return next(preferred, None) or min(eligible, key=lambda slug: eligible[slug].hours.sum())


INFERENCE_ONLY = ("aws-inferentia", "aws-inferentia2", "qualcomm-ai100", "nvidia-p4")
"""Sold for inference: AWS Inferentia (AWS Neuron documentation, 2024), Cloud AI 100 (Qualcomm
product brief, 2020), P4 (NVIDIA Tesla P4 datasheet, 2016)."""
SLOW_LINK_LIMIT = 64
"""Accelerators joined by PCIe alone over which sharding one model is still taken as practical;
planning value of this project, 2026 (no published run went further)."""
PREFERRED = ("nvidia-a100-80gb-sxm", "nvidia-h100-80gb-sxm")
"""Reference accelerators where the work names none: most published runs used them."""
GEFORCE_LICENCE = (
    "GeForce and TITAN drivers may not be deployed in a data centre (NVIDIA GeForce software "
    "licence, section 2.1.3, 2021): for desks and labs only"
)
CONSUMER = {
    "error_correction": "memory without error correction as delivered",
    "cooling": "cooled by its own fans for a desk, not for a rack",
}
"""What sets consumer cards apart from those of a data centre (NVIDIA GeForce and data-centre
product pages, 2025)."""
PORTING = {
    "Google": "TPU (ASIC): worth porting to JAX or PyTorch/XLA for long runs of dense matrix work",
    "AWS": "Trainium or Inferentia (ASIC): worth compiling with Neuron for long or repeated runs",
    "Intel": "Gaudi (ASIC): runs PyTorch through its own bridge; kernels for CUDA are ported",
}
CURRENT, RETIRED, SERVES_ONLY = "current", "retired", "inference_only"
"""Standing of an accelerator."""
BUILT_TO_SERVE = "built for inference, not for training"
SOFTWARE = {
    "NVIDIA": "CUDA",
    "AMD": "ROCm; kernels written for CUDA must be ported (HIP)",
    "Google": "XLA through JAX or PyTorch/XLA; CUDA kernels do not run",
    "AWS": "AWS Neuron SDK (XLA); CUDA kernels do not run",
    "Intel": "Intel Gaudi software (SynapseAI); CUDA kernels do not run",
    "Qualcomm": "Qualcomm Cloud AI SDK; CUDA kernels do not run",
}
"""Software that each vendor's accelerators need (vendors' documentation, 2025)."""


def list_accelerators(names: Sequence[str] | None) -> tuple[Accelerator, ...]:
    """The accelerators named, or every known one."""
    if names is None:
        return all_accelerators()
    return tuple({one.slug: one for one in map(resolve, names)}.values())


def market_status_of(one: Accelerator) -> str:
    """Whether an accelerator is retired, sold for inference only, or current."""
    if one.retired:
        return RETIRED
    return SERVES_ONLY if one.slug in INFERENCE_ONLY else CURRENT


def restrictions_on(one: Accelerator) -> dict[str, str]:
    """What to mind with an accelerator, by what it is about."""
    restrictions = {}
    if one.vendor in SOFTWARE:
        restrictions["software"] = SOFTWARE[one.vendor]
    if one.accelerator_class == "consumer":
        restrictions |= CONSUMER
    if one.vendor == "NVIDIA" and one.accelerator_class == "consumer":
        restrictions["licence"] = GEFORCE_LICENCE
    if one.vendor in PORTING and market_status_of(one) != RETIRED:
        restrictions["porting"] = PORTING[one.vendor]
    return restrictions


def exclusion(one: Accelerator, least: int = 1) -> str | None:
    """Why an accelerator is never proposed for training; None where it may be."""
    market_status = market_status_of(one)
    if market_status == RETIRED:
        return "retired: no cloud offers it to a new plan"
    if market_status == SERVES_ONLY:
        return BUILT_TO_SERVE
    if fast_domain(one) <= 2 and least > SLOW_LINK_LIMIT:
        return (
            f"one copy needs {least:,} accelerators joined by PCIe or the network alone; more "
            f"than {SLOW_LINK_LIMIT} is not practical"
        )
    return None


_WORDS = {
    "memory_gib": "memory",
    "memory_bandwidth_gb_per_s": "memory bandwidth",
    "interconnect_gb_per_s": "bandwidth to other accelerators",
    "interconnect": "link to other accelerators",
    "tdp_w": "power",
}
"""Figures of a sheet by the words for them; rates go by their precision."""


def notes_on(one: Accelerator) -> tuple[str, ...]:
    """Limits of licence and needs of software that go with the choice."""
    restrictions = restrictions_on(one)
    notes = [f"software: {restrictions['software']}"] if "software" in restrictions else []
    if "licence" in restrictions:
        notes.append(restrictions["licence"])
    if market_status_of(one) == SERVES_ONLY:
        notes.append(BUILT_TO_SERVE)
    if one.unverified:
        rates = {n: f"{n.removesuffix('_tflops').upper()} rate" for n in one.unverified}
        words = (_WORDS.get(n) or (rates[n] if n.endswith("_tflops") else n) for n in rates)
        notes.append(f"no source was found for its {', '.join(words)}")
    return tuple(notes)


_NUMBER = re.compile(r"\d[\d,.]*")


def nothing_fits(excluded: Mapping[str, str]) -> str:
    """Why no accelerator can do the work: what those lack that hold it, then the commonest reason;
    those that are never proposed only where there are no others. Of reasons that differ in figures
    and names alone that of the fewest hours, else of the most memory, stands for all."""
    largest_first = sorted(excluded, key=lambda slug: -get(slug).memory_gib)
    of_the_work = [slug for slug in largest_first if excluded[slug] != exclusion(get(slug))]

    def bare(slug: str) -> str:
        one, reason = get(slug), excluded[slug]
        return _NUMBER.sub("", reason.replace(one.name_with_memory, "").replace(one.name, ""))

    alike = group([(bare(slug), slug) for slug in of_the_work or largest_first])
    listed = []
    for slugs in sorted(alike.values(), key=lambda g: (not _hours_of(excluded[g[0]]), -len(g)))[:3]:
        first = min(slugs, key=lambda slug: _hours_of(excluded[slug]))
        reason, others = excluded[first], len(slugs) - 1
        where = "" if get(first).name in reason or not others else f"on {get(first).name} "
        if len({excluded[slug] for slug in slugs}) > 1:
            count = (
                f" ({pluralize(others, 'other accelerator')} fail{'s' * (others == 1)} likewise)"
            )
        else:
            where, count = "", f" ({pluralize(len(slugs), 'accelerator')})"
        listed.append(f"{where}{reason}{count if len(excluded) > 1 else ''}")
    return f"no accelerator can do this work: {'; '.join(listed)}"


def _hours_of(reason: str) -> float:
    match = _NUMBER.match(reason)
    return float(match[0].replace(",", "")) if match else 0.0


CLASS_ORDER = {"data_center": 0, "tpu": 0, "workstation": 1, "consumer": 2}
"""Order of classes where all else is equal; a planning choice, 2026."""


def rank(
    eligible: Mapping[str, Schedule], excluded: Mapping[str, str]
) -> tuple[EstimateCandidate, ...]:
    """Accelerators that fit, best first, then the excluded ones by name."""
    sizes = sorted((laid.largest for laid in eligible.values()), key=_order)
    fitting = (_candidate(size.accelerator, size, i) for i, size in enumerate(sizes, start=1))
    left = (_candidate(get(slug), why_not=why) for slug, why in sorted(excluded.items()))
    return (*fitting, *left)


SHEET = EstimateCandidate.model_fields.keys() & {f.name for f in fields(Accelerator)} - {"notes"}
"""Figures of a candidate that its data sheet gives."""


def _candidate(
    one: Accelerator, size: RunSize | None = None, place: int | None = None, why_not: str = ""
) -> EstimateCandidate:
    return EstimateCandidate(
        **{name: getattr(one, name) for name in SHEET},
        **({name: getattr(size, name) for name in OF_A_RUN} if size else {}),
        accelerator=one.slug,
        rank=place,
        fits=size is not None,
        why_not=why_not,
        system=describe_system(one, size.accelerators if size else 1),
        market_status=market_status_of(one),
        serves_tier=serves_tier(one),
        dense_tflops=size.dense_tflops if size else peak_tflops(one, MIXED),
        accelerator_hours=size and size.hours,
        memory_headroom=size and size.headroom,
        notes=notes_on(one),
        restrictions=restrictions_on(one),
        reasons=reasons_for(one, size),
    )


OF_A_RUN = ("accelerators", "min_accelerators", "wall_clock_hours", "energy_kwh")


def describe_system(one: Accelerator, count: int) -> str:
    """What the accelerators come in: a card, a multi-GPU system such as a DGX, a slice."""
    domain = fast_domain(one)
    if one.accelerator_class == "tpu":
        return "TPU slice" if count > 1 else "single TPU chip"
    if domain == RACK_DOMAIN:
        return "rack of 72 (NVL72)"
    if domain == 8:
        maker = "HGX or DGX" if one.vendor == "NVIDIA" else "OAM board"
        return f"multi-GPU system of 8 ({maker})"
    if one.interconnect == "neuronlink":
        return f"server of {domain} chips (NeuronLink)"
    if one.form == "superchip":
        return "single superchip" if count == 1 else "superchip servers"
    return "single card" if count == 1 else "cards in PCIe servers"


def _order(size: RunSize) -> tuple[float, ...]:
    one = size.accelerator
    return (
        size.accelerators,
        size.wall_clock_hours,
        -(size.headroom or 0.0),
        -(one.memory_bandwidth_gb_per_s or 0.0),
        -fast_domain(one),
        size.energy_kwh or 0.0,
        CLASS_ORDER.get(one.accelerator_class, 3),
    )


LIGHT_GIB, LIGHT_HOURS = 24.0, 100.0
"""Memory and hours of one card up to which work is light: what a workstation card holds, for some
days; planning values of this project, 2026."""
TIERS = {
    "light": "one card of up to 24 GiB for some days: workstation or inference cards do",
    "complex": "one server: several cards, or of more than 24 GiB, better with fast links",
    "very_demanding": "several servers: accelerators with NVLink or its like and a fast network",
}
"""Tiers of work → the cards that serve it."""
TIER_ORDER = tuple(TIERS)
"""From the least demanding."""


def serves_tier(one: Accelerator) -> str | None:
    """Most demanding tier that a card serves; None where it is not proposed for training.

    Very demanding: fast links within a server and bf16. Complex: more than 24 GiB, or joined by
    fast links; never a consumer card. Light: any that trains.
    """
    if market_status_of(one) != CURRENT:
        return None
    domain = fast_domain(one)
    if domain >= ONE_NODE and one.bf16_tflops:
        return "very_demanding"
    is_large = one.memory_gib > LIGHT_GIB or domain >= ONE_NODE
    return "complex" if is_large and one.accelerator_class != "consumer" else "light"


def cards_of(tier: str, candidates: Sequence[EstimateCandidate]) -> tuple[str, ...]:
    """Candidates that fit and serve work of a tier, in their order."""
    least = TIER_ORDER.index(tier)
    return tuple(
        one.accelerator
        for one in candidates
        if one.fits and one.serves_tier and TIER_ORDER.index(one.serves_tier) >= least
    )


def tier_of(size: RunSize) -> str:
    """How demanding a work is, by the card it takes.

    Light: one card, at most 24 GiB and 100 h. Complex: one server. Very demanding: more.
    """
    if size.accelerators > ONE_NODE:
        return "very_demanding"
    is_small = size.least_gib <= LIGHT_GIB and size.hours <= LIGHT_HOURS
    return "light" if size.accelerators == 1 and is_small else "complex"


def reasons_for(one: Accelerator, size: RunSize | None) -> tuple[str, ...]:
    """What speaks for and against a card, in the order in which it is decided."""
    memory = f"memory: {usable_gib(one):,.1f} of {one.memory_gib:g} GiB can be used"
    reasons = [(size and size.memory_reason) or memory]
    if one.memory_bandwidth_gb_per_s:
        reasons.append(f"bandwidth: {one.memory_bandwidth_gb_per_s:,.0f} GB/s of memory")
    tflops, cores = size.dense_tflops if size else peak_tflops(one, MIXED), "its cores and clock"
    if one.cores:
        clocks = f"{one.base_clock_mhz:,.0f} MHz (sustained) to {one.boost_clock_mhz:,.0f} MHz"
        cores = f"{one.cores:,} cores at {clocks}"
    if tflops:
        reasons.append(f"arithmetic: {tflops:,.0f} TFLOP/s dense from {cores}")
    if size is not None and size.accelerators > 1:
        links = links_of(one)
        kind = "fast links" if links.domain > 1 else "PCIe or the network"
        within = "within a server" if links.node > 1 else "between servers of one each"
        reasons.append(f"links: {kind}, {links.inside:,.0f} GB/s {within}{size.links_reason}")
    restrictions = restrictions_on(one)
    named = ["error_correction", "cooling"]
    if market_status_of(one) == CURRENT:
        named.append("porting")
    return (*reasons, *(restrictions[name] for name in named if name in restrictions))
