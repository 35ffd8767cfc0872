"""Short ways to run the Azure adapter in tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from pricing.ingest.provider import FetchContext, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.azure import provider
from tests.pricing.servers.azure_truth import NOW, VMS

WITHOUT_SOURCE = {"source": "", "sku": "", "network_gbps": None}


def context(settings: dict[str, str], **changes: Any) -> FetchContext:
    """A context that never really waits."""
    extra = {"sleep": lambda _seconds: None}
    known = tuple(sorted({vm.region for vm in VMS}))
    return FetchContext(settings, NOW, **({"extra": extra, "known_regions": known} | changes))


def bare(offer: Offer) -> Offer:
    return replace(offer, **WITHOUT_SOURCE)


def fetched(settings: dict[str, str], **changes: Any) -> list[Offer | SkippedRow]:
    return [
        row
        for row in provider.fetch(context(settings, **changes))
        if isinstance(row, (Offer, SkippedRow))
    ]


def offers(rows: list[Offer | SkippedRow]) -> dict[str, Offer]:
    """Offers by id, with what the truth does not state blanked out; no id may come twice."""
    found = [bare(row) for row in rows if isinstance(row, Offer)]
    assert len({offer.id for offer in found}) == len(found)
    return {offer.id: offer for offer in found}


def reasons(rows: list[Offer | SkippedRow]) -> Counter[str]:
    return Counter(row.reason for row in rows if isinstance(row, SkippedRow))
