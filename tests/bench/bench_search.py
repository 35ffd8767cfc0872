"""Searching offers for "8 × A100 80 GB", the 20 cheapest, against a bare numpy mask; at 50,000 and
2,000,000 rows."""

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from pricing.market.offer_table import CodedColumn, OfferTable
from pricing.market.offers import Offer
from tests.bench.row import SHORT, Row, median_ms

SIZES = (20_000, 200_000) if SHORT else (50_000, 2_000_000)
TOP = 20
ACCELERATORS = tuple(f"accelerator-{n}" for n in range(60))
WANTED = 7
ROWS_WANTED = 800
"""Offers of the accelerator that is looked for, the same in a small and a large catalog."""


class Nowhere(Sequence[Offer]):
    """Stands for offers that a search does not look at."""

    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, row: int) -> Offer: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Offer]: ...
    def __getitem__(self, row: Any) -> Any:
        raise IndexError(row)


def table(size: int, wanted: int | None = None) -> OfferTable:
    """`size` offers in random order; `wanted` of them of the accelerator that is looked for, by
    default as many as of any other."""
    draw = np.random.default_rng(size)
    codes = draw.integers(0, len(ACCELERATORS), size).astype(np.int32)
    if wanted is not None:
        codes[codes == WANTED] = WANTED + 1
        codes[draw.choice(size, wanted, replace=False)] = WANTED
    count = draw.choice([1.0, 2.0, 4.0, 8.0], size)
    price = draw.uniform(1, 100, size)
    few = draw.integers(0, 10, size).astype(np.int32)
    names = tuple(str(n) for n in range(10))
    coded = CodedColumn(names, few)
    return OfferTable(
        offers=Nowhere(size),
        provider=coded,
        region=coded,
        geography=coded,
        instance_type=coded,
        accelerator=CodedColumn(ACCELERATORS, codes),
        purchase_option=CodedColumn(names, few),
        accelerator_count=count,
        accelerator_memory_gib=np.full(size, 80.0),
        interconnect=coded,
        usd_per_hour=price * count,
        upfront_usd=np.zeros(size),
        effective_usd_per_hour=price * count,
        usd_per_accelerator_hour=price,
        term_months=np.zeros(size, dtype=np.int32),
        sold_now=draw.random(size) < 0.9,
        as_of_day=np.zeros(size, dtype=np.int64),
    )


def search(offers: OfferTable) -> np.ndarray:
    rows = offers.select(accelerators=[ACCELERATORS[WANTED]], min_accelerators_per_node=8)
    return offers.cheapest(rows, TOP)


def bare_mask(offers: OfferTable) -> np.ndarray:
    """The floor: one mask over whole integer-coded columns, then the least prices."""
    mask = (offers.accelerator.codes == WANTED) & (offers.accelerator_count >= 8) & offers.sold_now
    rows = np.flatnonzero(mask)
    prices = offers.usd_per_accelerator_hour[rows]
    best = np.argpartition(prices, TOP)[:TOP] if len(rows) > TOP else np.arange(len(rows))
    return rows[best[np.argsort(prices[best])]]


def bench() -> list[Row]:
    rows = []
    for size in SIZES:
        offers = table(size)
        if not np.array_equal(search(offers), bare_mask(offers)):
            raise RuntimeError("the search and its floor find different offers")
        ours, floor = _ms(lambda o=offers: search(o)), _ms(lambda o=offers: bare_mask(o))
        hold = 1.5 * floor + 0.1
        rows.append(Row(f"search {size:,} offers", ours, floor, "<= 1.5 x + 0.1 ms", ours <= hold))
    small, large = (_ms(lambda o=table(size, ROWS_WANTED): search(o)) for size in SIZES)
    name = f"lookup of {ROWS_WANTED} among {SIZES[1]:,}, against {SIZES[0]:,}"
    rows.append(Row(name, large, small, "<= 1.3 x", large <= 1.3 * small))
    return rows


def _ms(work: Callable[[], object]) -> float:
    """Milliseconds of one call, from a hundred together: one is too short to time."""
    return median_ms(lambda: [work() for _ in range(100)]) / 100
