"""What storage and egress cost, by provider and region, where it is known. PURE.

Kinds: `object` and `block` (balanced SSD), `block_ssd`, per GiB and month; `egress` to the
internet, per GiB, by what has gone out in the month. A price that is not known is absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pricing.common.tables import group, read_table

TABLE = Path(__file__).with_name("storage_prices.csv")


@dataclass(frozen=True)
class StoragePrice:
    """One rate; `region` is empty where it holds for the whole provider."""

    provider: str
    region: str
    kind: str
    above_gib: float
    """GiB in the month above which the rate holds; 0 for the first."""
    price: float
    """`currency` per GiB and month, or per GiB of egress."""
    currency: str
    as_of: str
    source: str


def find_rates(provider: str, region: str, kind: str) -> tuple[StoragePrice, ...]:
    """The rates of a region, lowest tier first; the provider's own where the region has none.

    Empty where nothing is known: a caller then takes its own default and says so.
    """
    table = _rates_by_region()
    return table.get((provider, region, kind)) or table.get((provider, "", kind)) or ()


def tiered_cost(tiers: tuple[StoragePrice, ...], gib: float) -> float:
    """Cost of `gib` over `tiers`: each GiB at the rate of its tier.

    >>> tiers = tuple(StoragePrice("gcp", "", "egress", above, price, "USD", "", "")
    ...               for above, price in ((0, 0.12), (1024, 0.11)))
    >>> round(tiered_cost(tiers, 2048), 2)
    235.52
    """
    upper_bounds = [*(rate.above_gib for rate in tiers[1:]), float("inf")]
    tiers_with_bounds = zip(tiers, upper_bounds, strict=True)
    return sum(
        rate.price * max(0.0, min(gib, upper_bound) - rate.above_gib)
        for rate, upper_bound in tiers_with_bounds
    )


@cache
def _rates_by_region() -> dict[tuple[str, str, str], tuple[StoragePrice, ...]]:
    rows = read_table(TABLE, StoragePrice)
    grouped = group([((one.provider, one.region, one.kind), one) for one in rows])
    return {k: tuple(sorted(v, key=lambda rate: rate.above_gib)) for k, v in grouped.items()}
