"""Joint paths of several prices, with shocks in common. PURE.

One downturn driver is drawn per path: `MARKET_SHARE` of its variance is common to all families,
the rest to the family. It moves λ, μ and a of `process.py`. Monthly shocks share the month's
market shock and the family's in the same way. Shares are assumed, within what the
histories show: of the variance of 12-month moves of GCP spot 15 to 40 % is common to all regions
of a family, and the means of A100, L4 and H100 correlate at 0.2 to 0.9.
"""

from __future__ import annotations

import math
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
_UNIT = np.float32(math.sqrt(12.0) / 65536.0)
"""Turns whole numbers below 65,536 into shocks of variance 1, once their mean is taken off."""


@dataclass(frozen=True)
class _Groups:
    family: NDArray[np.intp]
    place: NDArray[np.intp]


def draw_paths(
    processes: Sequence[PriceProcess], months: int, samples: int, random: np.random.Generator
) -> Floats:
    """[process, sample, month] factors on today's prices; month 0 is today and 1 everywhere.

    The same generator state gives the same paths. `process.py` has the formula.

    >>> one = PriceProcess("h100", PriceKind.MARKET, "training", shock_sd=0.3)
    >>> draw_paths([one], 3, 2, np.random.default_rng(1)).shape
    (1, 2, 3)
    """
    groups = _Groups(
        family=_numbered([p.family for p in processes]),
        place=_numbered([(p.family, p.place) for p in processes]),
    )
    drivers, own = _drivers(groups, samples, random)
    logs = _list_changes(processes, groups, drivers, months, random)
    _add_resets(logs, processes, groups, own, random)
    for month in range(2, months):
        logs[month] += logs[month - 1]
    _add_shocks(logs, processes, groups, random)
    _add_drift(logs, processes, own)
    for i, process in enumerate(processes):
        if process.kind is PriceKind.SPOT:
            np.clip(logs[:, i], *process.bounds, out=logs[:, i])
    paths = np.ascontiguousarray(logs.transpose(1, 2, 0), dtype=np.float64)
    return np.asarray(np.exp(paths, out=paths))  # in float64: processors round it alike to the cent


def _numbered(keys: Sequence[Hashable]) -> NDArray[np.intp]:
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([order[key] for key in keys], dtype=np.intp)


def _share(common: Singles, family: Singles, own: Singles) -> Singles:
    own *= np.float32(math.sqrt(1.0 - MARKET_SHARE - FAMILY_SHARE))
    own += np.float32(math.sqrt(FAMILY_SHARE)) * family
    own += np.float32(math.sqrt(MARKET_SHARE)) * common
    return own


def _drivers(groups: _Groups, samples: int, random: np.random.Generator) -> tuple[Singles, Singles]:
    count = len(groups.family)
    common = random.standard_normal((1, samples), dtype=np.float32)
    family = random.standard_normal((int(groups.family.max()) + 1, samples), dtype=np.float32)
    own = random.standard_normal((count, samples), dtype=np.float32)
    both = MARKET_SHARE + FAMILY_SHARE
    driver = np.float32(math.sqrt(FAMILY_SHARE / both)) * family
    driver += np.float32(math.sqrt(MARKET_SHARE / both)) * common
    return driver[groups.family], _share(common, family[groups.family], own)


def _column(values: Sequence[float]) -> Singles:
    return np.array(values, dtype=np.float32)[:, None]


def _add_shocks(
    logs: Singles, processes: Sequence[PriceProcess], groups: _Groups, random: np.random.Generator
) -> None:
    moving = [i for i, p in enumerate(processes) if p.shock_sd > 0]
    if not moving:
        return
    months, _, samples = logs.shape
    family = _numbered(groups.family[moving].tolist())
    families = int(family.max()) + 1
    scale = random.standard_gamma(SHOCK_SHAPE, (len(moving), samples), dtype=np.float32)
    sd = _column([processes[i].shock_sd / math.sqrt(12.0) for i in moving])
    scale = sd * np.sqrt(scale / np.float32(SHOCK_SHAPE))
    momentum = _column([processes[i].momentum for i in moving])
    state = np.zeros((len(moving), samples), dtype=np.float32)
    move = scale * random.standard_normal((len(moving), samples), dtype=np.float32)
    scale *= np.sqrt(1.0 - momentum**2)
    for month in range(1, months):
        shape = (1 + families + len(moving), samples)
        drawn = random.integers(0, 65_536, shape, dtype=np.uint16).astype(np.float32)
        drawn -= np.float32(32_767.5)
        drawn *= _UNIT
        shock = drawn
        common, of_family, own = shock[:1], shock[1 : 1 + families], shock[1 + families :]
        move *= momentum
        move += scale * _share(common, of_family[family], own)
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
    random: np.random.Generator,
) -> None:
    if not any(p.resets_per_year for p in processes):
        return
    months, _, samples = logs.shape
    drawn = (int(groups.place.max()) + 1, MAX_RESETS, samples)
    clock = np.cumsum(random.standard_exponential(drawn, dtype=np.float32), axis=1)
    fresh = random.standard_normal(drawn, dtype=np.float32)
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
    random: np.random.Generator,
) -> Singles:
    count, samples = drivers.shape
    logs = np.zeros((months, count, samples), dtype=np.float32)
    drawn = (int(groups.place.max()) + 1, MAX_CHANGES, samples)
    clock = np.cumsum(random.standard_exponential(drawn, dtype=np.float32), axis=1)
    size = random.standard_normal(drawn, dtype=np.float32)
    rise = random.random(drawn, dtype=np.float32)
    doubt = _rate_doubt(processes, groups, samples, random)
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


def _rate_doubt(
    processes: Sequence[PriceProcess], groups: _Groups, samples: int, random: np.random.Generator
) -> Singles:
    shapes = np.ones(int(groups.place.max()) + 1)
    for process, place in reversed(list(zip(processes, groups.place, strict=True))):
        if process.changes_per_year:
            shapes[place] = process.changes_shape
    drawn = [random.standard_gamma(shape, samples, dtype=np.float32) / shape for shape in shapes]
    return np.array(drawn, dtype=np.float32)
