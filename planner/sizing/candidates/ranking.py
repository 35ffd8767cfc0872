"""Every accelerator ranked for one work, with the reason for each exclusion. PURE.

Order: those that can do the work first; fewest accelerators to meet the deadline (or the usual
500 h); shortest time to solution; then memory headroom, memory bandwidth, interconnect, energy
and class. Price is left to costing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.contract.answer.estimate import EstimateCandidate
from planner.sizing.candidates.candidates import (
    CURRENT,
    market_status_of,
    notes_on,
    restrictions_on,
)
from planner.sizing.evidence.sample_runs import MIXED
from planner.sizing.footprint.memory import RACK_DOMAIN, fast_domain
from planner.sizing.layout.shapes import usable_gib
from planner.sizing.layout.step_time import links_of
from planner.sizing.performance.levels import peak_tflops
from planner.sizing.runs.run_size import RunSize
from planner.sizing.runs.schedule import Schedule
from pricing.market.accelerators import Accelerator, get

CLASS_ORDER = {"data_center": 0, "tpu": 0, "workstation": 1, "consumer": 2}
"""Order of classes where all else is equal; a planning choice, 2026."""


@dataclass(frozen=True)
class Ranked:
    """One accelerator's place; the figures are None where it is excluded."""

    accelerator: Accelerator
    rank: int | None
    size: RunSize | None
    why_not: str = ""

    @property
    def answer(self) -> EstimateCandidate:
        """Its place as the estimate gives it."""
        one, size = self.accelerator, self.size
        return EstimateCandidate(
            accelerator=one.slug,
            rank=self.rank,
            fits=size is not None,
            why_not=self.why_not,
            accelerator_class=one.accelerator_class,
            system=describe_system(one, size.accelerators if size else 1),
            memory_gib=one.memory_gib,
            memory_bandwidth_gb_per_s=one.memory_bandwidth_gb_per_s,
            market_status=market_status_of(one),
            serves_tier=serves_tier(one),
            cores=one.cores,
            base_clock_mhz=one.base_clock_mhz,
            boost_clock_mhz=one.boost_clock_mhz,
            dense_tflops=size.dense_tflops if size else peak_tflops(one, MIXED),
            interconnect=one.interconnect,
            interconnect_gb_per_s=one.interconnect_gb_per_s,
            accelerators=size and size.accelerators,
            min_accelerators=size and size.min_accelerators,
            accelerator_hours=size and size.hours,
            wall_clock_hours=size and size.wall_clock_hours,
            memory_headroom=size and size.headroom,
            energy_kwh=size and size.energy_kwh,
            notes=tuple(notes_on(one)),
            restrictions=restrictions_on(one),
            reasons=reasons_for(one, size),
        )


def rank(eligible: Mapping[str, Schedule], excluded: Mapping[str, str]) -> tuple[Ranked, ...]:
    """Accelerators that fit, best first, then the excluded ones by name."""
    sizes = sorted((laid.largest for laid in eligible.values()), key=_order)
    fitting = [Ranked(size.accelerator, i, size) for i, size in enumerate(sizes, start=1)]
    left = [Ranked(get(slug), None, None, why) for slug, why in sorted(excluded.items())]
    return (*fitting, *left)


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
ONE_NODE = 8
"""Accelerators up to which work stays in one server (HGX and DGX, NVIDIA, 2017-2025)."""
TIERS = {
    "light": "one card of up to 24 GiB for some days: workstation or inference cards do",
    "complex": "one server: cards of more than 24 GiB, better with fast links",
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
    reasons = [(size and size.memory_reason) or memory, *_rates(one, size), *_links(one, size)]
    restrictions = restrictions_on(one)
    reasons += [
        restrictions[name] for name in ("error_correction", "cooling") if name in restrictions
    ]
    if "porting" in restrictions and market_status_of(one) == CURRENT:
        reasons.append(restrictions["porting"])
    return tuple(reasons)


def _rates(one: Accelerator, size: RunSize | None) -> list[str]:
    reasons = []
    if one.memory_bandwidth_gb_per_s:
        reasons.append(f"bandwidth: {one.memory_bandwidth_gb_per_s:,.0f} GB/s of memory")
    tflops = size.dense_tflops if size else peak_tflops(one, MIXED)
    if tflops:
        reasons.append(f"arithmetic: {tflops:,.0f} TFLOP/s dense from {_cores(one)}")
    return reasons


def _cores(one: Accelerator) -> str:
    if not one.cores:
        return "its cores and clock"
    clocks = f"{one.base_clock_mhz:,.0f} MHz (sustained) to {one.boost_clock_mhz:,.0f} MHz"
    return f"{one.cores:,} cores at {clocks}"


def _links(one: Accelerator, size: RunSize | None) -> list[str]:
    """What joins several cards, and what their traffic costs where the layout says."""
    if size is None or size.accelerators == 1:
        return []
    links = links_of(one)
    kind = "fast links" if links.domain > 1 else "PCIe or the network"
    within = "within a server" if links.node > 1 else "between servers of one each"
    return [f"links: {kind}, {links.inside:,.0f} GB/s {within}{size.links_reason}"]
