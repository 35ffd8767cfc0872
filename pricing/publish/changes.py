"""What changed from one revision to the next. PURE."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from operator import attrgetter, itemgetter

from pricing.common.amounts import quantize
from pricing.market.offers import Offer

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

    def as_dict(self) -> dict[str, object]:
        """The same as JSON takes it."""
        return asdict(self)


def compare_offers(before: Mapping[str, Offer], after: Sequence[Offer]) -> Changes:
    """What `after` changes against `before` (offer id → offer).

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
            price_changes.append((_log_ratio(old, offer), old, offer))
    gone = len(before) - (len(after) - counts["added"])
    largest_changes = heapq.nlargest(MAX_PRICE_CHANGES, price_changes, key=itemgetter(0))
    return Changes(
        gone=gone,
        moves=tuple(_describe_price_change(old, new) for _, old, new in largest_changes),
        **counts,
    )


def _classify_change(old: Offer, new: Offer) -> str:
    if old is new:
        return "unchanged"
    if old.currency == new.currency:
        if old.price_per_hour != new.price_per_hour or old.upfront != new.upfront:
            return _classify_price_change(
                old.effective_price_per_hour, new.effective_price_per_hour
            )
        if _get_other_fields(old) == _get_other_fields(new):
            return "unchanged"
    return "changed"


def _classify_price_change(old: Decimal, new: Decimal) -> str:
    if new == old:
        return "changed"
    return "dearer" if new > old else "cheaper"


def _log_ratio(old: Offer, new: Offer) -> float:
    """How far a price moved, up or down: |log(after / before)|."""
    before, after = float(old.effective_price_per_hour), float(new.effective_price_per_hour)
    return abs(math.log(after / before)) if before and after else math.inf


_get_other_fields = attrgetter(
    *("sold_now", "accelerator", "accelerator_count", "vcpus", "memory_gib", "network_gbps"),
    *("sku", "source"),
)
"""What may change of an offer while its id and price do not."""


def _describe_price_change(old: Offer, new: Offer) -> PriceChange:
    before, after = old.effective_price_per_hour, new.effective_price_per_hour
    ratio = float(after / before) if before else math.inf
    return PriceChange(
        new.id, _format_amount(before), _format_amount(after), new.currency, round(ratio, 6)
    )


def _format_amount(price: Decimal) -> str:
    return f"{quantize(price):f}"
