"""A comparison for each combination of values, on several processes or machines, resumable."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.planning import read_file
from gpu_cost_planner.sweeps.grid import Fields, Variation, list_variations
from gpu_cost_planner.sweeps.journal import Journal
from gpu_cost_planner.sweeps.market import Market, Row
from gpu_cost_planner.sweeps.needs import check_celery
from gpu_cost_planner.sweeps.progress import show_progress
from gpu_cost_planner.sweeps.summary import build_frame
from pricing.common.invalid_input import InvalidInput

if TYPE_CHECKING:
    import pandas as pd


LOOK_EVERY_S = 2.0
"""How often a worker looks whether its sweep was killed."""


def run_sweep(
    request: Mapping[str, Any] | str | Path,
    grid: Mapping[str, Sequence[Any]],
    market: Market,
    *,
    processes: int | None,
    broker: str | None,
    journal: str | Path | None,
    progress: bool,
    floats: bool,
) -> pd.DataFrame:
    """A row for each combination of the grid's values; see `gpu_cost_planner.sweep`."""
    fields = read_file(request)
    if not isinstance(fields, Mapping):
        raise InvalidInput("", "a sweep varies the fields of a mapping or of a file")
    variations = list_variations(fields, grid)
    keys = [one.key(market.describe(one.request)) for one in variations]
    by_key = dict(zip(keys, variations, strict=True))
    compare_all = _choose_workers(market, processes, broker)
    with Journal(journal) as done, show_progress(progress, len(by_key)) as report:
        missing = {key: one for key, one in by_key.items() if key not in done.rows}
        report(len(by_key) - len(missing))
        for key, row in compare_all(missing):
            done.add(key, row)
            report(1)
        rows = [done.rows[key] for key in keys]
    return build_frame([one.values for one in variations], rows, floats=floats)


def _choose_workers(
    market: Market, processes: int | None, broker: str | None
) -> Callable[[Mapping[str, Variation]], Iterator[tuple[str, Row]]]:
    """Processes of this machine, or the workers that a broker reaches."""
    if broker is None:
        return partial(_compare_here, market=market, processes=_count_processes(processes))
    if processes is not None:
        raise InvalidInput("processes", "goes without a broker, whose workers have their own")
    check_celery("broker")
    from gpu_cost_planner.sweeps.cluster import compare_on_workers

    return partial(compare_on_workers, market=market, broker=broker)


def _count_processes(processes: int | None) -> int:
    if processes is None:
        return os.cpu_count() or 1
    if processes < 1:
        raise InvalidInput("processes", f"{processes} is not allowed; must be at least 1")
    return processes


def _compare_here(
    missing: Mapping[str, Variation], market: Market, processes: int
) -> Iterator[tuple[str, Row]]:
    """Key and row of each variation, as they are done."""
    workers = min(processes, len(missing))
    if workers < 2:
        for key, one in missing.items():
            yield key, market.summarize(one.request)
        return
    with ProcessPoolExecutor(workers, _context(), _begin, (market, os.getpid())) as pool:
        pending = {pool.submit(_summarize, one.request): key for key, one in missing.items()}
        try:
            for future in as_completed(pending):
                yield pending[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _context() -> BaseContext:
    """Workers are copies of this process where that is safe: on Linux, with one thread."""
    can_fork = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if can_fork else "spawn")


def _begin(market: Market, parent: int) -> None:
    """In a worker: it has the prices, and ends with the sweep, however that ends."""
    market.install()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os._exit(1)


def _summarize(request: Fields) -> Row:
    """In a worker: the row of a request at the prices that the worker was started with."""
    return Market.installed[0].summarize(request)
