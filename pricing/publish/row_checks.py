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
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.families import instance_family
from pricing.market.offers import Offer, PurchaseOption
from pricing.publish.field_checks import (
    NO_EXCHANGE_RATE,
    NO_PRICE,
    NOT_AN_OFFER,
    UNKNOWN_ACCELERATOR,
    RowChecker,
)

__all__ = ["NOT_AN_OFFER", "NO_EXCHANGE_RATE", "NO_PRICE", "UNKNOWN_ACCELERATOR", "check_rows"]

REGION_TWICE = "region in another spelling"
SAME_TWICE = "same offer twice"
TWO_PRICES = "two prices for one offer"
SPOT_ABOVE = "spot above on demand"
BIGGER_CHEAPER = "bigger size cheaper than a smaller one"

_NOT_AGAINST_BATCH = frozenset({SAME_TWICE, UNKNOWN_ACCELERATOR, NO_EXCHANGE_RATE})

_INTERRUPTIBLE = tuple(option for option in PurchaseOption if option.is_interruptible)

PRICE_TOLERANCE = Decimal("1.001")
"""Prices this close are the same: providers round spot and on demand to other places."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A rejected offer, and why."""

    offer_id: str
    reason: str
    detail: str

    @property
    def counts_against_batch(self) -> bool:
        """Whether it speaks against the batch, not only against our own tables."""
        return self.reason not in _NOT_AGAINST_BATCH

    def to_skipped_row(self) -> SkippedRow:
        return SkippedRow(self.reason, self.detail)


def check_rows(
    offers: Sequence[Offer],
    *,
    provider: str,
    rates: ExchangeRates,
    known_regions: frozenset[str] = frozenset(),
    latest: dt.date,
    settle: Callable[[list[Offer]], list[Offer]] = lambda offers: offers,
    force: bool = False,
) -> tuple[list[Offer], list[RejectedRow]]:
    """(offers that passed, in order; those rejected with their reason).

    `latest` is the last day a price may be of; `settle` may exchange prices that can be right by
    themselves before they are held against each other.
    """
    rejected_rows: list[RejectedRow] = []
    faults = RowChecker(provider, rates, latest).find_faults(offers)
    valid = _reject_faulty(offers, faults, rejected_rows)
    valid = _apply_check(valid, _make_region_check(valid, known_regions), rejected_rows)
    valid = _apply_check(valid, _make_price_conflict_check(valid), rejected_rows)
    valid = _reject_duplicates(valid, rejected_rows)
    valid = settle(valid)
    if not force:
        valid = _apply_check(valid, _make_spot_check(valid), rejected_rows)
        valid = _apply_check(valid, _make_size_check(valid), rejected_rows)
    return valid, rejected_rows


def find_contradictions(offers: Sequence[Offer]) -> list[tuple[Offer, Offer]]:
    """Pairs of which one cannot be right: spot above on demand, a small size above a bigger one."""
    return [*_find_spot_above(offers), *_find_size_inversions(offers)]


Fault = tuple[str, str]
"""(reason, detail)."""
OfferCheck = Callable[[Offer], Fault | None]


def _reject_faulty(
    offers: Sequence[Offer], faults: Mapping[int, Fault], rejected_rows: list[RejectedRow]
) -> list[Offer]:
    for row in sorted(faults):
        rejected_rows.append(RejectedRow(_safe_id(offers[row]), *faults[row]))
    return [offer for row, offer in enumerate(offers) if row not in faults]


def _apply_check(
    offers: list[Offer], check: OfferCheck | None, rejected_rows: list[RejectedRow]
) -> list[Offer]:
    if check is None:
        return offers
    valid = []
    for offer in offers:
        fault = check(offer)
        if fault is None:
            valid.append(offer)
        else:
            rejected_rows.append(RejectedRow(offer.id, *fault))
    return valid


def _safe_id(offer: Offer) -> str:
    try:
        return offer.id
    except (AttributeError, TypeError):
        return repr(offer)[:200]


# Rows beside each other -------------------------------------------------------------------


def _normalize_region(region: str) -> str:
    return "".join(c for c in region.casefold() if c.isalnum())


def _make_region_check(
    offers: Iterable[Offer], known_spellings: frozenset[str]
) -> OfferCheck | None:
    """Of two spellings of one region the known one counts, else the one of the most offers."""
    region_counts = Counter(offer.region for offer in offers)
    spellings: dict[str, str] = {}
    for region in sorted(
        region_counts,
        key=lambda r: (r in known_spellings, region_counts[r], r.islower()),
        reverse=True,
    ):
        spellings.setdefault(_normalize_region(region), region)
    spellings |= {_normalize_region(region): region for region in known_spellings}
    misspelled = {
        region: spellings[_normalize_region(region)]
        for region in region_counts
        if spellings[_normalize_region(region)] != region
    }

    def check(offer: Offer) -> Fault | None:
        if offer.region not in misspelled:
            return None
        return REGION_TWICE, f"{offer.region} for {misspelled[offer.region]}"

    return check if misspelled else None


