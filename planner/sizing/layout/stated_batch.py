"""Replicas and micro-batches that keep a global batch as it is asked for. PURE."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from planner.sizing.layout.grid import Floats

Whole = NDArray[np.int64]

SAME_BATCH = 0.05
"""Share by which a step may differ from the batch that was asked for; a planning choice, 2026."""


def kept_share(tokens: Floats, batch: float) -> Floats:
    """Share of a batch that steps of `tokens` keep, as far as it is less than nobody minds."""
    share = np.minimum(1.0, tokens / batch)
    counted: Floats = np.where(share < 1 - SAME_BATCH, share, 1.0)
    return counted


def replicas_for(passes: float, most: Floats, multiple: Floats) -> Floats:
    """Replicas of at most `most`, a multiple of `multiple`, that work on a batch of `passes`
    micro-batches: some idle where a round more of fewer replicas costs less than the batch loses,
    or where each would take more than the batch.

    976 micro-batches are one round of 500 replicas, or two of 488; 2,000 replicas would take more.

    >>> replicas_for(976.0, np.array([500.0, 900.0, 8.0, 2000.0]), np.ones(4)).tolist()
    [488.0, 900.0, 8.0, 976.0]
    """
    passes = max(1.0, passes)
    rounds = np.floor(passes / most)
    fewer = np.floor(passes / (rounds + 1) / multiple) * multiple
    all_at_work = kept_share(rounds * most, passes)
    some_idle = kept_share((rounds + 1) * fewer, passes) * fewer / most
    chosen: Floats = np.where((fewer >= 1) & (some_idle > all_at_work), fewer, most)
    return chosen


def micro_batches_for(sequences: float, data: Floats, room: Floats) -> Floats:
    """Sequences of a micro-batch, at most `room`, with which steps come nearest to a batch of
    `sequences` over `data` replicas, the largest such: of whole sequences a divisor of a replica's;
    else of a batch that is a round number of tokens, within what nobody minds.

    >>> micro_batches_for(480.0, np.array([8.0, 8.0]), np.array([32.0, 29.0])).tolist()
    [30.0, 20.0]
    >>> micro_batches_for(1953.125, np.array([32.0, 512.0]), np.array([16.0, 16.0])).tolist()
    [15.0, 3.0]
    """
    replicas, row = _distinct(data.astype(np.int64))
    own = np.maximum(1.0, np.floor(sequences / replicas + 1e-9))[:, None]
    share = 1.0 if is_whole(sequences) else 1 - SAME_BATCH
    needed = np.minimum(own, np.ceil(own * share))
    sizes = np.arange(1.0, math.floor(room.max()) + 1)
    keeps = sizes * np.floor(own / sizes) >= needed
    largest = np.maximum.accumulate(np.where(keeps, sizes, 1.0), axis=1)
    chosen: Floats = largest[row, np.floor(room).astype(np.int64) - 1]
    return chosen


def _distinct(numbers: Whole) -> tuple[Floats, Whole]:
    """The values of whole `numbers` in order, and the place of each among them, without sorting.

    >>> [one.tolist() for one in _distinct(np.array([8, 2, 8, 3]))]
    [[2.0, 3.0, 8.0], [2, 0, 2, 1]]
    """
    is_there = np.zeros(int(numbers.max()) + 1, dtype=np.bool_)
    is_there[numbers] = True
    places = np.cumsum(is_there) - 1
    return np.flatnonzero(is_there).astype(np.float64), places[numbers]


def is_whole(sequences: float) -> bool:
    """Whether a batch is of whole sequences."""
    return math.isclose(sequences, round(sequences), rel_tol=1e-9)
