"""What an adapter gave, by kind, as tests compare it."""

from collections import Counter
from dataclasses import replace

from pricing.ingest.provider import SkippedRow
from pricing.market.offers import Offer

TPU_HOST = {"vcpus": None, "memory_gib": None}


def offers(rows: list[Offer | SkippedRow]) -> dict[str, Offer]:
    """Offers by id, with what the truth does not state blanked out; no id may come twice."""
    found = [bare(row) for row in rows if isinstance(row, Offer)]
    assert len({offer.id for offer in found}) == len(found)
    return {offer.id: offer for offer in found}


def bare(offer: Offer) -> Offer:
    host = TPU_HOST if offer.accelerator.startswith("google-tpu") else {}
    return replace(offer, source="", sku="", network_gbps=None, **host)


def reasons(rows: list[Offer | SkippedRow]) -> Counter[str]:
    return Counter(row.reason for row in rows if isinstance(row, SkippedRow))
