"""Today's lowest price of the accelerators that people ask for most."""

from __future__ import annotations

from dataclasses import dataclass

from pricing import catalog
from pricing.market.accelerators import Accelerator, get
from pricing.market.offers import Offer, PurchaseOption

POPULAR = (
    "nvidia-h100-80gb-sxm",
    "nvidia-h200-141gb-sxm",
    "nvidia-b200",
    "nvidia-a100-80gb-sxm",
    "nvidia-l40s",
    "nvidia-l4",
    "amd-mi300x",
    "google-tpu-v5e",
)
"""The eight accelerators that matter most to teams that train, newest generations first."""


@dataclass(frozen=True)
class Lowest:
    """The cheapest accelerator-hour on demand and on spot; None where nobody sells it so."""

    accelerator: Accelerator
    on_demand: Offer | None
    spot: Offer | None
    on_demand_usd: float | None
    spot_usd: float | None


def find_lowest_price(slug: str, option: PurchaseOption) -> tuple[Offer | None, float | None]:
    """The cheapest offer sold now under an option, and its USD per accelerator-hour."""
    offers = catalog.current().offers
    rows = offers.select(accelerators=[slug], purchase_options=[option.value])
    best = offers.cheapest(rows, 1)
    if not len(best):
        return None, None
    row = int(best[0])
    return offers.offer(row), float(offers.usd_per_accelerator_hour[row])


def lowest_prices() -> list[Lowest]:
    """One row for each popular accelerator, in that order."""
    rows = []
    for slug in POPULAR:
        on_demand, on_demand_usd = find_lowest_price(slug, PurchaseOption.ON_DEMAND)
        spot, spot_usd = find_lowest_price(slug, PurchaseOption.SPOT)
        rows.append(Lowest(get(slug), on_demand, spot, on_demand_usd, spot_usd))
    return rows
