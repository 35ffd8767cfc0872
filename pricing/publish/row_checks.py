"""Row by row: which offers of a batch can be right, and why the others cannot. PURE.

See `pricing.publish.batch_checks` for what follows from it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pricing.market import accelerators
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.machine_types import instance_family
from pricing.market.offers import PAYMENT_OPTIONS, Offer, PurchaseOption

NOT_AN_OFFER = "not in the form of an offer"
NO_PRICE = "price is not above 0"
UNKNOWN_ACCELERATOR = "unknown accelerator"
NO_EXCHANGE_RATE = "no exchange rate for its currency"
REGION_TWICE = "region in another spelling"
SAME_TWICE = "same offer twice"
TWO_PRICES = "two prices for one offer"
SPOT_ABOVE = "spot above on demand"
BIGGER_CHEAPER = "bigger size cheaper than a smaller one"

PRICE_TOLERANCE = Decimal("1.001")
"""Prices this close are the same: providers round spot and on demand to other places."""
MAX_AMOUNT = Decimal(900_000_000)
"""Largest price or upfront that can be kept, in any currency."""
MAX_TERM_MONTHS = 120
MAX_COUNT = 100_000
"""Most accelerators of one machine, and the finest fraction of one."""
MAX_ID = 255
"""Longest offer id, in characters."""

Fault = tuple[str, str]
"""(reason, detail)."""
Rule = tuple[Callable[[object], bool], str]
"""What a value must be, and what is said of one that is not; `{0}` stands for the value."""


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A rejected offer, and why."""

    offer_id: str
    reason: str
    detail: str

    @property
    def counts_against_batch(self) -> bool:
        """Whether it speaks against the batch, not only against our own tables."""
        return self.reason not in (SAME_TWICE, UNKNOWN_ACCELERATOR, NO_EXCHANGE_RATE)


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
    faults = _find_faults(offers, provider, rates, latest)
    rejected = [RejectedRow(_safe_id(offers[row]), *faults[row]) for row in sorted(faults)]
    valid = [offer for row, offer in enumerate(offers) if row not in faults]
    valid = _reject(valid, _find_misspelled(valid, known_regions), rejected)
    valid = _reject(valid, _find_price_conflicts(valid), rejected)
    first = {offer.id: offer for offer in reversed(valid)}
    if len(first) < len(valid):
        again = [offer.id for offer in valid if first[offer.id] is not offer]
        rejected += [RejectedRow(offer_id, SAME_TWICE, offer_id) for offer_id in again]
        valid = [offer for offer in valid if first[offer.id] is offer]
    valid = settle(valid)
    if not force:
        spot_above = {
            spot.id: (SPOT_ABOVE, f"{spot.id} {spot.price_per_hour} > {regular.price_per_hour}")
            for spot, regular in _find_spot_above(valid)
        }
        valid = _reject(valid, spot_above, rejected)
        # The bigger machine is rejected: its price is the low one that a plan would choose.
        too_cheap = {
            bigger.id: (BIGGER_CHEAPER, f"{bigger.id} < {smaller.instance_type}")
            for smaller, bigger in _find_size_inversions(valid)
        }
        valid = _reject(valid, too_cheap, rejected)
    return valid, rejected


def find_contradictions(offers: Sequence[Offer]) -> list[tuple[Offer, Offer]]:
    """Pairs of which one cannot be right: spot above on demand, a small size above a bigger one."""
    return [*_find_spot_above(offers), *_find_size_inversions(offers)]


def _reject(
    offers: list[Offer], faults: Mapping[str, Fault], rejected: list[RejectedRow]
) -> list[Offer]:
    bad = [offer.id for offer in offers if offer.id in faults]
    rejected += [RejectedRow(offer_id, *faults[offer_id]) for offer_id in bad]
    return [offer for offer in offers if offer.id not in faults]


def _safe_id(offer: Offer) -> str:
    try:
        return offer.id
    except (AttributeError, TypeError):
        return repr(offer)[:200]


# Each offer by itself ---------------------------------------------------------------------


