"""The whole site under load, in one run: offers, comparisons and plan pages from eight clients.

The requests differ, so that none is answered from what another one left. The floor of a
comparison and of a plan page is what a process alone computes in the same minute: two workers on
two cores should answer nearly twice as many. One worker keeps more than a core busy, as the solver
computes beside the interpreter: what it answers is counted for each core that it used. Memory is
that of the workers after the first quarter of the offers against that at the end.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from planner.comparison import compare
from tests.bench.bench_compare import TODAY, bundled
from tests.bench.row import SHORT, Row, median_ms
from tests.bench.site.served import Call, Load, fill, load, serve, unlimited

SECONDS = 5.0 if SHORT else 20.0
REQUESTS = 400 if SHORT else 10_000
"""Of which memory is to stay flat."""
OFFERS, COMPARISONS, WHOLE, PAGES = 150.0, 1.8, 1.2, 1.0
"""Times the comparisons that one process computes alone in a second of the same run: two workers
on two cores answer nearly twice as many, and a third fewer with what would be cheaper; a page draws
a comparison and what stands beside it."""
P99, MOST_GROWTH, LEAST_OF_TWO = 6.0, 1.05, 1.8
"""P99 over one comparison alone: eight clients on two cores wait for four each."""
FILTERS = ("H100 SXM", "A100 80GB SXM", "L4", "T4")


def request(number: int, **fields: object) -> dict[str, object]:
    """The README's hours of a fleet, a few more each time."""
    hours = {"kind": "accelerator_hours", "accelerator": "H100 SXM"}
    return fields | {
        "start": "2027-01",
        "horizon_months": 36,
        "workload": hours | {"hours_per_month": 3000 + number % 4000},
    }


def offers(number: int) -> Call:
    name = FILTERS[number % len(FILTERS)].replace(" ", "+")
    return Call(f"/api/v1/offers/?accelerator={name}&page_size=20&min_accelerators={number % 3}")


def comparison(number: int) -> Call:
    """An ordinary one, with its range but without what would be cheaper."""
    return Call("/api/v1/comparisons/", json.dumps(request(number, cheaper_if=False)))


def whole_comparison(number: int) -> Call:
    """The same with what each limit costs, which solves it eight times."""
    return Call("/api/v1/comparisons/", json.dumps(request(number)))


def page(number: int) -> Call:
    return Call(
        "/plan/?workload.kind=accelerator_hours&workload.accelerator=nvidia-h100-80gb-sxm"
        f"&workload.hours_per_month={3000 + number}&horizon_months=36"
    )


def bench() -> list[Row]:
    catalog = bundled()
    asked = request(1, cheaper_if=False)
    alone = 1e3 / median_ms(lambda: compare(asked, catalog, today=TODAY).to_json())
    with tempfile.TemporaryDirectory() as folder:
        environment = unlimited(folder)
        token = fill(environment)
        with serve(environment, workers=1) as (port, pid):
            load(port, token, comparison, 2.0)
            before, began = processor_seconds(pid), time.monotonic()
            of_one = load(port, token, comparison, SECONDS)
            cores = (processor_seconds(pid) - before) / (time.monotonic() - began)
        with serve(environment) as (port, pid):
            ask: Callable[[Callable[[int], Call]], Load] = lambda call: load(  # noqa: E731
                port, token, call, SECONDS
            )
            calls = (offers, comparison, whole_comparison, page)
            for call in calls:
                load(port, token, call, 2.0)
            of_offers, of_comparisons, of_whole, of_pages = map(ask, calls)
            load(port, token, offers, 600.0, REQUESTS // 4)
            before = resident_mb(pid)
            load(port, token, offers, 600.0, REQUESTS * 3 // 4)
            after = resident_mb(pid)
    return [
        _at_least("offers", of_offers.per_second, OFFERS, alone),
        _at_least("comparisons", of_comparisons.per_second, COMPARISONS, alone),
        Row(
            f"comparisons of two workers, over one's by core ({cores:.2f})",
            of_comparisons.per_second,
            of_one.per_second / max(1.0, cores),
            f">= {LEAST_OF_TWO} ×",
            of_comparisons.per_second >= LEAST_OF_TWO * of_one.per_second / max(1.0, cores),
            "1/s",
        ),
        Row(
            "comparisons at 8 clients, p99",
            of_comparisons.p99_ms,
            1e3 / alone,
            f"<= {P99:g} ×",
            of_comparisons.p99_ms <= P99 * 1e3 / alone,
        ),
        _at_least("comparisons with cheaper_if", of_whole.per_second, WHOLE, alone),
        _at_least("plan pages", of_pages.per_second, PAGES, alone),
        Row(
            f"memory of the workers over {REQUESTS:,} requests",
            after,
            before,
            f"<= {MOST_GROWTH} ×",
            after <= MOST_GROWTH * before,
            "MB",
        ),
    ]


def _at_least(what: str, per_second: float, least: float, alone: float) -> Row:
    """Requests per second, beside the comparisons that one process computes in a second."""
    held = per_second >= least * alone
    return Row(f"{what} at 8 clients", per_second, alone, f">= {least:g} ×", held, "1/s")


def processor_seconds(pid: int) -> float:
    """What a server's workers have computed so far."""
    fields = [
        Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()
        for worker in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    ]
    return sum(int(ticks) for each in fields for ticks in each[11:13]) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    """Memory of a server's workers, its files apart, after a moment of quiet."""
    time.sleep(2.0)
    workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    lines = [
        line.split()
        for worker in workers
        for line in Path(f"/proc/{worker}/smaps_rollup").read_text().splitlines()
    ]
    return sum(int(line[1]) for line in lines if line[0].startswith("Private_")) / 1024
