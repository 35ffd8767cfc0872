"""A whole comparison in process: 36 months, every scenario, sensitivity in, no risk."""

from __future__ import annotations

import datetime as dt
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from planner.comparison import compare
from pricing.bundled import files
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog
from pricing.publish import history
from tests.bench.row import SHORT, Row

TODAY = dt.date(2026, 11, 20)
BUNDLED_MS, LARGE_MS = 150.0, 300.0
LARGE = 20_000 if SHORT else 200_000
GROWING = [3000 + 700 * month for month in range(36)]


def bundled() -> Catalog:
    """The shipped catalog, without a database."""
    return _catalog(list(history.read_csv(files.FOLDER / files.OFFERS)))


def large(count: int = LARGE) -> Catalog:
    """The shipped offers, repeated in made-up regions at prices up to 20 % away."""
    shipped = list(history.read_csv(files.FOLDER / files.OFFERS))
    random = np.random.Generator(np.random.PCG64(7))
    factors = random.uniform(0.9, 1.2, count)
    offers = [
        _moved(shipped[i % len(shipped)], i // len(shipped), float(factors[i]))
        for i in range(count)
    ]
    return _catalog(offers)


def _moved(offer: Offer, copy: int, factor: float) -> Offer:
    if not copy:
        return offer
    times = Decimal(str(round(factor, 4)))
    return replace(
        offer,
        region=f"{offer.region}-{copy}",
        price_per_hour=offer.price_per_hour * times,
        upfront=offer.upfront * times,
    )


def _catalog(offers: list[Offer]) -> Catalog:
    rates = ExchangeRates.of(files.read_exchange_rates())
    return Catalog.of(offers, regions=files.read_regions(), exchange_rates=rates)


def request(**fields: Any) -> dict[str, Any]:
    hours = {"kind": "accelerator_hours", "accelerator": "H100 SXM", "hours_per_month": GROWING}
    return {"start": "2027-01", "horizon_months": 36, "workload": hours} | fields


REQUESTS = {
    "growing H100 hours": request(),
    "spot at most a fifth": request(constraints={"max_spot_share": 0.2}),
    "T4 with quota and budget": request(
        workload={"kind": "accelerator_hours", "accelerator": "T4", "hours_per_month": 9000},
        constraints={
            "quotas": [{"provider": "aws", "accelerator": "T4", "max_accelerators": 4}],
            "max_spot_share": 0.3,
            "monthly_budget": 5000,
        },
    ),
    "a 7B training, any accelerator": request(
        workload={
            "kind": "training",
            "parameters": 7e9,
            "tokens": 2e11,
            "runs": [{"start": "2027-03", "deadline": "2027-06"}, {"start": "2028-03"}],
        }
    ),
}


def processor_ms(work: Callable[[], object], times: int = 5) -> float:
    """Median processor time of `work`, ms: a comparison runs in one thread, so that on a free
    machine it is the time that a caller waits, and on a busy one still means something."""
    work()
    taken = []
    for _ in range(3 if SHORT else times):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1e3)
    return statistics.median(taken)


def bench() -> list[Row]:
    rows = []
    for name, catalog, hold in (
        ("bundled", bundled(), BUNDLED_MS),
        (f"{LARGE:,} offers", large(), LARGE_MS),
    ):
        for title, asked in REQUESTS.items():
            ours = processor_ms(lambda a=asked, c=catalog: compare(a, c, today=TODAY).to_json())
            label = f"compare, {name}: {title}"
            rows.append(Row(label, ours, hold, f"<= {hold:g} ms", ours <= hold))
    return rows
