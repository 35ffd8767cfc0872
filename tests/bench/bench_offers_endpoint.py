"""The offers endpoint against the floor view of `offers_server`: requests per second and p99.

Both are served by the same two workers over the bundled catalog, asked by the same clients with
the same token, in turns.
"""

from __future__ import annotations

import statistics
import tempfile

from tests.bench.row import SHORT, Row
from tests.bench.site.served import Call, Load, fill, load, serve, unlimited

SECONDS = 2.0 if SHORT else 6.0
ROUNDS = 1 if SHORT else 3
OFFERS = (
    "/api/v1/offers/?accelerator=nvidia-a100-80gb-sxm&min_accelerators=8&page_size=20"
    "&ordering=usd_per_accelerator_hour"
)
FLOOR = "/floor/"
HOLD_RATE, HOLD_P99 = 0.6, 2.0


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        environment = unlimited(folder)
        token = fill(environment)
        with serve(environment, "tests.bench.site.offers_server:application") as (port, _):
            ours, floor = _measured(port, token)
    return [
        Row(
            "offers endpoint, requests per second",
            ours.per_second,
            floor.per_second,
            f">= {HOLD_RATE}",
            ours.per_second >= HOLD_RATE * floor.per_second,
            "1/s",
        ),
        Row(
            "offers endpoint, p99",
            ours.p99_ms,
            floor.p99_ms,
            f"<= {HOLD_P99}",
            ours.p99_ms <= HOLD_P99 * floor.p99_ms,
        ),
    ]


def _measured(port: int, token: str) -> tuple[Load, Load]:
    """Medians over rounds in which both take turns."""
    found: dict[str, list[Load]] = {OFFERS: [], FLOOR: []}
    for path in found:
        load(port, token, lambda _, path=path: Call(path), 1.0)
    for _ in range(ROUNDS):
        for path, results in found.items():
            results.append(load(port, token, lambda _, path=path: Call(path), SECONDS))
    ours, floor = (
        Load(
            statistics.median(one.per_second for one in results),
            statistics.median(one.p99_ms for one in results),
        )
        for results in found.values()
    )
    return ours, floor
