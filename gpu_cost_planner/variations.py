"""A comparison for each combination of values, on several processes, resumable."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self

from gpu_cost_planner.planning import plain_values, read_question
from gpu_cost_planner.version import read_version
from planner.comparison import compare
from planner.comparison.sweeps import COLUMNS as FIGURES
from planner.comparison.sweeps import MONEY, Fields, summarize, vary
from planner.contract.answer.common import ScenarioKey
from planner.contract.request.comparison import read_request
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

if TYPE_CHECKING:
    import pandas as pd


LOOK_EVERY_S = 2.0
"""How often a worker looks whether its sweep was killed."""


def run_sweep(
    request: Mapping[str, Any] | str | Path,
    grid: Mapping[str, object],
    market: Market,
    *,
    processes: int | None,
    journal: str | Path | None,
    progress: bool,
    exact: bool,
) -> pd.DataFrame:
    """A row for each combination of the grid's values; see `gpu_cost_planner.sweep`."""
    fields = read_question(request)
    if not isinstance(fields, Mapping):
        raise InvalidInput("", "a sweep varies the fields of a mapping or of a file")
    variations = list_variations(fields, grid)
    keys = [one.key(market.describe(one.request)) for one in variations]
    by_key = dict(zip(keys, variations, strict=True))
    if processes is not None and processes < 1:
        raise InvalidInput("processes", f"{processes} is not allowed; must be at least 1")
    workers = processes or os.cpu_count() or 1
    with Journal(journal) as done, show_progress(progress, len(by_key)) as report:
        missing = {key: one for key, one in by_key.items() if key not in done.rows}
        report(len(by_key) - len(missing))
        for key, row in _compare(missing, market, workers):
            done.add(key, row)
            report(1)
        rows = [done.rows[key] for key in keys]
    return build_frame([one.values for one in variations], rows, exact=exact)


def _compare(
    missing: Mapping[str, Variation], market: Market, processes: int
) -> Iterator[tuple[str, Row]]:
    workers = min(processes, len(missing))
    if workers < 2:
        for key, one in missing.items():
            yield key, market.summarize(one.request)
        return
    # Workers are copies of this process where that is safe: on Linux, with one thread.
    can_fork = sys.platform == "linux" and threading.active_count() == 1
    context = multiprocessing.get_context("fork" if can_fork else "spawn")
    with ProcessPoolExecutor(workers, context, _begin, (market, os.getpid())) as pool:
        pending = {pool.submit(_summarize, one.request): key for key, one in missing.items()}
        try:
            for future in as_completed(pending):
                yield pending[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(market: Market, parent: int) -> None:
    """In a worker: it has the prices, and ends with the sweep, however that ends."""
    market.install()

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_EVERY_S)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


def _summarize(request: Fields) -> Row:
    """In a worker: the row of a request at the prices that the worker was started with."""
    return Market.installed[0].summarize(request)


