"""Every accelerator ranked for one work, with the reason for each exclusion. PURE.

Order: those that can do the work first; fewest accelerators to meet the deadline (or the usual
500 h); shortest time to solution; then memory headroom, memory bandwidth, interconnect, energy
and class. Price is left to costing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.contract.answer.estimate import EstimateCandidate
from planner.sizing.candidates.fitness import market_status_of, notes_on, restrictions_on
from planner.sizing.candidates.reasons import dense_tflops, reasons_for, serves_tier
from planner.sizing.footprint.parallelism import RACK_DOMAIN, fast_domain
from planner.sizing.runs.sample_run import SampleSize
from planner.sizing.runs.schedule import RunSize, Schedule
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
            dense_tflops=dense_tflops(one, size),
            interconnect=one.interconnect,
            interconnect_gb_per_s=one.interconnect_gb_per_s,
            accelerators=size and size.accelerators,
            min_accelerators=size and size.min_accelerators,
            accelerator_hours=size and size.hours,
            wall_clock_hours=size and size.wall_clock_hours,
            memory_headroom=size and headroom(size),
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
    """What the accelerators come in: a card, a multi-GPU system such as a DGX, a slice.

    >>> describe_system(get("nvidia-h100-80gb-sxm"), 8), describe_system(get("nvidia-l4"), 1)
    ('multi-GPU system of 8 (HGX or DGX)', 'single card')
    >>> describe_system(get("aws-trainium2"), 32), describe_system(get("nvidia-gh200-96gb"), 32)
    ('server of 16 chips (NeuronLink)', 'superchip servers')
    """
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


def headroom(size: RunSize) -> float | None:
    """Share of memory left free; None for work whose memory is not known."""
    if isinstance(size, SampleSize):
        return None
    return 1 - size.layout.memory.total_gib / size.accelerator.memory_gib


def _order(size: RunSize) -> tuple[float, ...]:
    one = size.accelerator
    return (
        size.accelerators,
        size.wall_clock_hours,
        -(headroom(size) or 0.0),
        -(one.memory_bandwidth_gb_per_s or 0.0),
        -fast_domain(one),
        size.energy_kwh or 0.0,
        CLASS_ORDER.get(one.accelerator_class, 3),
    )
