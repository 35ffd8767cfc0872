"""Faults of a whole list, over the market of the three clouds: what is published is never wrong,
what waits or is marked is never sound, and each is said by the name of its part.

Faults of an answer (500, 403, cut, HTML, empty, slow, loops, a bad token) are those of
`tests/pricing/isolation`, over servers.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

import pytest

from pricing.bundled import catalog
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offers import Offer, PurchaseOption
from pricing.publish.batch import OfferBatch
from pricing.publish.comparison import PublishedState, compare_lists, name_part, part_of

DAY, BEFORE = dt.date(2026, 11, 23), dt.date(2026, 10, 24)
CLOUDS = ("aws", "azure", "gcp")
FAMILIES = {"aws": "p4d", "azure": "Standard_NC#lds_xl_RTXPRO6000BSE_v6", "gcp": "g4-standard"}
REGIONS = {"aws": "eu-west-1", "azure": "westeurope", "gcp": "us-central1"}
COMMITMENTS = {"aws": "savings_plan", "azure": "savings_plan", "gcp": "committed_use"}


@cache
def market(provider: str) -> tuple[Offer, ...]:
    return tuple(
        replace(one, as_of=DAY)
        for one in catalog.read_offers()
        if one.provider == provider and one.sold_now
    )


@cache
def rates() -> ExchangeRates:
    return ExchangeRates.of(catalog.read_exchange_rates())


def times(offer: Offer, factor: str) -> Offer:
    by = Decimal(factor)
    return replace(offer, price_per_hour=offer.price_per_hour * by, upfront=offer.upfront * by)


def of_all(_: Offer) -> bool:
    return True


def of_family(offer: Offer) -> bool:
    return part_of(offer)[2] == FAMILIES[offer.provider]


def of_new_family(offer: Offer) -> bool:
    """Of machines whose accelerator other machines have."""
    return part_of(offer)[2] == "a2-megagpu"


def of_region(offer: Offer) -> bool:
    return offer.region == REGIONS[offer.provider]


def of_commitment(offer: Offer) -> bool:
    return offer.purchase_option.value == COMMITMENTS[offer.provider]


@dataclass(frozen=True)
class ListFault:
    strikes: Callable[[Offer], bool]
    """Offers that come wrong, or not at all."""
    change: Callable[[Offer], Offer | None]
    names: Callable[[str], str] = lambda _provider: "on demand"
    """What is said of each cloud."""


def named(part: Callable[[str], tuple[str, str, str]]) -> Callable[[str], str]:
    return lambda provider: name_part(part(provider))


FAMILY = named(lambda provider: ("on_demand", "", FAMILIES[provider]))
REGION = named(lambda provider: ("on_demand", REGIONS[provider], ""))
COMMITMENT = named(lambda provider: (COMMITMENTS[provider], "", ""))
FAULTS: dict[str, ListFault] = {
    **{f"× {x}": ListFault(of_all, lambda o, x=x: times(o, x)) for x in ("2", "0.5", "1.3")},
    "EUR for USD": ListFault(of_all, lambda o: times(o, "0.868")),
    "labelled EUR": ListFault(of_all, lambda o: replace(o, currency="EUR")),
    "per half node": ListFault(of_family, lambda o: times(o, "0.5"), FAMILY),
    "a region × 2": ListFault(of_region, lambda o: times(o, "2"), REGION),
    "an option × 1000": ListFault(of_commitment, lambda o: times(o, "1000"), COMMITMENT),
    "a family gone": ListFault(of_family, lambda _o: None, FAMILY),
    "a region gone": ListFault(of_region, lambda _o: None, REGION),
    "half a market": ListFault(lambda o: sum(o.id.encode()) % 2 == 0, lambda _o: None,
                               lambda _provider: "more parts"),
    "1e400": ListFault(of_family, lambda o: replace(o, price_per_hour=Decimal("1e400")), FAMILY),
    "NaN": ListFault(of_family, lambda o: replace(o, price_per_hour=Decimal("NaN")), FAMILY),
}  # fmt: skip


@pytest.mark.one_in(7)
@pytest.mark.parametrize("is_first", [False, True], ids=["published", "empty database"])
@pytest.mark.parametrize("provider", CLOUDS)
@pytest.mark.parametrize("name", FAULTS)
def test_no_wrong_row_is_published_and_no_sound_part_is_not(
    name: str, provider: str, is_first: bool
) -> None:
    fault, truth = FAULTS[name], {one.id: one for one in market(provider)}
    struck = {key for key, one in truth.items() if fault.strikes(one)}
    came = [fault.change(one) if key in struck else one for key, one in truth.items()]
    offers = tuple(one for one in came if one is not None)
    older = tuple(replace(one, as_of=BEFORE) for one in truth.values())
    state = PublishedState(
        offers=() if is_first else older, expected=older if is_first else (), exchange_rates=rates()
    )
    result = compare_lists(OfferBatch(provider, offers, DAY), state, DAY)
    published = {one.id: one for one in result.offers if one.sold_now}
    as_before = {key: replace(one, as_of=BEFORE) for key, one in truth.items() if key in struck}
    expected = {key: one for key, one in truth.items() if key not in struck} | (
        {} if is_first else as_before
    )
    assert {key: replace(one, absent_since=None) for key, one in published.items()} == expected
    said = "; ".join([*(part.describe() for part in result.held_parts), *result.absent])
    marked = {key for key, one in published.items() if one.absent_since}
    if not is_first or result.held_parts:
        assert fault.names(provider) in said
    assert marked <= struck
    is_told = marked or "cannot be right" in said
    assert bool(is_told) >= (not is_first and not result.held_parts)


NEW_PARTS: dict[str, tuple[str, Callable[[Offer], bool], str]] = {
    "per accelerator": ("azure", of_commitment, "0.125"),
    "a region × 3": ("aws", of_region, "3"),
    "a region ÷ 20": ("aws", of_region, "0.05"),
    "a family × 8": ("gcp", of_new_family, "8"),
    "a family ÷ 8": ("gcp", of_new_family, "0.125"),
    "a commitment × 4": ("aws", of_commitment, "4"),
}


@pytest.mark.parametrize("name", NEW_PARTS)
def test_a_part_never_compared_waits_far_from_what_stands_beside_it(name: str) -> None:
    provider, strikes, factor = NEW_PARTS[name]
    older = tuple(one for one in market(provider) if not strikes(one))
    state = PublishedState(offers=older, exchange_rates=rates())
    came = tuple(times(one, factor) if strikes(one) else one for one in market(provider))
    result = compare_lists(OfferBatch(provider, came, DAY), state, DAY)
    taken = {one.id for one in result.offers if one.sold_now and strikes(one)}
    assert len(taken) <= 0.1 * sum(map(strikes, came))  # some have nothing beside them
    sound = compare_lists(OfferBatch(provider, market(provider), DAY), state, DAY)
    assert not sound.held_parts


@pytest.mark.parametrize("provider", CLOUDS)
def test_a_sound_list_is_published_whole_and_a_month_of_small_moves_too(provider: str) -> None:
    older = tuple(
        replace(times(one, "0.97" if n % 3 else "1.04"), as_of=BEFORE)
        if one.purchase_option is not PurchaseOption.SPOT
        else times(one, str(Decimal(70 + n % 90) / 100))
        for n, one in enumerate(market(provider))
    )
    for state in (PublishedState(older, exchange_rates=rates()), PublishedState(
        expected=older, exchange_rates=rates())):  # fmt: skip
        result = compare_lists(OfferBatch(provider, market(provider), DAY), state, DAY)
        assert (result.held_parts, result.rejected_rows, result.absent) == ((), (), ())
        assert set(result.offers) == set(market(provider))
