"""Row by row: which offers of a batch can be right, and why the others cannot. PURE.

See `pricing.publish.comparison` for what follows from it.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, InstanceOf, ValidationError

from pricing.common.amounts import MAX_AMOUNT
from pricing.common.tables import group
from pricing.ingest.provider import SkippedRow
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
OUT_OF_SCALE = "far from the price of its siblings"
BIGGER_CHEAPER = "bigger size cheaper than a smaller one"

PRICE_TOLERANCE = Decimal("1.001")
"""Prices this close are the same: providers round spot and on demand to other places."""
MAX_SCALE, MIN_SIBLINGS = 100.0, 5
"""Factor by which a price of an accelerator may differ from the median of an option, of so many:
a machine that is mostly host costs ten times as much for each accelerator."""
MAX_TERM_MONTHS = 120
MAX_COUNT = 100_000
"""Most accelerators of one machine, and the finest fraction of one."""
MAX_ID = 255
"""Longest offer id, in characters."""

Fault = tuple[str, str]
"""(reason, detail)."""


def check_each(
    offers: Sequence[Offer],
    *,
    provider: str,
    rates: ExchangeRates,
    known_regions: frozenset[str] = frozenset(),
    latest: dt.date,
) -> tuple[list[Offer], list[SkippedRow]]:
    """(offers that can be right by themselves, in order; those rejected with their reason).

    `latest` is the last day a price may be of.
    """
    faults = _find_faults(offers, provider, rates, latest)
    rejected = [SkippedRow(*faults[row]) for row in sorted(faults)]
    valid = [offer for row, offer in enumerate(offers) if row not in faults]
    valid = _reject(valid, _find_misspelled(valid, known_regions), rejected)
    valid = _reject(valid, _find_price_conflicts(valid), rejected)
    first = {offer.id: offer for offer in reversed(valid)}
    if len(first) < len(valid):
        again = [offer.id for offer in valid if first[offer.id] is not offer]
        rejected += [SkippedRow(SAME_TWICE, offer_id) for offer_id in again]
        valid = [offer for offer in valid if first[offer.id] is offer]
    return _reject(valid, _find_out_of_scale(valid, rates), rejected), rejected


def check_pairs(offers: list[Offer]) -> tuple[list[Offer], list[SkippedRow]]:
    """The same of offers that contradict one another: improbable, yet possible."""
    rejected: list[SkippedRow] = []
    spot_above = {
        spot.id: (SPOT_ABOVE, f"{spot.id} {spot.price_per_hour} > {regular.price_per_hour}")
        for spot, regular in _find_spot_above(offers)
    }
    offers = _reject(offers, spot_above, rejected)
    # The bigger machine is rejected: its price is the low one that a plan would choose.
    too_cheap = {
        bigger.id: (BIGGER_CHEAPER, f"{bigger.id} < {smaller.instance_type}")
        for smaller, bigger in _find_size_inversions(offers)
    }
    return _reject(offers, too_cheap, rejected), rejected


def _reject(
    offers: list[Offer], faults: Mapping[str, Fault], rejected: list[SkippedRow]
) -> list[Offer]:
    bad = [offer.id for offer in offers if offer.id in faults]
    rejected += [SkippedRow(*faults[offer_id]) for offer_id in bad]
    return [offer for offer in offers if offer.id not in faults]


# Each offer by itself ---------------------------------------------------------------------


_TEXT = r"^[^\x00]*$"
_NAME = r"^[^\x00]*[^\x00\s][^\x00]*$"
_Amount = Annotated[Decimal, Field(ge=0, le=MAX_AMOUNT)]
_Measure = Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


def _check_payment(option: str) -> str:
    if option not in PAYMENT_OPTIONS:
        raise ValueError("is not known")
    return option


class _OfferForm(BaseModel):
    """What the fields of an offer may hold; an adapter of somebody else's may give anything."""

    model_config = ConfigDict(strict=True, from_attributes=True)

    region: str = Field(pattern=_NAME, max_length=64)
    instance_type: str = Field(pattern=_NAME, max_length=128)
    accelerator: str = Field(pattern=_NAME, max_length=64)
    zone: str = Field(pattern=_TEXT, max_length=64)
    sku: str = Field(pattern=_TEXT, max_length=255)
    source: str = Field(pattern=_TEXT, max_length=500)
    price_per_hour: _Amount
    upfront: _Amount
    currency: str = Field(pattern="^[A-Z]{3}$")
    purchase_option: PurchaseOption
    term_months: int = Field(ge=0, le=MAX_TERM_MONTHS)
    payment_option: Annotated[str, AfterValidator(_check_payment)]
    accelerator_count: InstanceOf[Fraction]
    vcpus: _Measure
    memory_gib: _Measure
    network_gbps: _Measure
    as_of: dt.date | None