@dataclass(frozen=True)
class Variation:
    values: Mapping[str, Any]
    """Dotted field → its value here."""
    request: Fields

    def key(self, context: str) -> str:
        """Name of its result in a journal: the same for the same request in the same context."""
        text = json.dumps([context, self.request], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def list_variations(request: Mapping[str, Any], grid: Mapping[str, object]) -> list[Variation]:
    """A request for each combination of the grid's values, the last field varying fastest.

    Raises `InvalidInput` for a field without values, a path that leads nowhere, and a request
    whose fields are refused; what the market refuses is found when it is compared.

    >>> work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 100}
    >>> grid = {"finance.discount_rate_per_year": [0.05, 0.1], "horizon_months": [12]}
    >>> [dict(one.values) for one in list_variations({"workload": work}, grid)]
    [{'finance.discount_rate_per_year': 0.05, 'horizon_months': 12},
     {'finance.discount_rate_per_year': 0.1, 'horizon_months': 12}]
    """
    if not grid:
        raise InvalidInput("grid", "is empty; give at least one field with its values")
    variations = []
    for values, varied in vary(request, {name: _list(name, of) for name, of in grid.items()}):
        read_request(varied)
        variations.append(Variation(values, varied))
    return variations


def _list(field: str, values: Any) -> list[Any]:
    is_list = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    listed = [plain_values(one) for one in values] if is_list else []
    if not listed:
        raise InvalidInput(field, f"{values!r} is no list of values; give at least one")
    return listed


class Journal:
    """Rows by key; use as a context. Without a path nothing is kept."""

    def __init__(self, path: str | Path | None) -> None:
        self._path = None if path is None else Path(path)
        self._file: IO[bytes] | None = None
        self.rows: dict[str, dict[str, Any]] = {}
        """Rows of this and of earlier sweeps that wrote the file, by key."""

    def __enter__(self) -> Self:
        if self._path is not None:
            self._file = self._path.open("a+b")
            self._read(self._file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Keep the row of a comparison that is done."""
        self.rows[key] = row
        if self._file is not None:
            self._file.write(json.dumps([key, row], ensure_ascii=False).encode() + b"\n")
            self._file.flush()

    def _read(self, file: IO[bytes]) -> None:
        file.seek(0)
        end = 0
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                key, row = json.loads(line)
                self.rows[key] = dict(row)
            except (ValueError, TypeError):
                raise InvalidInput(
                    "journal",
                    f"{self._path} line {number} is no line of a journal; name another file",
                ) from None
            end += len(line)
        file.truncate(end)
        file.seek(0, 2)


Row = dict[str, Any]


@dataclass(frozen=True)
class Market:
    """What all comparisons of a sweep are made with."""

    catalog: Catalog
    today: dt.date
    installed: ClassVar[list[Market]] = []
    """In a worker: that of its sweep."""

    def summarize(self, request: Fields) -> Row:
        try:
            return {**summarize(compare(request, self.catalog, today=self.today)), "refused": None}
        except InvalidInput as refusal:
            reasons = "; ".join(str(one) for one in refusal.all())
            return {**dict.fromkeys(COLUMNS), "refused": reasons}

    def install(self) -> None:
        """Make it the one of this process."""
        self.installed[:] = [self]

    def describe(self, request: Fields) -> str:
        """All that an answer depends on besides its request: prices, program, default start."""
        start = "" if request.get("start") else f"{self.today:%Y-%m}"
        return f"{read_version()} {start} {self._digest}"

    @cached_property
    def _digest(self) -> str:
        offers = self.catalog.offers.offers
        prices = [(o.id, str(o.price_per_hour), str(o.upfront), o.sold_now) for o in offers]
        text = repr((prices, self.catalog.exchange_rates.latest))
        return hashlib.sha256(text.encode()).hexdigest()


Report = Callable[[int], object]
"""Takes how many more comparisons are done."""


@contextmanager
def show_progress(is_wanted: bool, total: int) -> Iterator[Report]:
    """Gives what is to be told of each comparison that is done; shows nothing unless wanted."""
    if not is_wanted:
        yield lambda _count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("Comparing", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total)
        yield lambda count: progress.advance(task, count)


COLUMNS = (*FIGURES, "refused")
"""Columns of a sweep after those of the grid."""


def build_frame(
    values: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]], *, exact: bool
) -> pd.DataFrame:
    """A row for each combination: its values, then `COLUMNS`; money `float64` unless `exact`."""
    import pandas as pd

    table, given_values = list(rows), list(values)
    fields = list(given_values[0]) if given_values else []
    columns: dict[str, Any] = {name: [one[name] for one in given_values] for name in fields}
    for name in COLUMNS:
        cells = [row[name] for row in table]
        if name in MONEY:
            amounts = [None if cell is None else Decimal(cell) for cell in cells]
            columns[name] = pd.Series(amounts, dtype="object" if exact else "float64")
        elif name == "confidence":
            columns[name] = pd.Series(cells, dtype="float64")
        elif name == "recommended":
            columns[name] = pd.Categorical(cells, [key.value for key in ScenarioKey])
        else:
            columns[name] = pd.Series(cells, dtype="str")
    return pd.DataFrame(columns)
