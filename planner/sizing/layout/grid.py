"""Every way to split a training that is worth a look, as arrays. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

NONE, SELECTIVE, FULL = range(3)
CHECKPOINTING = ("none", "selective", "full")
"""Names of the three kinds of activation checkpointing, by their number."""
TENSOR_SIZES, PIPELINE_SIZES = (1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16, 32, 64)
"""Sizes that are looked at; planning choices of this project, 2026."""
CONTEXT_SIZES, EXPERT_SIZES = (2, 4, 8, 16), (8, 32, 64)
"""The same for long sequences and for mixtures; planning choices of this project, 2026."""
WHOLE_EXPERT_SIZES = (4, 8, 16, 32, 64)
"""Sizes for mixtures from rules 6 on, whose experts are spread evenly: ranks that 8 does not divide
may be a multiple of 4; planning choices of this project, 2026."""
LONG_SEQUENCE = 16_384
"""Tokens from which a sequence may be split over accelerators; a planning choice, 2026."""


@dataclass(frozen=True)
class Grid:
    """Splits side by side; every array is [splits]."""

    tensor: Floats
    pipeline: Floats
    context: Floats
    expert: Floats
    zero_stage: Floats
    checkpointing: Floats

    @property
    def parts(self) -> Floats:
        """Accelerators of one replica."""
        product: Floats = self.tensor * self.pipeline * self.context
        return product

    def where(self, mask: Mask) -> Grid:
        """The splits for which `mask` holds."""
        return Grid(**{name: values[mask] for name, values in vars(self).items()})


@cache
def all_splits(domain: int, is_long: bool, expert_sizes: tuple[int, ...]) -> Grid:
    """Splits for accelerators whose fast links join `domain`: tensor parallelism stays within it,
    ZeRO stages 2 and 3 go without pipeline stages, experts are spread over none or `expert_sizes`.

    >>> float(all_splits(1, False, ()).tensor.max())
    1.0
    """
    rows = [
        (t, p, c, e, z, k)
        for t in TENSOR_SIZES
        if t <= domain
        for p in PIPELINE_SIZES
        for c in ((1, *CONTEXT_SIZES) if is_long else (1,))
        for e in (1, *expert_sizes)
        for z in ((0, 1, 2, 3) if p == 1 else (0, 1))
        for k in (NONE, SELECTIVE, FULL)
    ]
    return make_grid(rows)


def make_grid(rows: Sequence[tuple[int, ...]]) -> Grid:
    """A grid of rows: tensor, pipeline, context, expert, ZeRO stage, checkpointing."""
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), 6).T
    return Grid(*(np.ascontiguousarray(column) for column in columns))