def _make_price_conflict_check(offers: Sequence[Offer]) -> OfferCheck | None:
    if len({offer.id for offer in offers}) == len(offers):
        return None
    prices: dict[str, tuple[Decimal, Decimal, str]] = {}
    conflicting: set[str] = set()
    for offer in offers:
        price = (offer.price_per_hour, offer.upfront, offer.currency)
        if prices.setdefault(offer.id, price) != price:
            conflicting.add(offer.id)
    return lambda offer: (TWO_PRICES, offer.id) if offer.id in conflicting else None


def _reject_duplicates(offers: Sequence[Offer], rejected_rows: list[RejectedRow]) -> list[Offer]:
    first = {offer.id: offer for offer in reversed(offers)}
    if len(first) == len(offers):
        return list(offers)
    for offer in offers:
        if first[offer.id] is not offer:
            rejected_rows.append(RejectedRow(offer.id, SAME_TWICE, offer.id))
    return [offer for offer in offers if first[offer.id] is offer]


def _make_spot_check(offers: Sequence[Offer]) -> OfferCheck | None:
    above = {spot.id: on_demand for spot, on_demand in _find_spot_above(offers)}

    def check(offer: Offer) -> Fault | None:
        on_demand = above.get(offer.id)
        if on_demand is None:
            return None
        return SPOT_ABOVE, f"{offer.id} {offer.price_per_hour} > {on_demand.price_per_hour}"

    return check if above else None


def _find_spot_above(offers: Sequence[Offer]) -> Iterator[tuple[Offer, Offer]]:
    """(interruptible offer, the cheaper one on demand)."""
    interruptible = [offer for offer in offers if offer.purchase_option in _INTERRUPTIBLE]
    if not interruptible:
        return
    on_demand = {
        (offer.region, offer.instance_type, offer.currency): offer
        for offer in offers
        if offer.purchase_option is PurchaseOption.ON_DEMAND
    }
    for offer in interruptible:
        regular = on_demand.get((offer.region, offer.instance_type, offer.currency))
        if regular and offer.price_per_hour > regular.price_per_hour * PRICE_TOLERANCE:
            yield offer, regular


def _make_size_check(offers: Iterable[Offer]) -> OfferCheck | None:
    """Reject the bigger machine: it is the price too low that a plan would choose."""
    smaller_by_id = {bigger.id: smaller for smaller, bigger in _find_size_inversions(offers)}

    def check(offer: Offer) -> Fault | None:
        smaller = smaller_by_id.get(offer.id)
        return (BIGGER_CHEAPER, f"{offer.id} < {smaller.instance_type}") if smaller else None

    return check if smaller_by_id else None


def _find_size_inversions(offers: Iterable[Offer]) -> Iterator[tuple[Offer, Offer]]:
    """(smaller offer, the bigger one that is cheaper)."""
    groups: dict[tuple[object, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        if offer.sold_now and offer.purchase_option not in _INTERRUPTIBLE:
            groups[_size_group_key(offer)].append(offer)
    for group in groups.values():
        if len(group) > 1:
            yield from _find_price_inversions(group)


def _size_group_key(offer: Offer) -> tuple[object, ...]:
    """What two sizes of one machine have in common."""
    return (
        instance_family(offer.instance_type),
        offer.region,
        offer.purchase_option,
        offer.accelerator,
        offer.term_months,
        offer.payment_option,
        offer.is_compute_plan,
        offer.zone,
        offer.currency,
    )


def _find_price_inversions(group: Sequence[Offer]) -> Iterator[tuple[Offer, Offer]]:
    priced = [(offer, offer.effective_price_per_hour) for offer in group]
    for smaller, smaller_price in priced:
        for bigger, bigger_price in priced:
            if bigger_price * PRICE_TOLERANCE < smaller_price and _is_bigger(bigger, smaller):
                yield smaller, bigger


def _is_bigger(one: Offer, other: Offer) -> bool:
    """More accelerators and no less of anything else that is known of both."""
    if one.accelerator_count <= other.accelerator_count:
        return False
    pairs = ((one.vcpus, other.vcpus), (one.memory_gib, other.memory_gib))
    return all(a is not None and b is not None and a >= b for a, b in pairs)