def _text(max_length: int, *, required: bool = True) -> tuple[Rule, ...]:
    rules: tuple[Rule, ...] = (
        (lambda text: isinstance(text, str) and "\x00" not in text, "{0!r} is not text"),
        (lambda text: len(str(text)) <= max_length, f"is longer than {max_length} characters"),
    )
    return (*rules, (lambda text: bool(str(text).strip()), "is empty")) if required else rules


_AMOUNT: tuple[Rule, ...] = (
    (lambda v: isinstance(v, Decimal) and v.is_finite(), "{0!r} is not an exact number"),
    (
        lambda v: isinstance(v, Decimal) and 0 <= v <= MAX_AMOUNT,
        f"{{0}} is outside 0 to {MAX_AMOUNT}",
    ),
)
_MEASURE: tuple[Rule, ...] = (
    (
        lambda v: v is None or (isinstance(v, int | float) and math.isfinite(v) and v >= 0),
        "{0!r} is not a number of 0 or more",
    ),
)
_CHECKS_BY_FIELD: Mapping[str, tuple[Rule, ...]] = {
    "region": _text(64),
    "instance_type": _text(128),
    "accelerator": _text(64),
    "zone": _text(64, required=False),
    "sku": _text(255, required=False),
    "source": _text(500, required=False),
    "price_per_hour": _AMOUNT,
    "upfront": _AMOUNT,
    "currency": (
        (
            lambda v: isinstance(v, str) and len(v) == 3 and v.isascii() and v.isupper(),
            "{0!r} is not an ISO 4217 code",
        ),
    ),
    "purchase_option": ((lambda v: isinstance(v, PurchaseOption), "{0!r} is not known"),),
    "term_months": (
        (
            lambda v: type(v) is int and 0 <= v <= MAX_TERM_MONTHS,
            f"{{0!r}} is not 0 to {MAX_TERM_MONTHS}",
        ),
    ),
    "payment_option": ((lambda v: v in PAYMENT_OPTIONS, "{0!r} is not known"),),
    "accelerator_count": (
        (lambda v: isinstance(v, Fraction) and 0 < v <= MAX_COUNT, "{0!r} is not above 0"),
        (
            lambda v: isinstance(v, Fraction) and v.denominator <= MAX_COUNT,
            "{0} is not a simple fraction",
        ),
    ),
    "vcpus": _MEASURE,
    "memory_gib": _MEASURE,
    "network_gbps": _MEASURE,
}


def _find_faults(
    offers: Sequence[Offer], provider: str, rates: ExchangeRates, latest: dt.date
) -> dict[int, Fault]:
    rules = {
        "provider": ((lambda name: name == provider, f"{{0!r}} instead of {provider!r}"),),
        **_CHECKS_BY_FIELD,
        "as_of": (
            (lambda v: v is None or type(v) is dt.date, "{0!r} is not a date"),
            (lambda v: v is None or v <= latest, f"{{0}} is after {latest}"),
        ),
    }
    faults: dict[int, Fault] = {}
    for name, field_rules in rules.items():
        for row, fault in _find_bad_values([getattr(o, name) for o in offers], field_rules):
            faults.setdefault(row, (NOT_AN_OFFER, f"{_label(offers[row])}: {name} {fault}"))
    slugs = {one.slug for one in accelerators.all_accelerators()}
    currencies = frozenset(rates.currencies)
    for row, offer in enumerate(offers):
        if row in faults:
            continue
        if terms := _explain_bad_terms(offer):
            faults[row] = (NOT_AN_OFFER, f"{_label(offer)}: {terms}")
        elif not (offer.price_per_hour or offer.effective_price_per_hour > 0):
            faults[row] = (NO_PRICE, offer.id)
        elif offer.accelerator not in slugs:
            faults[row] = (UNKNOWN_ACCELERATOR, offer.accelerator)
        elif offer.currency not in currencies:
            faults[row] = (NO_EXCHANGE_RATE, offer.currency)
    return faults


