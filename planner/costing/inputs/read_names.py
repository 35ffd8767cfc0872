"""How the accelerators that a request names by a usual name are read. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from planner.contract.labels import cloud_title
from planner.contract.request.comparison import ComparisonRequest
from pricing.market.accelerators import describe_reading, find, other_meanings
from pricing.market.snapshot import Catalog

ABSENT = -1
"""Code of a name that no offer has."""


def tell_readings(request: ComparisonRequest, catalog: Catalog) -> Iterator[str]:
    """A sentence for each name that several accelerators bear, whichever part of the request
    it stands in: as which it is read, and, where the market sells another of them, which of them
    it sells where."""
    for name in dict.fromkeys(filter(None, _names(request))):
        sentence = describe_reading(name)
        if sentence:
            others = [one.slug for one in other_meanings(name)]
            sold = _describe_sold(name, others, catalog) if request.use_catalog else ""
            yield " ".join(filter(None, (sentence, sold)))


def _describe_sold(name: str, others: Sequence[str], catalog: Catalog) -> str:
    """Where the market sells what a name may mean; empty where it sells none of `others`."""
    usual = find(name)
    sellers = {slug: _sellers(slug, catalog) for slug in (usual.slug if usual else "", *others)}
    if not any(sellers[slug] for slug in others):
        return ""
    parts = (f"{slug} at {', '.join(titles)}" for slug, titles in sellers.items() if titles)
    return f"The market sells {'; '.join(parts)}."


def _sellers(slug: str, catalog: Catalog) -> list[str]:
    """Titles of the providers that sell an accelerator, in their order."""
    table = catalog.offers
    code = table.accelerator.code_by_name.get(slug, ABSENT)
    codes = np.unique(table.provider.codes[table.accelerator.codes == code]).tolist()
    return sorted(cloud_title(table.provider.names[one]) for one in codes)


def _names(request: ComparisonRequest) -> Iterator[str | None]:
    limits = request.constraints
    yield request.workload.accelerator
    yield from limits.accelerators or ()
    yield from (quota.accelerator for quota in limits.quotas)
    yield from (offer.accelerator for offer in request.custom_offers)
    yield from (server.accelerator for server in request.on_prem.servers or ())
    yield from (one.accelerator for one in request.existing.commitments)
