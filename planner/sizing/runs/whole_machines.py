"""Numbers of accelerators as machines with them are rented. PURE."""

from __future__ import annotations

from planner.sizing.layout.links import is_lone_chip, is_tpu
from planner.sizing.runs.counts import COUNT_RULES, NEAR_THE_FEWEST
from planner.sizing.runs.placed_run import PlacedSize, PlacedTask
from pricing.common.copies import replace
from pricing.common.invalid_input import InvalidInput
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import Accelerator

USUAL_SIZES, NEURON_SIZES = (1, 2, 4, 8), (1, 16)
"""Accelerators of one machine as clouds rent them, and of Trainium (the bundled catalog of 2026:
machines of 3, 5, 6 or 7 are rare and sold by few)."""


def accelerators_rented(one: Accelerator, count: int) -> int:
    """Accelerators of the smallest usual machine with so many; beyond one machine, of superchips
    that are servers of their own and of TPUs, which come in slices, as they are.

    >>> from pricing.market.accelerators import get
    >>> [accelerators_rented(get("nvidia-l4"), count) for count in (1, 3, 5, 7, 8, 16, 120)]
    [1, 4, 8, 8, 8, 16, 120]
    >>> [accelerators_rented(get(one), 3) for one in ("nvidia-gh200-96gb", "aws-trainium2")]
    [3, 16]
    """
    if is_tpu(one) or is_lone_chip(one):
        return count
    sizes = NEURON_SIZES if one.interconnect == "neuronlink" else USUAL_SIZES
    return next((size for size in sizes if size >= count), count)


def on_whole_machines(task: PlacedTask, count: int | None) -> PlacedSize:
    """The run on n accelerators or a few more, on machines that can be rented, from rules 6 on,
    where its hours are about the same; no more than a request says that a job takes."""
    size = task.at_least(count)
    rented = accelerators_rented(size.accelerator, size.accelerators)
    job = size.training.accelerators_per_job
    if task.rules < COUNT_RULES or rented == size.accelerators or (job and rented > job):
        return size
    try:
        whole = task.at(rented)
    except InvalidInput:
        return size
    if whole.hours > NEAR_THE_FEWEST * size.hours:
        return size
    return replace(whole, count_words=(_words(size.accelerators, rented),))


def _words(needed: int, rented: int) -> str:
    named = pluralize(needed, "accelerator")
    return (
        f"{named} would do: {rented} are counted on, as machines are rented whole; stating jobs of "
        f"{named} asks for fewer"
    )
