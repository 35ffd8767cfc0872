"""Numbers of TPU chips that can be rented together. PURE.

Slices come in fixed sizes; those of a three-dimensional torus of cubes of 4 x 4 x 4 chips (v4, v5p,
v7) beyond 64 in any number of cubes, and beyond the largest slice several are joined (Google Cloud
TPU documentation, system architecture and multislice, 2026).
"""

from __future__ import annotations

from functools import cache

from planner.sizing.layout.links import is_tpu
from pricing.market.accelerators import Accelerator
from pricing.market.machine_types import tpu_slices

CUBE = 64
"""Chips of a cube (Google Cloud TPU system architecture, 2026)."""
OF_CUBES = frozenset({"google-tpu-v4", "google-tpu-v5p", "google-tpu-v7"})
"""TPUs whose larger slices are cubes."""


def chips_rented(one: Accelerator, chips: int) -> int:
    """Chips of the smallest slice with so many, or of as many of the largest; of what is no TPU as
    they are.

    >>> from pricing.market.accelerators import get
    >>> [chips_rented(get("google-tpu-v6e"), chips) for chips in (1, 3, 6, 40, 600)]
    [1, 4, 8, 64, 768]
    >>> [chips_rented(get("google-tpu-v5p"), chips) for chips in (1, 7, 24, 136, 9000)]
    [4, 8, 32, 192, 9024]
    >>> chips_rented(get("nvidia-h100-80gb-sxm"), 7)
    7
    """
    sizes = _sizes(one.slug) if is_tpu(one) else ()
    if not sizes:
        return chips
    step = CUBE if one.slug in OF_CUBES else sizes[-1]
    if chips > step:
        larger = next((size for size in sizes if size >= chips), 0)
        cubes = -(-chips // step) * step
        return cubes if one.slug in OF_CUBES else larger or cubes
    return next(size for size in sizes if size >= chips)


def of_slices(one: Accelerator, chips: int, needed: int) -> str:
    """Why more chips are counted on than a training needs."""
    return f"{chips:,} chips are used, because {one.name} cannot be rented in slices of {needed:,}"


@cache
def _sizes(slug: str) -> tuple[int, ...]:
    return tuple(sorted({piece.chips for piece in tpu_slices() if piece.accelerator == slug}))
