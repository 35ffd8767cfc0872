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
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offers import PAYMENT_OPTIONS, Offer, PurchaseOption

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
FieldCheck = Callable[[object], str]
"""What is wrong with a value; empty when nothing is."""


class RowChecker:
    """Finds the rows of a batch that cannot be right by themselves."""

    def __init__(self, provider: str, rates: ExchangeRates, latest: dt.date) -> None:
        self._currencies = frozenset(rates.currencies)
        self._checks: dict[str, FieldCheck] = {
            "provider": lambda name: (
                "" if name == provider else f"{name!r} instead of {provider!r}"
            ),
            **{
                name: _check_text(max_length, required)
                for name, max_length, required in _TEXT_FIELDS
            },
            "price_per_hour": _check_amount,
            "upfront": _check_amount,
            "currency": _check_currency,
            "purchase_option": _check_option,
            "term_months": _check_term,
            "payment_option": _check_payment,
            "accelerator_count": _check_count,
            "vcpus": _check_measure,
            "memory_gib": _check_measure,
            "network_gbps": _check_measure,
            "as_of": _check_day(latest),
        }

    def find_faults(self, offers: Sequence[Offer]) -> dict[int, Fault]:
        """row → the first fault found; rows without one are left out."""
        faults: dict[int, Fault] = {}
        for name, check in self._checks.items():
            for row, fault in _find_bad_rows([getattr(o, name) for o in offers], check):
                faults.setdefault(row, (NOT_AN_OFFER, f"{_label(offers[row])}: {name} {fault}"))
        valid_rows = [(row, offer) for row, offer in enumerate(offers) if row not in faults]
        for row, terms in _find_bad_terms(valid_rows):
            faults[row] = (NOT_AN_OFFER, f"{_label(offers[row])}: {terms}")
        for row, offer in valid_rows:
            if row not in faults and (price := _check_price(offer)):
                faults[row] = price
        self._add_unknown(valid_rows, faults)
        return faults

    def _add_unknown(
        self, valid_rows: Iterable[tuple[int, Offer]], faults: dict[int, Fault]
    ) -> None:
        rows = [(row, offer) for row, offer in valid_rows if row not in faults]
        unknown_accelerators = {
            name for name in {o.accelerator for _, o in rows} if not _is_known_accelerator(name)
        }
        unconvertible_currencies = {o.currency for _, o in rows} - self._currencies
        if unknown_accelerators or unconvertible_currencies:
            for row, offer in rows:
                if offer.accelerator in unknown_accelerators:
                    faults[row] = (UNKNOWN_ACCELERATOR, offer.accelerator)
                elif offer.currency in unconvertible_currencies:
                    faults[row] = (NO_EXCHANGE_RATE, offer.currency)


def _find_bad_rows(column: Sequence[object], check: FieldCheck) -> list[tuple[int, str]]:
    try:
        values = _distinct_values(column)
    except TypeError:  # a list, say, which no offer may hold
        return [(row, fault) for row, value in enumerate(column) if (fault := check(value))]
    faults_by_value = {value: fault for value in values if (fault := check(value))}
    if not faults_by_value:
        return []
    return [
        (row, faults_by_value[value])
        for row, value in enumerate(column)
        if value in faults_by_value
    ]


def _distinct_values(column: Sequence[object]) -> set[object]:
    """The values of a column; `TypeError` where two of them may be equal though one is wrong,
    as 8 and Fraction(8) are."""
    if len(set(map(type, column)) - {type(None)}) > 1:
        raise TypeError
    return set(column)


def _label(offer: Offer) -> str:
    return f"{offer.provider} {offer.region} {offer.instance_type}"[:120]


def _is_known_accelerator(accelerator: str) -> bool:
    try:
        accelerators.get(accelerator)
    except KeyError:
        return False
    return True


# One value --------------------------------------------------------------------------------

_TEXT_FIELDS = (
    ("region", 64, True),
    ("instance_type", 128, True),
    ("accelerator", 64, True),
    ("zone", 64, False),
    ("sku", 255, False),
    ("source", 500, False),
)
"""Field, longest text that can be kept, whether it is required."""


def _check_text(max_length: int, required: bool) -> FieldCheck:
    def check(value: object) -> str:
        if not isinstance(value, str) or "\x00" in value:
            return f"{value!r} is not text"
        if len(value) > max_length:
            return f"is longer than {max_length} characters"
        return "is empty" if required and not value.strip() else ""

    return check


def _check_amount(value: object) -> str:
    if not isinstance(value, Decimal) or not value.is_finite():
        return f"{value!r} is not an exact number"
    return "" if 0 <= value <= MAX_AMOUNT else f"{value} is outside 0 to {MAX_AMOUNT}"


def _check_currency(value: object) -> str:
    is_code = isinstance(value, str) and len(value) == 3 and value.isascii() and value.isupper()
    return "" if is_code else f"{value!r} is not an ISO 4217 code"


def _check_option(value: object) -> str:
    return "" if isinstance(value, PurchaseOption) else f"{value!r} is not known"


def _check_term(value: object) -> str:
    is_valid = type(value) is int and 0 <= value <= MAX_TERM_MONTHS
    return "" if is_valid else f"{value!r} is not 0 to {MAX_TERM_MONTHS}"


def _check_payment(value: object) -> str:
    return "" if value in PAYMENT_OPTIONS else f"{value!r} is not known"


def _check_count(value: object) -> str:
    if not isinstance(value, Fraction) or not 0 < value <= MAX_COUNT:
        return f"{value!r} is not above 0"
    return f"{value} is not a simple fraction" if value.denominator > MAX_COUNT else ""


def _check_measure(value: object) -> str:
    if value is None:
        return ""
    is_valid = isinstance(value, int | float) and math.isfinite(value) and value >= 0
    return "" if is_valid else f"{value!r} is not a number of 0 or more"


def _check_day(latest: dt.date) -> FieldCheck:
    def check(value: object) -> str:
        if value is None:
            return ""
        if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
            return f"{value!r} is not a date"
        return f"{value} is after {latest}" if value > latest else ""

    return check


# Values beside each other -----------------------------------------------------------------

_get_terms = attrgetter("purchase_option", "term_months")


def _find_bad_terms(valid_rows: Iterable[tuple[int, Offer]]) -> Iterable[tuple[int, str]]:
    rows = list(valid_rows)
    missing_terms = {
        terms: f"{terms[0].value} without a term"
        for terms in {_get_terms(offer) for _, offer in rows}
        if terms[0].is_commitment and not terms[1]
    }
    for row, offer in rows:
        if missing_terms and _get_terms(offer) in missing_terms:
            yield row, missing_terms[_get_terms(offer)]
        elif offer.upfront and not offer.term_months:
            yield row, f"upfront {offer.upfront} without a term to spread it over"
        elif len(offer.id) > MAX_ID:
            yield row, f"id is longer than {MAX_ID} characters"


def _check_price(offer: Offer) -> Fault | None:
    if offer.price_per_hour or offer.effective_price_per_hour > 0:
        return None
    return NO_PRICE, offer.id
