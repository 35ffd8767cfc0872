"""Short ways to run the Azure adapter in tests."""

from typing import Any

from pricing.ingest.provider import FetchContext, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.azure import provider
from tests.pricing.servers.azure_truth import NOW, VMS


def context(settings: dict[str, str], **changes: Any) -> FetchContext:
    """A context that never really waits."""
    extra = {"sleep": lambda _seconds: None}
    known = tuple(sorted({vm.region for vm in VMS}))
    return FetchContext(settings, NOW, **({"extra": extra, "known_regions": known} | changes))


def fetched(settings: dict[str, str], **changes: Any) -> list[Offer | SkippedRow]:
    return [
        row
        for row in provider.fetch(context(settings, **changes))
        if isinstance(row, (Offer, SkippedRow))
    ]
