"""What one fetch brought: the only thing that is checked and published. PURE."""

from __future__ import annotations

import datetime as dt
import hashlib
import heapq
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TypedDict

import zstandard

from pricing.common.amounts import quantize
from pricing.common.tables import group
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offer_rows import OFFER_COLUMNS, from_row, read_csv, to_row
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
    """live or bundled."""
    skipped: tuple[SkippedRow, ...] = ()
    not_read: tuple[NotRead, ...] = ()
    regions: tuple[str, ...] = ()
    """The fetch was limited to these regions; empty means all."""
    warnings: tuple[str, ...] = field(default=())


def digest_offers(offers: Iterable[Offer]) -> str:
    """SHA-256 over offers without their dates: equal for two fetches without a change."""
    names = [name for name in OFFER_COLUMNS if name not in ("as_of", "absent_since")]
    lines = sorted(repr(tuple(row[name] for name in names)) for row in map(to_row, offers))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def group_batches(offers: Iterable[Offer], origin: str) -> list[OfferBatch]:
    """One batch for each provider, as of its newest price."""
    by_provider = group((offer.provider, offer) for offer in offers)
    return [
        OfferBatch(name, tuple(rows), max(o.as_of for o in rows if o.as_of), origin)
        for name, rows in sorted(by_provider.items())
    ]


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


def pack(offers: Iterable[Offer]) -> bytes:
    """Offers as compressed JSON, to be quarantined."""
    rows = [list(to_row(offer).values()) for offer in offers]
    return zstandard.compress(json.dumps([OFFER_COLUMNS, *rows]).encode())


def unpack(payload: bytes) -> tuple[Offer, ...]:
    columns, *rows = json.loads(zstandard.decompress(payload))
    return tuple(from_row(dict(zip(columns, row, strict=True))) for row in rows)


MAX_PRICE_CHANGES = 10


@dataclass(frozen=True)
class PriceChange:
    """One price before and after, upfront spread in, in its own currency per hour."""

    offer_id: str
    before: str
    after: str
    currency: str
    ratio: float


@dataclass(frozen=True)
class Changes:
    """Offers by what became of them; every offer before or after counts once."""

    added: int = 0
    gone: int = 0
    dearer: int = 0
    cheaper: int = 0
    changed: int = 0
    """Same price, but another machine type, SKU, source, currency or availability."""
    unchanged: int = 0
    moves: tuple[PriceChange, ...] = ()
    """The ten largest moves, up or down."""


def compare_offers(before: Mapping[str, Offer], after: Sequence[Offer]) -> Changes:
    """What `after` changes against `before` (offer id → offer).

    >>> from decimal import Decimal
    >>> from fractions import Fraction
    >>> from pricing.market.offers import PurchaseOption
    >>> def offer(price): return Offer("aws", "us-east-1", "p5.48xlarge", "h100", Fraction(8),
    ...                                PurchaseOption.ON_DEMAND, Decimal(price))
    >>> changes = compare_offers({offer("98.32").id: offer("98.32")}, [offer("55.04")])
    >>> changes.cheaper, changes.moves[0].before, changes.moves[0].after
    (1, '98.32', '55.04')
    """
    counts = {"added": 0, "dearer": 0, "cheaper": 0, "changed": 0, "unchanged": 0}
    price_changes: list[tuple[float, Offer, Offer]] = []
    for offer in after:
        old = before.get(offer.id)
        kind = "added" if old is None else _classify_change(old, offer)
        counts[kind] += 1
        if old is not None and kind in ("dearer", "cheaper"):
            prices = float(old.effective_price_per_hour), float(offer.effective_price_per_hour)
            ratio = abs(math.log(prices[1] / prices[0])) if all(prices) else math.inf
            price_changes.append((ratio, old, offer))
    gone = len(before) - (len(after) - counts["added"])
    largest_changes = heapq.nlargest(MAX_PRICE_CHANGES, price_changes, key=itemgetter(0))
    return Changes(
        gone=gone,
        moves=tuple(
            PriceChange(
                new.id,
                f"{quantize(old.effective_price_per_hour):f}",
                f"{quantize(new.effective_price_per_hour):f}",
                new.currency,
                round(float(new.effective_price_per_hour / old.effective_price_per_hour), 6)
                if old.effective_price_per_hour
                else math.inf,
            )
            for _, old, new in largest_changes
        ),
        **counts,
    )


def _classify_change(old: Offer, new: Offer) -> str:
    if old is new:
        return "unchanged"
    if old.currency == new.currency:
        if old.price_per_hour != new.price_per_hour or old.upfront != new.upfront:
            if new.effective_price_per_hour == old.effective_price_per_hour:
                return "changed"
            is_dearer = new.effective_price_per_hour > old.effective_price_per_hour
            return "dearer" if is_dearer else "cheaper"
        if _get_other_fields(old) == _get_other_fields(new):
            return "unchanged"
    return "changed"


_get_other_fields = attrgetter(
    *("sold_now", "accelerator", "accelerator_count", "vcpus", "memory_gib", "network_gbps"),
    *("sku", "source"),
)
"""What may change of an offer while its id and price do not."""


BUNDLED_OFFERS = Path(__file__).parents[1] / "data" / "offers.csv.zst"


def read_expected_offers(provider: str) -> list[Offer]:
    """The bundled offers of `provider`; none for one that is not bundled."""
    return [one for one in read_csv(BUNDLED_OFFERS) if one.provider == provider]
