"""The library in a fresh process, and sweeps: against single comparisons, and on two processes.

The first rows are processor time of processes of their own; the last is wall time, which only a
quiet machine of two processors or more tells truly.
"""

import datetime as dt
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from gpu_cost_planner import compare, sweep
from gpu_cost_planner.variations import list_variations
from pricing.bundled.catalog import bundled_catalog
from tests.bench.row import SHORT, Row

TODAY = dt.date(2026, 11, 20)
MAX_IMPORT_MS = 500.0
MAX_FIRST_MS = 2000.0
MAX_OVERHEAD = 1.15
MIN_SPEEDUP = 1.7
HOURS = 20 if SHORT else 100
RATES = 2 if SHORT else 20
REQUEST: dict[str, Any] = {
    "start": "2027-01",
    "horizon_months": 24,
    "sensitivity": False,
    "cheaper_if": False,
    "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 1},
}
_FRESH = """
import json, time
began = time.process_time()
from gpu_cost_planner import compare
imported = time.process_time()
work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840}
compare({"start": "2027-01", "workload": work})
print(json.dumps([imported - began, time.process_time() - began]))
"""


def bench() -> list[Row]:
    return [*_fresh(), *_sweeps()]


def _fresh() -> list[Row]:
    done = subprocess.run(
        [sys.executable, "-c", _FRESH], capture_output=True, text=True, check=True
    )
    imported, first = (1e3 * seconds for seconds in json.loads(done.stdout))
    return [
        Row("import in a fresh process", imported, MAX_IMPORT_MS, "≤ 500 ms",
            imported <= MAX_IMPORT_MS),
        Row("first comparison in a fresh process", first, MAX_FIRST_MS, "≤ 2 s",
            first <= MAX_FIRST_MS),
    ]  # fmt: skip


def _sweeps() -> list[Row]:
    """2,000 comparisons, in the long form."""
    grid = {
        "workload.hours_per_month": [100 * n for n in range(1, HOURS + 1)],
        "finance.discount_rate_per_year": [n / 200 for n in range(RATES)],
    }
    requests = [one.request for one in list_variations(REQUEST, grid)]
    compare(requests[0], today=TODAY)
    single, _ = _seconds(lambda: [compare(one, today=TODAY) for one in requests])
    one, one_wall = _seconds(lambda: _sweep(grid, 1))
    _, two = _seconds(lambda: _sweep(grid, 2))
    count = len(requests)
    return [
        Row(f"sweep of {count} on one process, to single ones", one, single, "≤ 1.15 ×",
            one <= MAX_OVERHEAD * single, "s"),
        Row(f"sweep of {count} on two processes, to one", two, one_wall, "≥ 1.7 × as fast",
            one_wall >= MIN_SPEEDUP * two, "s"),
    ]  # fmt: skip


def _sweep(grid: dict[str, list[Any]], processes: int) -> None:
    frame = sweep(REQUEST, grid, catalog=bundled_catalog(), today=TODAY, processes=processes)
    assert frame["recommended"].notna().all()


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Processor time of this process and wall time, s."""
    began, began_wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - began, time.perf_counter() - began_wall
