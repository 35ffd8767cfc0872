"""Short ways to run the Google Cloud adapter in tests."""

from typing import Any

from pricing.ingest.provider import FetchContext, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.gcp import provider
from tests.pricing.servers.gcp import COMPUTE_ENGINE, GcpServer
from tests.pricing.servers.gcp_skus import OTHERS, Sku
from tests.pricing.servers.gcp_truth import NOW


def context(settings: dict[str, str], **changes: Any) -> FetchContext:
    """A context that never really waits."""
    extra = {"sleep": lambda _seconds: None}
    return FetchContext(settings, NOW, **({"extra": extra} | changes))


def fetched(settings: dict[str, str], **changes: Any) -> list[Offer | SkippedRow]:
    return [
        row
        for row in provider.fetch(context(settings, **changes))
        if isinstance(row, (Offer, SkippedRow))
    ]


def without(server: GcpServer, *names: str) -> None:
    """Leaves some of the odd SKUs out; `"*"`: all of them."""
    texts = {OTHERS[n]["skuId"] for n in (OTHERS if "*" in names else names)}
    for service, skus in server.skus.items():
        server.skus[service] = [one for one in skus if one["skuId"] not in texts]


def add(server: GcpServer, *skus: Sku) -> None:
    server.skus[COMPUTE_ENGINE] = [*server.skus[COMPUTE_ENGINE], *skus]
