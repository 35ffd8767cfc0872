"""Each offer by itself: is it in the form of an offer, with a price, of something known. PURE.

A column holds few different values, so each value is judged once, not once for each row.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter

from pricing.market import accelerators
from pricing.market.offers import PAYMENT_OPTIONS, Offer, PurchaseOption
from pricing.market.snapshot import ExchangeRates

NOT_AN_OFFER = "not in the form of an offer"
NO_PRICE = "price is not above 0"
UNKNOWN_ACCELERATOR = "unknown accelerator"
NO_EXCHANGE_RATE = "no exchange rate for its currency"

MAX_AMOUNT = Decimal(900_000_000)
"""Largest price or upfront that can be kept, in any currency."""
MAX_TERM_MONTHS = 120
MAX_COUNT = 100_000
"""Most accelerators of one machine, and the finest fraction of one."""
MAX_ID = 255
"""Longest offer id, in characters."""

Fault = tuple[str, str]
"""(reason, detail)."""
FieldJudge = Callable[[object], str]
"""What is wrong with a value; empty when nothing is."""


class RowFaults:
    """Finds the rows of a batch that cannot be right by themselves."""

    def __init__(self, provider: str, rates: ExchangeRates, latest: dt.date) -> None:
        self._currencies = frozenset(rates.currencies)
        self._judges: dict[str, FieldJudge] = {
            "provider": lambda name: (
                "" if name == provider else f"{name!r} instead of {provider!r}"
            ),
            **{name: _text(longest, required) for name, longest, required in _TEXTS},
            "price_per_hour": _amount,
            "upfront": _amount,
            "currency": _currency,
            "purchase_option": _option,
            "term_months": _term,
            "payment_option": _payment,
            "accelerator_count": _count,
            "vcpus": _measure,
            "memory_gib": _measure,
            "network_gbps": _measure,
            "as_of": _day(latest),
        }

    def of(self, offers: Sequence[Offer]) -> dict[int, Fault]:
        """row → the first fault found; rows without one are left out."""
        found: dict[int, Fault] = {}
        for name, judge in self._judges.items():
            for row, fault in _bad_rows([getattr(o, name) for o in offers], judge):
                found.setdefault(row, (NOT_AN_OFFER, f"{_name(offers[row])}: {name} {fault}"))
        sound = [(row, offer) for row, offer in enumerate(offers) if row not in found]
        for row, terms in _bad_terms(sound):
            found[row] = (NOT_AN_OFFER, f"{_name(offers[row])}: {terms}")
        for row, offer in sound:
            if row not in found and (price := _no_price(offer)):
                found[row] = price
        self._not_known(sound, found)
        return found

    def _not_known(self, sound: Iterable[tuple[int, Offer]], found: dict[int, Fault]) -> None:
        rows = [(row, offer) for row, offer in sound if row not in found]
        strange = {name for name in {o.accelerator for _, o in rows} if not _is_known(name)}
        worthless = {o.currency for _, o in rows} - self._currencies
        if strange or worthless:
            for row, offer in rows:
                if offer.accelerator in strange:
                    found[row] = (UNKNOWN_ACCELERATOR, offer.accelerator)
                elif offer.currency in worthless:
                    found[row] = (NO_EXCHANGE_RATE, offer.currency)


def _bad_rows(column: Sequence[object], judge: FieldJudge) -> list[tuple[int, str]]:
    try:
        values = _distinct(column)
    except TypeError:  # a list, say, which no offer may hold
        return [(row, fault) for row, value in enumerate(column) if (fault := judge(value))]
    faults = {value: fault for value in values if (fault := judge(value))}
    if not faults:
        return []
    return [(row, faults[value]) for row, value in enumerate(column) if value in faults]


def _distinct(column: Sequence[object]) -> set[object]:
    """The values of a column; `TypeError` where two of them may be equal though one is wrong,
    as 8 and Fraction(8) are."""
    if len(set(map(type, column)) - {type(None)}) > 1:
        raise TypeError
    return set(column)


def _name(offer: Offer) -> str:
    return f"{offer.provider} {offer.region} {offer.instance_type}"[:120]


def _is_known(accelerator: str) -> bool:
    try:
        accelerators.get(accelerator)
    except KeyError:
        return False
    return True


# One value --------------------------------------------------------------------------------

_TEXTS = (
    ("region", 64, True),
    ("instance_type", 128, True),
    ("accelerator", 64, True),
    ("zone", 64, False),
    ("sku", 255, False),
    ("source", 500, False),
)
"""Field, longest text that can be kept, whether it is required."""


def _text(longest: int, required: bool) -> FieldJudge:
    def judge(value: object) -> str:
        if not isinstance(value, str) or "\x00" in value:
            return f"{value!r} is not text"
        if len(value) > longest:
            return f"is longer than {longest} characters"
        return "is empty" if required and not value.strip() else ""

    return judge


def _amount(value: object) -> str:
    if not isinstance(value, Decimal) or not value.is_finite():
        return f"{value!r} is not an exact number"
    return "" if 0 <= value <= MAX_AMOUNT else f"{value} is outside 0 to {MAX_AMOUNT}"


def _currency(value: object) -> str:
    is_code = isinstance(value, str) and len(value) == 3 and value.isascii() and value.isupper()
    return "" if is_code else f"{value!r} is not an ISO 4217 code"


def _option(value: object) -> str:
    return "" if isinstance(value, PurchaseOption) else f"{value!r} is not known"


def _term(value: object) -> str:
    fits = type(value) is int and 0 <= value <= MAX_TERM_MONTHS
    return "" if fits else f"{value!r} is not 0 to {MAX_TERM_MONTHS}"


def _payment(value: object) -> str:
    return "" if value in PAYMENT_OPTIONS else f"{value!r} is not known"


def _count(value: object) -> str:
    if not isinstance(value, Fraction) or not 0 < value <= MAX_COUNT:
        return f"{value!r} is not above 0"
    return f"{value} is not a simple fraction" if value.denominator > MAX_COUNT else ""


def _measure(value: object) -> str:
    if value is None:
        return ""
    fits = isinstance(value, int | float) and math.isfinite(value) and value >= 0
    return "" if fits else f"{value!r} is not a number of 0 or more"


def _day(latest: dt.date) -> FieldJudge:
    def judge(value: object) -> str:
        if value is None:
            return ""
        if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
            return f"{value!r} is not a date"
        return f"{value} is after {latest}" if value > latest else ""

    return judge


# Values beside each other -----------------------------------------------------------------

_terms_of = attrgetter("purchase_option", "term_months")


def _bad_terms(sound: Iterable[tuple[int, Offer]]) -> Iterable[tuple[int, str]]:
    rows = list(sound)
    lacking = {
        terms: f"{terms[0].value} without a term"
        for terms in {_terms_of(offer) for _, offer in rows}
        if terms[0].is_commitment and not terms[1]
    }
    for row, offer in rows:
        if lacking and _terms_of(offer) in lacking:
            yield row, lacking[_terms_of(offer)]
        elif offer.upfront and not offer.term_months:
            yield row, f"upfront {offer.upfront} without a term to spread it over"
        elif len(offer.id) > MAX_ID:
            yield row, f"id is longer than {MAX_ID} characters"


def _no_price(offer: Offer) -> Fault | None:
    if offer.price_per_hour or offer.effective_price_per_hour > 0:
        return None
    return NO_PRICE, offer.id