def _find_bad_values(column: Sequence[object], rules: Iterable[Rule]) -> Iterator[tuple[int, str]]:
    """A column holds few different values: where all of them are sound, no row is looked at. Of
    two kinds one may be wrong though it equals the other, as 8 and Fraction(8) do."""

    def explain(value: object) -> str:
        return next((what.format(value) for is_valid, what in rules if not is_valid(value)), "")

    try:
        is_mixed = len(set(map(type, column)) - {type(None)}) > 1
        if not is_mixed and not any(map(explain, set(column))):
            return
    except TypeError:  # a list, say, which no offer may hold
        pass
    yield from ((row, fault) for row, value in enumerate(column) if (fault := explain(value)))


def _label(offer: Offer) -> str:
    return f"{offer.provider} {offer.region} {offer.instance_type}"[:120]


def _explain_bad_terms(offer: Offer) -> str:
    if not offer.term_months:
        if offer.purchase_option.is_commitment:
            return f"{offer.purchase_option.value} without a term"
        if offer.upfront:
            return f"upfront {offer.upfront} without a term to spread it over"
    return f"id is longer than {MAX_ID} characters" if len(offer.id) > MAX_ID else ""


# Rows beside each other -------------------------------------------------------------------


def _find_misspelled(offers: Sequence[Offer], known: frozenset[str]) -> dict[str, Fault]:
    counts = Counter(offer.region for offer in offers)
    spellings: dict[str, str] = {}
    for region in sorted(counts, key=lambda r: (counts[r], r.islower()), reverse=True):
        spellings.setdefault(_normalize_region(region), region)
    spellings |= {_normalize_region(region): region for region in known}
    wrong = {r: right for r in counts if (right := spellings[_normalize_region(r)]) != r}
    return {
        o.id: (REGION_TWICE, f"{o.region} for {wrong[o.region]}")
        for o in offers
        if o.region in wrong
    }


def _normalize_region(region: str) -> str:
    return "".join(c for c in region.casefold() if c.isalnum())


def _find_price_conflicts(offers: Sequence[Offer]) -> dict[str, Fault]:
    if len({offer.id for offer in offers}) == len(offers):
        return {}
    prices: dict[str, tuple[Decimal, Decimal, str]] = {}
    faults: dict[str, Fault] = {}
    for offer in offers:
        price = (offer.price_per_hour, offer.upfront, offer.currency)
        if prices.setdefault(offer.id, price) != price:
            faults[offer.id] = (TWO_PRICES, offer.id)
    return faults


def _find_spot_above(offers: Sequence[Offer]) -> Iterator[tuple[Offer, Offer]]:
    on_demand = {
        (offer.region, offer.instance_type, offer.currency): offer
        for offer in offers
        if offer.purchase_option is PurchaseOption.ON_DEMAND
    }
    for offer in offers:
        if offer.purchase_option.is_interruptible:
            regular = on_demand.get((offer.region, offer.instance_type, offer.currency))
            if regular and offer.price_per_hour > regular.price_per_hour * PRICE_TOLERANCE:
                yield offer, regular


def _find_size_inversions(offers: Iterable[Offer]) -> Iterator[tuple[Offer, Offer]]:
    groups: dict[tuple[object, ...], list[tuple[Offer, Decimal]]] = defaultdict(list)
    for offer in offers:
        if offer.sold_now and not offer.purchase_option.is_interruptible:
            key = (
                *(instance_family(offer.instance_type), offer.region, offer.purchase_option),
                *(offer.accelerator, offer.term_months, offer.payment_option),
                *(offer.is_compute_plan, offer.zone, offer.currency),
            )
            groups[key].append((offer, offer.effective_price_per_hour))
    for group in groups.values():
        for smaller, smaller_price in group:
            for bigger, bigger_price in group:
                if bigger_price * PRICE_TOLERANCE < smaller_price and _is_bigger(bigger, smaller):
                    yield smaller, bigger


def _is_bigger(offer: Offer, other: Offer) -> bool:
    if offer.accelerator_count <= other.accelerator_count:
        return False
    pairs = ((offer.vcpus, other.vcpus), (offer.memory_gib, other.memory_gib))
    return all(a is not None and b is not None and a >= b for a, b in pairs)
