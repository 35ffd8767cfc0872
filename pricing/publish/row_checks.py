"""Row by row: which offers of a batch can be right, and why the others cannot. PURE.

See `pricing.publish.batch_checks` for what follows from it.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pricing.ingest.provider import SkippedRow
from pricing.market.families import instance_family
from pricing.market.offers import Offer, PurchaseOption
from pricing.market.snapshot import ExchangeRates
from pricing.publish.field_checks import (
    NO_EXCHANGE_RATE,
    NO_PRICE,
    NOT_AN_OFFER,
    UNKNOWN_ACCELERATOR,
    RowFaults,
)

__all__ = ["NOT_AN_OFFER", "NO_EXCHANGE_RATE", "NO_PRICE", "UNKNOWN_ACCELERATOR", "check_rows"]

REGION_TWICE = "region in another spelling"
SAME_TWICE = "same offer twice"
TWO_PRICES = "two prices for one offer"
SPOT_ABOVE = "spot above on demand"
BIGGER_CHEAPER = "bigger size cheaper than a smaller one"

_HARMLESS = frozenset({SAME_TWICE, UNKNOWN_ACCELERATOR, NO_EXCHANGE_RATE})

_INTERRUPTIBLE = tuple(option for option in PurchaseOption if option.is_interruptible)

ROUNDING = Decimal("1.001")
"""Prices this close are the same: providers round spot and on demand to other places."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """An offer kept back, and why."""

    offer_id: str
    reason: str
    detail: str

    @property
    def is_doubt(self) -> bool:
        """Whether it speaks against the batch, not only against our own tables."""
        return self.reason not in _HARMLESS

    def as_skipped(self) -> SkippedRow:
        return SkippedRow(self.reason, self.detail)


def check_rows(
    offers: Sequence[Offer],
    *,
    provider: str,
    rates: ExchangeRates,
    known_regions: frozenset[str] = frozenset(),
    latest: dt.date,
    force: bool = False,
) -> tuple[list[Offer], list[Withheld]]:
    """(offers that passed, in order; those withheld with their reason).

    `latest` is the last day a price may be of.
    """
    withheld: list[Withheld] = []
    faults = RowFaults(provider, rates, latest).of(offers)
    sound = _without(offers, faults, withheld)
    sound = _split(sound, _region_spelling(sound, known_regions), withheld)
    sound = _split(sound, _two_prices(sound), withheld)
    sound = _once_each(sound, withheld)
    if not force:
        sound = _split(sound, _spot_above(sound), withheld)
        sound = _split(sound, _bigger_cheaper(sound), withheld)
    return sound, withheld


Fault = tuple[str, str]
"""(reason, detail)."""
Judge = Callable[[Offer], Fault | None]


def _without(
    offers: Sequence[Offer], faults: Mapping[int, Fault], withheld: list[Withheld]
) -> list[Offer]:
    for row in sorted(faults):
        withheld.append(Withheld(_id(offers[row]), *faults[row]))
    return [offer for row, offer in enumerate(offers) if row not in faults]


def _split(offers: list[Offer], judge: Judge | None, withheld: list[Withheld]) -> list[Offer]:
    if judge is None:
        return offers
    sound = []
    for offer in offers:
        fault = judge(offer)
        if fault is None:
            sound.append(offer)
        else:
            withheld.append(Withheld(offer.id, *fault))
    return sound


def _id(offer: Offer) -> str:
    try:
        return offer.id
    except (AttributeError, TypeError):
        return repr(offer)[:200]


# Rows beside each other -------------------------------------------------------------------


def _plain(region: str) -> str:
    return "".join(c for c in region.casefold() if c.isalnum())


def _region_spelling(offers: Iterable[Offer], known: frozenset[str]) -> Judge | None:
    """Of two spellings of one region the known one counts, else the one of the most offers."""
    used = Counter(offer.region for offer in offers)
    right: dict[str, str] = {}
    for region in sorted(used, key=lambda r: (r in known, used[r], r.islower()), reverse=True):
        right.setdefault(_plain(region), region)
    right |= {_plain(region): region for region in known}
    wrong = {region: right[_plain(region)] for region in used if right[_plain(region)] != region}

    def judge(offer: Offer) -> Fault | None:
        if offer.region not in wrong:
            return None
        return REGION_TWICE, f"{offer.region} for {wrong[offer.region]}"

    return judge if wrong else None


def _two_prices(offers: Sequence[Offer]) -> Judge | None:
    if len({offer.id for offer in offers}) == len(offers):
        return None
    prices: dict[str, tuple[Decimal, Decimal, str]] = {}
    unclear: set[str] = set()
    for offer in offers:
        price = (offer.price_per_hour, offer.upfront, offer.currency)
        if prices.setdefault(offer.id, price) != price:
            unclear.add(offer.id)
    return lambda offer: (TWO_PRICES, offer.id) if offer.id in unclear else None


def _once_each(offers: Sequence[Offer], withheld: list[Withheld]) -> list[Offer]:
    first = {offer.id: offer for offer in reversed(offers)}
    if len(first) == len(offers):
        return list(offers)
    for offer in offers:
        if first[offer.id] is not offer:
            withheld.append(Withheld(offer.id, SAME_TWICE, offer.id))
    return [offer for offer in offers if first[offer.id] is offer]


def _spot_above(offers: Sequence[Offer]) -> Judge | None:
    if not any(offer.purchase_option in _INTERRUPTIBLE for offer in offers):
        return None
    on_demand: dict[tuple[str, str, str], Decimal] = {}
    for offer in offers:
        if offer.purchase_option is PurchaseOption.ON_DEMAND:
            on_demand[offer.region, offer.instance_type, offer.currency] = offer.price_per_hour

    def judge(offer: Offer) -> Fault | None:
        if offer.purchase_option not in _INTERRUPTIBLE:
            return None
        full = on_demand.get((offer.region, offer.instance_type, offer.currency))
        if full is None or offer.price_per_hour <= full * ROUNDING:
            return None
        return SPOT_ABOVE, f"{offer.id} {offer.price_per_hour} > {full}"

    return judge


def _bigger_cheaper(offers: Iterable[Offer]) -> Judge | None:
    """The bigger machine is the one in doubt: a price too low is the one that would be chosen."""
    groups: dict[tuple[object, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        if offer.sold_now and offer.purchase_option not in _INTERRUPTIBLE:
            groups[_sizes_of(offer)].append(offer)
    doubted = {
        bigger.id: smaller
        for group in groups.values()
        if len(group) > 1
        for smaller, bigger in _inversions(group)
    }

    def judge(offer: Offer) -> Fault | None:
        smaller = doubted.get(offer.id)
        return (BIGGER_CHEAPER, f"{offer.id} < {smaller.instance_type}") if smaller else None

    return judge if doubted else None


def _sizes_of(offer: Offer) -> tuple[object, ...]:
    """What two sizes of one machine have in common."""
    return (
        instance_family(offer.instance_type),
        offer.region,
        offer.purchase_option,
        offer.accelerator,
        offer.term_months,
        offer.payment_option,
        offer.zone,
        offer.currency,
    )


def _inversions(group: Sequence[Offer]) -> Iterator[tuple[Offer, Offer]]:
    ranked = [(offer, offer.effective_price_per_hour) for offer in group]
    for smaller, dear in ranked:
        for bigger, cheap in ranked:
            if cheap * ROUNDING < dear and _is_bigger(bigger, smaller):
                yield smaller, bigger


def _is_bigger(one: Offer, other: Offer) -> bool:
    """More accelerators and no less of anything else that is known of both."""
    if one.accelerator_count <= other.accelerator_count:
        return False
    pairs = ((one.vcpus, other.vcpus), (one.memory_gib, other.memory_gib))
    return all(a is not None and b is not None and a >= b for a, b in pairs)
