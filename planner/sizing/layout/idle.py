"""Accelerators that a stated number leaves idle, as a guessed step has too little for all. PURE."""

from __future__ import annotations

from planner.sizing.layout.placed_layout import PlacedLayout
from planner.sizing.layout.search import LayoutTask
from pricing.common.copies import replace

STARVED = 0.75
"""Share of its rate that a split leaves an accelerator below which splits over fewer are looked at
too; a planning choice, 2026."""
FEWEST_OF = 16
"""Part of a number down to which they are; a planning choice, 2026."""


def judge_with_idle(task: LayoutTask, accelerators: int) -> PlacedLayout:
    """The layout on n accelerators, or on an even number below n where that is faster and the step
    is a guess, which keeps fewer at work: more accelerators never take longer.

    Raises `InvalidInput` on `layout` or `accelerators` where none fits.
    """
    placed, training = task.judge(accelerators), task.training
    is_stated = training.global_batch_tokens is not None or training.layout is not None
    if is_stated or not task.rates.is_whole or placed.share_of_level >= STARVED:
        return placed
    rate = accelerators * placed.share_of_level
    for count in even_below(accelerators):
        other = task.on(count)
        if other is not None and count * other.share_of_level > rate:
            rate = count * other.share_of_level
            idle = other.unused + accelerators - count
            placed = replace(other, unused=idle, share_of_level=rate / accelerators)
    return placed


def even_below(accelerators: int) -> list[int]:
    """Numbers 2^k and 3 2^k below n and down to a sixteenth of it, over which splits are even.

    >>> even_below(56), even_below(64), even_below(2)
    ([48, 32, 24, 16, 12, 8, 6, 4], [48, 32, 24, 16, 12, 8, 6, 4], [1])
    """
    sizes = {size << k for k in range(accelerators.bit_length()) for size in (1, 3)}
    near = (size for size in sizes if accelerators <= FEWEST_OF * size and size < accelerators)
    return sorted(near, reverse=True)
