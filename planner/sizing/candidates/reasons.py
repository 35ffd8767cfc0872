"""Why a card is for a work or not: memory first, then bandwidth, arithmetic, links. PURE."""

from __future__ import annotations

from planner.sizing.candidates.fitness import exclusion
from planner.sizing.footprint.memory import weight_bytes
from planner.sizing.layout.links import links_of
from planner.sizing.layout.usable_memory import usable_gib
from planner.sizing.runs.placed_run import PlacedSize
from planner.sizing.runs.sample_run import SampleSize
from planner.sizing.runs.schedule import RunSize
from planner.sizing.runs.training_run import TrainingSize
from pricing.market.accelerators import Accelerator

LIGHT_GIB, LIGHT_HOURS = 24.0, 100.0
"""Memory and hours of one card up to which work is light: what a workstation card holds, for some
days; planning values of this project, 2026."""
ONE_NODE = 8
"""Accelerators up to which work stays in one server (HGX and DGX, NVIDIA, 2017-2025)."""
TIERS = {
    "light": "one card of up to 24 GiB for some days: workstation or inference cards do",
    "complex": "one server: data-centre cards with fast links",
    "very_demanding": "several servers: accelerators with NVLink or its like and a fast network",
}
"""Tiers of work → the cards that serve it."""
CONSUMER = ("memory without error correction; cooled by its own fans for a desk, not for a rack",)
PORTING = {
    "Google": "TPU (ASIC): worth porting to JAX or PyTorch/XLA for long runs of dense matrix work",
    "AWS": "Trainium or Inferentia (ASIC): worth compiling with Neuron for long or repeated runs",
    "Intel": "Gaudi (ASIC): runs PyTorch through its own bridge; kernels for CUDA are ported",
}


def tier_of(size: RunSize) -> str:
    """How demanding a work is, by the card it takes.

    Light: one card, at most 24 GiB and 100 h. Complex: one server. Very demanding: more.
    """
    if size.accelerators > ONE_NODE:
        return "very_demanding"
    held = 0.0 if isinstance(size, SampleSize) else _least_gib(size)
    is_light = size.accelerators == 1 and held <= LIGHT_GIB and size.hours <= LIGHT_HOURS
    return "light" if is_light else "complex"


def _least_gib(size: TrainingSize | PlacedSize) -> float:
    """GiB of one sequence at a time: a larger micro-batch only fills what is free."""
    memory = size.layout.memory
    sequences = size.layout.micro_batch if isinstance(size, PlacedSize) else 1
    working = memory.activations_gib + memory.logits_gib
    return memory.total_gib - working * (1 - 1 / sequences)


def reasons_for(one: Accelerator, size: RunSize | None) -> tuple[str, ...]:
    """What speaks for and against a card, in the order in which it is decided."""
    reasons = [*_memory(one, size), *_rates(one, size), *_links(one, size)]
    if one.vendor == "NVIDIA" and one.accelerator_class == "consumer":
        reasons += CONSUMER
    if one.vendor in PORTING and exclusion(one) is None:
        reasons.append(PORTING[one.vendor])
    return tuple(reasons)


def _memory(one: Accelerator, size: RunSize | None) -> list[str]:
    usable = usable_gib(one)
    if size is None or isinstance(size, SampleSize):
        return [f"memory: {usable:,.1f} of {one.memory_gib:g} GiB can be used"]
    full, half = (weight_bytes(size.training.parameters, p) / 1e9 for p in ("fp32", "fp16"))
    held = size.layout.memory.total_gib
    return [
        f"memory: weights are {full:,.4g} GB in fp32 and {half:,.4g} GB in half precision; "
        f"training holds {held:,.1f} of {usable:,.1f} GiB that can be used on each"
    ]


def _rates(one: Accelerator, size: RunSize | None) -> list[str]:
    reasons = []
    if one.memory_bandwidth_gb_per_s:
        reasons.append(f"bandwidth: {one.memory_bandwidth_gb_per_s:,.0f} GB/s of memory")
    precision = "bf16" if size is None or isinstance(size, SampleSize) else size.precision
    tflops = one.dense_tflops(precision) or one.dense_tflops("fp32")
    if tflops:
        reasons.append(f"arithmetic: {tflops:,.0f} TFLOP/s dense from its cores and clock")
    return reasons


def _links(one: Accelerator, size: RunSize | None) -> list[str]:
    """What joins several cards, and what their traffic costs where the layout says."""
    if size is None or size.accelerators == 1:
        return []
    links = links_of(one)
    kind = "fast links" if links.domain > 1 else "PCIe or the network"
    reason = f"links: {kind}, {links.inside:,.0f} GB/s within a server"
    if isinstance(size, PlacedSize):
        reason += f"; traffic takes {size.layout.exposed_communication:.0%} of the working time"
    return [reason]
