"""How the accelerators that a request names by a usual name are read. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from planner.contract.request.comparison import ComparisonRequest
from pricing.market.accelerators import describe_reading


def tell_readings(request: ComparisonRequest) -> Iterator[str]:
    """A sentence for each name that several accelerators bear, whichever part of the request
    it stands in."""
    for name in dict.fromkeys(filter(None, _names(request))):
        sentence = describe_reading(name)
        if sentence:
            yield sentence


def _names(request: ComparisonRequest) -> Iterator[str | None]:
    limits = request.constraints
    yield request.workload.accelerator
    yield from limits.accelerators or ()
    yield from (quota.accelerator for quota in limits.quotas)
    yield from (offer.accelerator for offer in request.custom_offers)
    yield from (server.accelerator for server in request.on_prem.servers or ())
    yield from (one.accelerator for one in request.existing.commitments)