def _find_faults(
    offers: Sequence[Offer], provider: str, rates: ExchangeRates, latest: dt.date
) -> dict[int, Fault]:
    slugs = {one.slug for one in accelerators.all_accelerators()}
    currencies = frozenset(rates.currencies)
    faults: dict[int, Fault] = {}
    for row, offer in enumerate(offers):
        if problem := _explain_bad_form(offer, provider, latest):
            faults[row] = (
                NOT_AN_OFFER,
                f"{offer.provider} {offer.region} {offer.instance_type}"[:120] + f": {problem}",
            )
        elif not (offer.price_per_hour or offer.effective_price_per_hour > 0):
            faults[row] = (NO_PRICE, offer.id)
        elif offer.accelerator not in slugs:
            faults[row] = (UNKNOWN_ACCELERATOR, offer.accelerator)
        elif offer.currency not in currencies:
            faults[row] = (NO_EXCHANGE_RATE, offer.currency)
    return faults


def _explain_bad_form(offer: Offer, provider: str, latest: dt.date) -> str:
    try:
        _OfferForm.model_validate(offer)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{first['loc'][0]} {first['input']!r:.60}: {first['msg']}"
    count = offer.accelerator_count
    if offer.provider != provider:
        return f"provider {offer.provider!r} instead of {provider!r}"
    if not 0 < count <= MAX_COUNT or count.denominator > MAX_COUNT:
        return f"accelerator_count {count} is not above 0, or is no simple fraction"
    if offer.as_of and offer.as_of > latest:
        return f"as_of {offer.as_of} is after {latest}"
    if not offer.term_months and offer.purchase_option.is_commitment:
        return f"{offer.purchase_option.value} without a term"
    if not offer.term_months and offer.upfront:
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


def _find_out_of_scale(offers: Sequence[Offer], rates: ExchangeRates) -> dict[str, Fault]:
    prices = group(
        (
            (offer.accelerator, offer.purchase_option),
            (offer, float(rates.to_usd(offer.price_per_accelerator_hour, offer.currency))),
        )
        for offer in offers
    )
    faults: dict[str, Fault] = {}
    for siblings in prices.values():
        typical = median(usd for _, usd in siblings)
        for offer, price in siblings if len(siblings) >= MIN_SIBLINGS else ():
            if not typical / MAX_SCALE <= price <= typical * MAX_SCALE:
                times = f"× {price / typical:.3g} of its siblings"
                faults[offer.id] = (OUT_OF_SCALE, f"{offer.id} is {times}")
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
    for siblings in groups.values():
        for smaller, smaller_price in siblings:
            for bigger, bigger_price in siblings:
                if bigger_price * PRICE_TOLERANCE < smaller_price and _is_bigger(bigger, smaller):
                    yield smaller, bigger


def _is_bigger(offer: Offer, other: Offer) -> bool:
    if offer.accelerator_count <= other.accelerator_count:
        return False
    pairs = ((offer.vcpus, other.vcpus), (offer.memory_gib, other.memory_gib))
    return all(a is not None and b is not None and a >= b for a, b in pairs)
