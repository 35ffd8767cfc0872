"""What the first live list of a provider is held against in an empty database: the bundled one."""

from __future__ import annotations

from pathlib import Path

from pricing.market.offer_files import read_csv
from pricing.market.offers import Offer

BUNDLED_OFFERS = Path(__file__).parents[1] / "data" / "offers.csv.zst"


def read_expected_offers(provider: str) -> list[Offer]:
    """The bundled offers of `provider`; none for one that is not bundled."""
    return [one for one in read_csv(BUNDLED_OFFERS) if one.provider == provider]
