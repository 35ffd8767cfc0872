"""What one fetch brought: the only thing that is checked and published. PURE.

A batch is either published whole as one revision, held whole, or refused whole.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

import zstandard

from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offer_rows import OFFER_COLUMNS, from_row, to_row
from pricing.market.offers import Offer

EXAMPLES = 10
"""Details kept for each reason of skipped rows; the count is always whole."""


@dataclass(frozen=True)
class OfferBatch:
    """Every offer of one provider as one fetch, or one file, gave them."""

    provider: str
    offers: tuple[Offer, ...]
    as_of: dt.date
    """Day on which the provider was read, or of the newest price in a file."""
    origin: str = "live"
    """live, replayed or bundled."""
    skipped: tuple[SkippedRow, ...] = ()
    not_read: tuple[NotRead, ...] = ()
    regions: tuple[str, ...] = ()
    """The fetch was limited to these regions; empty means all."""
    warnings: tuple[str, ...] = field(default=())

    @property
    def digest(self) -> str:
        """SHA-256 over the offers without their dates: equal for two fetches without a change."""
        lines = sorted(repr(_drop_date(offer)) for offer in self.offers)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


class ReasonCount(TypedDict):
    """How many rows were left out for one reason, and what the most frequent of them were."""

    count: int
    examples: dict[str, int]
    """Detail → rows with it, at most `EXAMPLES`."""


def group_by_reason(rows: Iterable[SkippedRow]) -> dict[str, ReasonCount]:
    """Count and the most frequent details of each reason, the most frequent reason first.

    >>> rows = [SkippedRow("unknown accelerator", "X9"), SkippedRow("unknown accelerator")]
    >>> group_by_reason(rows)
    {'unknown accelerator': {'count': 2, 'examples': {'X9': 1}}}
    """
    details: dict[str, Counter[str]] = {}
    for row in rows:
        details.setdefault(row.reason, Counter())[row.detail[:200]] += 1
    ordered = sorted(details.items(), key=lambda item: -item[1].total())
    return {
        reason: {
            "count": details_count.total(),
            "examples": {text: n for text, n in details_count.most_common(EXAMPLES) if text},
        }
        for reason, details_count in ordered
    }


def pack(batch: OfferBatch) -> bytes:
    """The batch as compressed JSON, to be held whole."""
    document = {
        "provider": batch.provider,
        "as_of": batch.as_of.isoformat(),
        "origin": batch.origin,
        "offers": [list(to_row(offer).values()) for offer in batch.offers],
        "skipped": [[row.reason, row.detail] for row in batch.skipped],
        "not_read": [
            [p.reason, p.purchase_options, p.regions, p.instance_types, p.availability_only]
            for p in batch.not_read
        ],
        "regions": batch.regions,
        "warnings": batch.warnings,
    }
    return zstandard.compress(json.dumps(document).encode())


def unpack(payload: bytes) -> OfferBatch:
    """The batch that `pack` made."""
    document = json.loads(zstandard.decompress(payload))
    return OfferBatch(
        provider=document["provider"],
        offers=tuple(
            from_row(dict(zip(OFFER_COLUMNS, o, strict=True))) for o in document["offers"]
        ),
        as_of=dt.date.fromisoformat(document["as_of"]),
        origin=document["origin"],
        skipped=tuple(SkippedRow(*row) for row in document["skipped"]),
        not_read=tuple(
            # Batches of former versions have no `availability_only`.
            NotRead(reason, tuple(options), tuple(regions), tuple(types), *availability_only)
            for reason, options, regions, types, *availability_only in document["not_read"]
        ),
        regions=tuple(document["regions"]),
        warnings=tuple(document["warnings"]),
    )


def _drop_date(offer: Offer) -> tuple[object, ...]:
    values = dict(zip(OFFER_COLUMNS, to_row(offer).values(), strict=True))
    del values["as_of"]
    return tuple(values.values())
