"""Price processes on the histories that come with them: coverage, errors and speed.

Every move is foretold by a fit on prices seen before its origin. Where prices seldom change, no
change alone is a forecast of far more than 80 %, and p10 to p90 of list prices hold more than
90 %. Where they do, they are judged by `mass`, which counts such a move inside by the part of
that chance that lies within the middle 80 % (see docs/price-processes.md).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from planner.costing.price_processes.draw import draw_paths
from planner.costing.price_processes.fitting import backtest, histories, moves, report
from planner.costing.price_processes.fitting.moves import Moves
from planner.costing.price_processes.process import PriceKind
from planner.costing.price_processes.table import find_process
from tests.bench.row import SHORT, Row

FAMILIES = ("h100", "a100", "l4", "v100")
JUDGED = (PriceKind.LIST, PriceKind.SPOT)
LEAST_MOVES = 20
MONTHS, SAMPLES = 36, 2000


def bench() -> list[Row]:
    """Coverage in per cent against the random walk's; drawing against bare random numbers."""
    known = moves.find_moves(histories.observations(histories.read()))
    rolling = backtest.rolling_origin(known)
    _print("rolling origin, by family", rolling[rolling.kind != PriceKind.HARDWARE])
    _print("rolling origin, by tier", rolling, by="tier")
    if not SHORT:
        judged = _of_kinds(known)
        _print("family held out of the fit", backtest.families_held_out(judged, FAMILIES))
        _print("last year held out of one fit", backtest.last_year_held_out(judged))
    return [*_coverage(rolling), *_errors(rolling), _speed()]


def _of_kinds(known: Moves) -> Moves:
    tables = (known.lagged, known.steps, known.levels)
    return Moves(*(table[table.kind.isin(JUDGED)] for table in tables))


def _print(title: str, scores: pd.DataFrame, by: str = "family") -> None:
    print(title)
    for line in report.lines(scores[scores.fitted & (scores.lag > 6)], by):
        print(f"  {line}")
    print()


def _coverage(scores: pd.DataFrame) -> list[Row]:
    """The bar of every family and kind that has moves enough."""
    rows = []
    for (kind, family, lag), group in scores[scores.fitted].groupby(["kind", "family", "lag"]):
        if kind not in JUDGED or family not in FAMILIES or lag < 12 or len(group) < LEAST_MOVES:
            continue
        share, walk = group.held.mean(), group.walk_held.mean()
        if share > 0.9 and kind == PriceKind.LIST:
            share = group.mass.mean()
        name = f"{family} {kind}, {lag} months: in p10-p90"
        ok = 0.75 <= round(share, 2) <= 0.9
        rows.append(Row(name, 100 * share, 100 * walk, "75-90 %", bool(ok), unit="%"))
    return rows


def _errors(scores: pd.DataFrame) -> list[Row]:
    """CRPS of a kind against the better of no change and a random walk."""
    rows = []
    for kind, group in scores[scores.fitted & (scores.lag == 12)].groupby("kind"):
        if kind not in JUDGED:
            continue
        ours, flat, walk = group.crps.mean(), group.no_change.mean(), group.walk_crps.mean()
        rows.append(
            Row(
                f"{kind}: CRPS of 12 months beside no change",
                ours,
                flat,
                "<= 1.1",
                ours <= 1.1 * flat,
                unit="ln",
            )
        )
        rows.append(
            Row(
                f"{kind}: CRPS of 12 months beside a random walk",
                ours,
                walk,
                "<= 1",
                ours <= walk,
                unit="ln",
            )
        )
    return rows


def _speed() -> Row:
    kinds = (PriceKind.LIST, PriceKind.SPOT, PriceKind.MARKET)
    slugs = ("nvidia-h100-80gb-sxm", "nvidia-a100-80gb-sxm", "nvidia-l4")
    processes = [find_process(slug, kind) for slug in slugs for kind in kinds]
    processes.append(find_process(slugs[0], PriceKind.HARDWARE))
    processes[1] = replace(processes[1], discount=-0.5)
    ours = _cpu_ms(lambda: draw_paths(processes, MONTHS, SAMPLES, np.random.default_rng(7)))
    shape = (len(processes), SAMPLES, MONTHS)
    floor = _cpu_ms(lambda: np.random.default_rng(7).standard_normal(shape))
    return Row("2,000 samples of 36 months of 10 prices", ours, floor, "<= 10 ms", ours <= 10)


def _cpu_ms(work: Callable[[], object], times: int = 15) -> float:
    """Median processor time of `work`, ms: other programs of the machine do not count."""
    work()
    taken = []
    for _ in range(times):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1e3)
    return statistics.median(taken)
