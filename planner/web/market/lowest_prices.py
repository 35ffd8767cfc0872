"""Today's lowest price of the accelerators that people ask for most."""

from __future__ import annotations

from dataclasses import dataclass

from planner.contract.labels import join_place, name_region
from pricing import catalog
from pricing.market.accelerators import Accelerator, get
from pricing.market.offer_table import OfferTable, Rows
from pricing.market.offers import Offer, PurchaseOption
from pricing.market.places import is_local_zone
from pricing.market.snapshot import Catalog, Region

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
    on_demand_place: str
    """Where it is sold on demand, as people say it."""
    spot_place: str
    """Where it is sold on spot, as people say it."""


def name_place(offer: Offer | None, known: Catalog) -> str:
    """`AWS US East (N. Virginia)`; empty where there is no offer."""
    if offer is None:
        return ""
    region = known.region(offer.provider, offer.region)
    return join_place(offer.provider, region_title(region, offer.region))


def region_title(region: Region | None, name: str) -> str:
    """What people call a region; the id itself where it is not known."""
    return name_region(name, region.name, region.city) if region else name_region(name)


def find_lowest_price(
    offers: OfferTable, slug: str, option: PurchaseOption
) -> tuple[Offer | None, float | None]:
    """The cheapest offer sold now under an option, and its USD per accelerator-hour."""
    return cheapest_of(offers, offers.select(accelerators=[slug], purchase_options=[option.value]))


def cheapest_of(offers: OfferTable, rows: Rows) -> tuple[Offer | None, float | None]:
    """The cheapest of some offers, in a region rather than a zone beside one, and its USD per
    accelerator-hour."""
    best = offers.cheapest(rows, 1)
    if not len(best):
        return None, None
    price = float(offers.usd_per_accelerator_hour[best[0]])
    cheapest = rows[offers.usd_per_accelerator_hour[rows] <= price]
    equally_cheap = [offers.offer(int(row)) for row in cheapest]
    return min(equally_cheap, key=lambda offer: is_local_zone(offer.region)), price


def lowest_prices() -> list[Lowest]:
    """One row for each popular accelerator, in that order."""
    known = catalog.current()
    return [_find_lowest(slug, known) for slug in POPULAR]


def _find_lowest(slug: str, known: Catalog) -> Lowest:
    on_demand, on_demand_usd = find_lowest_price(known.offers, slug, PurchaseOption.ON_DEMAND)
    spot, spot_usd = find_lowest_price(known.offers, slug, PurchaseOption.SPOT)
    return Lowest(
        get(slug),
        on_demand,
        spot,
        on_demand_usd,
        spot_usd,
        name_place(on_demand, known),
        name_place(spot, known),
    )
