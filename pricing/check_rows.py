"""Row by row: which offers of a batch can be right, and why the others cannot. PURE.

See `pricing.checks` for what follows from it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from pricing import accelerators
from pricing.families import family_of
from pricing.offers import PAYMENT_OPTIONS, Offer, PurchaseOption
from pricing.provider import SkippedRow
from pricing.snapshot import ExchangeRates

NOT_AN_OFFER = "not in the form of an offer"
NO_PRICE = "price is not above 0"
UNKNOWN_ACCELERATOR = "unknown accelerator"
NO_EXCHANGE_RATE = "no exchange rate for its currency"
REGION_TWICE = "region in another spelling"
SAME_TWICE = "same offer twice"
TWO_PRICES = "two prices for one offer"
SPOT_ABOVE = "spot above on demand"
BIGGER_CHEAPER = "bigger size cheaper than a smaller one"

_HARMLESS = frozenset({SAME_TWICE, UNKNOWN_ACCELERATOR, NO_EXCHANGE_RATE})

ROUNDING = Decimal("1.001")
"""Prices this close are the same: providers round spot and on demand to other places."""

MAX_AMOUNT = Decimal(900_000_000)
"""Largest price or upfront that can be kept, in any currency."""
MAX_TERM_MONTHS = 120
_TEXTS = (
    ("region", 64, True),
    ("instance_type", 128, True),
    ("accelerator", 64, True),
    ("zone", 64, False),
    ("sku", 255, False),
    ("source", 500, False),
)
"""Field, longest text that can be kept, whether it is required."""


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
    sound = _split(offers, _by_itself(provider, rates, latest), withheld)
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


def _split(offers: Iterable[Offer], judge: Judge, withheld: list[Withheld]) -> list[Offer]:
    sound = []
    for offer in offers:
        fault = judge(offer)
        if fault is None:
            sound.append(offer)
        else:
            withheld.append(Withheld(_id(offer), *fault))
    return sound


def _id(offer: Offer) -> str:
    try:
        return offer.id
    except (AttributeError, TypeError):
        return repr(offer)[:200]


# One row alone ----------------------------------------------------------------------------


def _by_itself(provider: str, rates: ExchangeRates, latest: dt.date) -> Judge:
    currencies = frozenset(rates.currencies)
    known: dict[str, bool] = {}

    def judge(offer: Offer) -> Fault | None:
        fault = _malformed(offer, provider, latest)
        if fault:
            return NOT_AN_OFFER, f"{_id(offer)[:120]}: {fault}"
        if offer.price_per_hour <= 0 and offer.effective_price_per_hour <= 0:
            return NO_PRICE, offer.id
        if offer.accelerator not in known:
            known[offer.accelerator] = _is_known(offer.accelerator)
        if not known[offer.accelerator]:
            return UNKNOWN_ACCELERATOR, offer.accelerator
        if offer.currency not in currencies:
            return NO_EXCHANGE_RATE, offer.currency
        return None

    return judge


def _is_known(accelerator: str) -> bool:
    try:
        accelerators.get(accelerator)
    except KeyError:
        return False
    return True


def _malformed(offer: Offer, provider: str, latest: dt.date) -> str:
    """What is wrong with the form of an offer; empty when nothing is."""
    if offer.provider != provider:
        return f"provider {offer.provider!r} instead of {provider!r}"
    return (
        _bad_text(offer)
        or _bad_money(offer)
        or _bad_terms(offer)
        or _bad_shape(offer)
        or _bad_date(offer, latest)
        or ("id is longer than 255 characters" if len(offer.id) > 255 else "")
    )


def _bad_text(offer: Offer) -> str:
    for name, longest, required in _TEXTS:
        text: object = getattr(offer, name)
        if not isinstance(text, str) or "\x00" in text:
            return f"{name} {text!r} is not text"
        if len(text) > longest:
            return f"{name} is longer than {longest} characters"
        if required and not text.strip():
            return f"{name} is empty"
    return ""


def _bad_money(offer: Offer) -> str:
    for name, amount in (("price_per_hour", offer.price_per_hour), ("upfront", offer.upfront)):
        if not isinstance(amount, Decimal) or not amount.is_finite():
            return f"{name} {amount!r} is not an exact number"
        if not 0 <= amount <= MAX_AMOUNT:
            return f"{name} {amount} is outside 0 to {MAX_AMOUNT}"
    currency = offer.currency
    if len(currency) != 3 or not currency.isascii() or not currency.isupper():
        return f"currency {currency!r} is not an ISO 4217 code"
    return ""


def _bad_terms(offer: Offer) -> str:
    given: object = offer.purchase_option
    if not isinstance(given, PurchaseOption):
        return f"purchase_option {given!r} is not known"
    option, term = given, offer.term_months
    if type(term) is not int or not 0 <= term <= MAX_TERM_MONTHS:
        return f"term_months {term!r} is not 0 to {MAX_TERM_MONTHS}"
    if option.is_commitment and not term:
        return f"{option.value} without a term"
    if offer.upfront and not term:
        return f"upfront {offer.upfront} without a term to spread it over"
    if offer.payment_option not in PAYMENT_OPTIONS:
        return f"payment_option {offer.payment_option!r} is not known"
    return ""


def _bad_shape(offer: Offer) -> str:
    count: object = offer.accelerator_count
    if not isinstance(count, Fraction) or not 0 < count <= 100_000:
        return f"accelerator_count {count!r} is not above 0"
    if count.denominator > 100_000:
        return f"accelerator_count {count} is not a simple fraction"
    for name in ("vcpus", "memory_gib", "network_gbps"):
        value = getattr(offer, name)
        if value is not None and not (math.isfinite(value) and value >= 0):
            return f"{name} {value!r} is not a number of 0 or more"
    return ""


def _bad_date(offer: Offer, latest: dt.date) -> str:
    day: object = offer.as_of
    if day is None:
        return ""
    if not isinstance(day, dt.date) or isinstance(day, dt.datetime):
        return f"as_of {day!r} is not a date"
    return f"as_of {day} is after {latest}" if day > latest else ""


# Rows beside each other -------------------------------------------------------------------


def _plain(region: str) -> str:
    return "".join(c for c in region.casefold() if c.isalnum())


def _region_spelling(offers: Iterable[Offer], known: frozenset[str]) -> Judge:
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

    return judge


def _two_prices(offers: Iterable[Offer]) -> Judge:
    prices: dict[str, tuple[Decimal, Decimal, str]] = {}
    unclear: set[str] = set()
    for offer in offers:
        price = (offer.price_per_hour, offer.upfront, offer.currency)
        if prices.setdefault(offer.id, price) != price:
            unclear.add(offer.id)
    return lambda offer: (TWO_PRICES, offer.id) if offer.id in unclear else None


def _once_each(offers: Sequence[Offer], withheld: list[Withheld]) -> list[Offer]:
    first: dict[str, Offer] = {}
    for offer in offers:
        if first.setdefault(offer.id, offer) is not offer:
            withheld.append(Withheld(offer.id, SAME_TWICE, offer.id))
    return list(first.values())


def _spot_above(offers: Iterable[Offer]) -> Judge:
    on_demand: dict[tuple[str, str, str], Decimal] = {}
    for offer in offers:
        if offer.purchase_option is PurchaseOption.ON_DEMAND:
            on_demand[offer.region, offer.instance_type, offer.currency] = offer.price_per_hour

    def judge(offer: Offer) -> Fault | None:
        if not offer.purchase_option.is_interruptible:
            return None
        full = on_demand.get((offer.region, offer.instance_type, offer.currency))
        if full is None or offer.price_per_hour <= full * ROUNDING:
            return None
        return SPOT_ABOVE, f"{offer.id} {offer.price_per_hour} > {full}"

    return judge


def _bigger_cheaper(offers: Iterable[Offer]) -> Judge:
    """The bigger machine is the one in doubt: a price too low is the one that would be chosen."""
    groups: dict[tuple[object, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        if offer.sold_now and not offer.purchase_option.is_interruptible:
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

    return judge


def _sizes_of(offer: Offer) -> tuple[object, ...]:
    """What two sizes of one machine have in common."""
    return (
        family_of(offer.instance_type),
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
