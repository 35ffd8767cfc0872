"""Joint paths of several prices, with shocks in common. PURE.

One downturn driver is drawn per path: `MARKET_SHARE` of its variance is common to all families,
the rest to the family. It moves λ, μ and a of `process.py`. Monthly shocks share the month's
market shock and the family's in the same way. Shares are assumed, within what the
histories show: of the variance of 12-month moves of GCP spot 15 to 40 % is common to all regions
of a family, and the means of A100, L4 and H100 correlate at 0.2 to 0.9.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.costing.price_processes.process import (
    SHOCK_SHAPE,
    Floats,
    PriceKind,
    PriceProcess,
    driver_hazard,
    size_of_change,
)

Singles = NDArray[np.float32]

MARKET_SHARE = 0.3
"""Share of the variance of shocks and drifts that all families have in common."""
FAMILY_SHARE = 0.3
"""Share that the prices of one family have in common beyond that."""
MAX_CHANGES = 3
"""List changes drawn per path: more than two within three years have not been seen."""
MAX_RESETS = 3
PRICE_STREAM = 1
"""Of those that a seed is spawned into."""
_UNIT = np.float32(math.sqrt(12.0) / 65536.0)
"""Turns whole numbers below 65,536 into shocks of variance 1, once their mean is taken off."""


@dataclass(frozen=True)
class _Groups:
    family: NDArray[np.intp]
    place: NDArray[np.intp]


@dataclass(frozen=True)
class _Streams:
    """A stream of random numbers for each name, so that a price moves alike whichever others are
    drawn with it: plans of two draws of one seed are held against each other path by path."""

    seed: int
    samples: int

    def of(self, *names: str) -> np.random.Generator:
        """That of a name, from its beginning."""
        key = zlib.crc32("\n".join(names).encode())
        sequence = np.random.SeedSequence(self.seed, spawn_key=(PRICE_STREAM, key))
        return np.random.Generator(np.random.PCG64(sequence))

    def normals(self, *names: str) -> Singles:
        """[N]"""
        return self.of("driver", *names).standard_normal(self.samples, dtype=np.float32)

    def shocks(self, months: int, *names: str) -> Singles:
        """[months, N] of variance 1."""
        shape = months, self.samples
        drawn = self.of("shocks", *names).integers(0, 65_536, shape, dtype=np.uint16)
        return (drawn.astype(np.float32) - np.float32(32_767.5)) * _UNIT


def draw_paths(processes: Sequence[PriceProcess], months: int, samples: int, seed: int) -> Floats:
    """[process, sample, month] factors on today's prices; month 0 is today and 1 everywhere.

    The same seed gives a process the same paths, whichever others are drawn with it.
    `process.py` has the formula.

    >>> one = PriceProcess("h100", PriceKind.MARKET, "training", shock_sd=0.3)
    >>> alone = draw_paths([one], 3, 2, 1)
    >>> other = PriceProcess("l4", PriceKind.MARKET, "training", shock_sd=0.3)
    >>> alone.shape, bool((draw_paths([other, one], 3, 2, 1)[1] == alone[0]).all())
    ((1, 2, 3), True)
    """
    groups = _Groups(
        family=_numbered([p.family for p in processes]),
        place=_numbered([(p.family, p.place) for p in processes]),
    )
    streams = _Streams(seed, samples)
    drivers, own = _drivers(processes, groups, streams)
    logs = _list_changes(processes, groups, drivers, months, streams)
    _add_resets(logs, processes, groups, own, streams)
    for month in range(2, months):
        logs[month] += logs[month - 1]
    _add_shocks(logs, processes, streams)
    _add_drift(logs, processes, own)
    for i, process in enumerate(processes):
        if process.kind is PriceKind.SPOT:
            np.clip(logs[:, i], *process.bounds, out=logs[:, i])
    paths = np.ascontiguousarray(logs.transpose(1, 2, 0), dtype=np.float64)
    return np.asarray(np.exp(paths, out=paths))  # in float64: processors round it alike to the cent


def _name(process: PriceProcess) -> tuple[str, ...]:
    return process.family, process.kind, process.tier, process.place


def _numbered(keys: Sequence[Hashable]) -> NDArray[np.intp]:
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([order[key] for key in keys], dtype=np.intp)


def _share(common: Singles, family: Singles, own: Singles) -> Singles:
    own *= np.float32(math.sqrt(1.0 - MARKET_SHARE - FAMILY_SHARE))
    own += np.float32(math.sqrt(FAMILY_SHARE)) * family
    own += np.float32(math.sqrt(MARKET_SHARE)) * common
    return own


def _drivers(
    processes: Sequence[PriceProcess], groups: _Groups, streams: _Streams
) -> tuple[Singles, Singles]:
    common = streams.normals("market")
    family = np.stack(
        [streams.normals(name) for name in dict.fromkeys(p.family for p in processes)]
    )
    own = np.stack([streams.normals(*_name(p)) for p in processes])
    both = MARKET_SHARE + FAMILY_SHARE
    driver = np.float32(math.sqrt(FAMILY_SHARE / both)) * family
    driver += np.float32(math.sqrt(MARKET_SHARE / both)) * common
    return driver[groups.family], _share(common, family[groups.family], own)


def _column(values: Sequence[float]) -> Singles:
    return np.array(values, dtype=np.float32)[:, None]


def _add_shocks(logs: Singles, processes: Sequence[PriceProcess], streams: _Streams) -> None:
    moving = [i for i, p in enumerate(processes) if p.shock_sd > 0]
    if not moving:
        return
    months, _, samples = logs.shape
    which = [processes[i] for i in moving]
    common = streams.shocks(months, "market")
    family = {name: streams.shocks(months, name) for name in {p.family for p in which}}
    each = [streams.of("sizes", *_name(p)) for p in which]
    scale = np.stack([r.standard_gamma(SHOCK_SHAPE, samples, dtype=np.float32) for r in each])
    sd = _column([p.shock_sd / math.sqrt(12.0) for p in which])
    scale = sd * np.sqrt(scale / np.float32(SHOCK_SHAPE))
    move = scale * np.stack([r.standard_normal(samples, dtype=np.float32) for r in each])
    momentum = _column([p.momentum for p in which])
    scale *= np.sqrt(1.0 - momentum**2)
    shared = [_share(common, family[p.family], streams.shocks(months, *_name(p))) for p in which]
    state = np.zeros((len(which), samples), dtype=np.float32)
    for month in range(1, months):
        move *= momentum
        move += scale * np.stack([shock[month] for shock in shared])
        state += move
        logs[month, moving] += state


def _add_drift(logs: Singles, processes: Sequence[PriceProcess], own: Singles) -> None:
    slope = _column([p.drift for p in processes]) + _column([p.drift_sd for p in processes]) * own
    for month in range(1, len(logs)):
        logs[month] += slope * np.float32(month / 12.0)


def _add_resets(
    logs: Singles,
    processes: Sequence[PriceProcess],
    groups: _Groups,
    own: Singles,
    streams: _Streams,
) -> None:
    if not any(p.resets_per_year for p in processes):
        return
    months, _, samples = logs.shape
    drawn = MAX_RESETS, samples
    each = [streams.of("resets", *name) for name in _places(processes)]
    clock = np.stack([r.standard_exponential(drawn, dtype=np.float32) for r in each])
    np.cumsum(clock, axis=1, out=clock)
    fresh = np.stack([r.standard_normal(drawn, dtype=np.float32) for r in each])
    half = np.float32(math.sqrt(0.5))
    columns = np.arange(samples)
    for i, (process, place) in enumerate(zip(processes, groups.place, strict=True)):
        before = np.zeros(samples, dtype=np.float32)
        for k in range(MAX_RESETS if process.resets_per_year else 0):
            month = np.maximum(np.ceil(clock[place, k] * (12.0 / process.reset_rate)), 1)
            due = columns[month < months]
            level = process.pull + process.discount_sd * half * (own[i] + fresh[place, k])
            logs[month[due].astype(np.intp), i, due] += (level - before)[due]
            before = level


def _list_changes(
    processes: Sequence[PriceProcess],
    groups: _Groups,
    drivers: Singles,
    months: int,
    streams: _Streams,
) -> Singles:
    count, samples = drivers.shape
    logs = np.zeros((months, count, samples), dtype=np.float32)
    drawn = MAX_CHANGES, samples
    each = [streams.of("changes", *name) for name in _places(processes)]
    clock = np.stack([r.standard_exponential(drawn, dtype=np.float32) for r in each])
    np.cumsum(clock, axis=1, out=clock)
    size = np.stack([r.standard_normal(drawn, dtype=np.float32) for r in each])
    rise = np.stack([r.random(drawn, dtype=np.float32) for r in each])
    doubt = _rate_doubt(processes, groups, samples, each)
    columns = np.arange(samples)
    for i, (process, place) in enumerate(zip(processes, groups.place, strict=True)):
        hazard = process.changes_per_year / 12.0 * driver_hazard(drivers[i])
        rate = doubt[place] * hazard.astype(np.float32)
        for k in range(MAX_CHANGES if process.changes_per_year else 0):
            due = columns[clock[place, k] < rate * np.float32(months - 1)]
            sign = np.where(rise[place, k, due] < process.rise_share, 1.0, -1.0)
            move = sign * size_of_change(process, size[place, k, due])
            month = np.ceil(clock[place, k, due] / rate[due]).astype(np.intp)
            logs[np.clip(month, 1, months - 1), i, due] += move
    return logs


def _places(processes: Sequence[PriceProcess]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((p.family, p.place) for p in processes))


def _rate_doubt(
    processes: Sequence[PriceProcess],
    groups: _Groups,
    samples: int,
    each: Sequence[np.random.Generator],
) -> Singles:
    shapes = np.ones(len(each))
    for process, place in reversed(list(zip(processes, groups.place, strict=True))):
        if process.changes_per_year:
            shapes[place] = process.changes_shape
    rows = zip(each, shapes, strict=True)
    return np.stack([r.standard_gamma(k, samples, dtype=np.float32) / k for r, k in rows])
