"""A comparison for each combination of values, on several processes, resumable."""

from __future__ import annotations

import datetime as dt
import hashlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from gpu_cost_planner.planning import read_file
from gpu_cost_planner.sweeps.grid import Fields, Variation, list_variations
from gpu_cost_planner.sweeps.journal import Journal
from gpu_cost_planner.sweeps.progress import show_progress
from gpu_cost_planner.sweeps.summary import build_frame, refuse, summarize
from gpu_cost_planner.version import read_version
from planner.comparison import compare
from planner.contract.answer.comparison import VERSION
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]


@dataclass(frozen=True)
class Market:
    """What all comparisons of a sweep are made with."""

    catalog: Catalog
    today: dt.date
    installed: ClassVar[list[Market]] = []
    """In a worker: that of its sweep."""

    def summarize(self, request: Fields) -> Row:
        """The row of a request, or of its refusal."""
        try:
            return summarize(compare(request, self.catalog, today=self.today))
        except InvalidInput as refusal:
            return refuse("; ".join(str(one) for one in refusal.all()))

    def install(self) -> None:
        """Make it the one of this process."""
        self.installed[:] = [self]

    def describe(self, request: Fields) -> str:
        """All that an answer depends on besides its request: prices, program, default start."""
        start = "" if request.get("start") else f"{self.today:%Y-%m}"
        return f"{VERSION} {read_version()} {start} {self._digest}"

    @cached_property
    def _digest(self) -> str:
        """SHA-256 of every price and of the rates that convert them."""
        offers = self.catalog.offers.offers
        prices = [(o.id, str(o.price_per_hour), str(o.upfront), o.sold_now) for o in offers]
        text = repr((prices, self.catalog.exchange_rates.latest))
        return hashlib.sha256(text.encode()).hexdigest()


def run_sweep(
    request: Mapping[str, Any] | str | Path,
    grid: Mapping[str, Sequence[Any]],
    market: Market,
    *,
    processes: int | None,
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
    with Journal(journal) as done, show_progress(progress, len(by_key)) as report:
        missing = {key: one for key, one in by_key.items() if key not in done.rows}
        report(len(by_key) - len(missing))
        for key, row in _compare_all(missing, market, _count_processes(processes)):
            done.add(key, row)
            report(1)
        rows = [done.rows[key] for key in keys]
    return build_frame([one.values for one in variations], rows, floats=floats)


def _count_processes(processes: int | None) -> int:
    if processes is None:
        return os.cpu_count() or 1
    if processes < 1:
        raise InvalidInput("processes", f"{processes} is not allowed; must be at least 1")
    return processes


def _compare_all(
    missing: Mapping[str, Variation], market: Market, processes: int
) -> Iterator[tuple[str, Row]]:
    """Key and row of each variation, as they are done."""
    workers = min(processes, len(missing))
    if workers < 2:
        for key, one in missing.items():
            yield key, market.summarize(one.request)
        return
    with ProcessPoolExecutor(workers, _context(), market.install) as pool:
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


def _summarize(request: Fields) -> Row:
    """In a worker: the row of a request at the prices that the worker was started with."""
    return Market.installed[0].summarize(request)
