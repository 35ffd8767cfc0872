"""The read side: the market now, at given revisions, or on a day in the past.

A `Catalog` is immutable, so the one in force is kept in the process until another revision is
published, and so are those of a few days; asking again costs one small query, for a day two.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeVar

from django.core import signing
from django.db.models import Count, Max, Min, QuerySet, Subquery

from pricing import discovery, models
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group
from pricing.market.coverage import CoverageRow, compute_coverage
from pricing.market.offer_filters import OfferSearch
from pricing.market.offers import Offer
from pricing.market.snapshot import Catalog, DatedPrice, RevisionInfo
from pricing.models import PastPrice, Price, Revision
from pricing.revisions import newest_revisions, summarize_revision
from pricing.storage import reference, store

AnyPrice = TypeVar("AnyPrice", Price, PastPrice)


class State(NamedTuple):
    revisions: tuple[tuple[str, int, dt.datetime], ...]
    """(provider, number, published at), in order of provider."""
    reference: tuple[dt.datetime | None, ...]
    """When exchange rates and regions were last loaded."""


_CURSOR = "offers"
"""Salt of the signature of a cursor."""
_PAST_ORIGIN = "history"
"""Origin of what is known from before the first revision."""


def current(state: State | None = None) -> Catalog:
    """The market as it is published now, or in the state that `version` gave before."""
    return _load_catalog(state or version())


def at(revisions: Mapping[str, int]) -> Catalog:
    """The market as it was at these revisions; `InvalidInput` for one never published."""
    return _load_catalog(_read_state_at(revisions.items()))


def as_of(day: dt.date) -> Catalog:
    """The market as it was known on a day: of each provider the last revision read by then;
    before the first one, the last dated price by then from the published histories.

    Raises `InvalidInput` where nothing is known of that day.
    """
    state = version()
    if not state.revisions:  # keys of past prices alone begin anew in another database
        return _build_day(day)
    # (newest key, count) of the past prices: rows are added and removed whole, never changed, and
    # a key is never given twice.
    rows = PastPrice.objects.aggregate(newest=Max("pk"), count=Count("pk"))
    return _load_day(day, state, (rows["newest"] or 0, rows["count"]))


def version() -> State:
    """What is in force, in one query once anything is; every part names content that never
    changes. Another one whenever any published figure is; for ETags."""
    rows = list(_build_state_query().all())
    if rows:
        return State(tuple(row[:3] for row in rows), rows[0][3:])
    tables = (models.ExchangeRate.objects.all(), models.Region.objects.all())
    return State((), tuple(table.aggregate(at=Max("updated_at"))["at"] for table in tables))


def revisions_in_force() -> tuple[Revision, ...]:
    return tuple(newest_revisions())


# Offers over time -------------------------------------------------------------------------


def price_history(offer_id: str) -> tuple[DatedPrice, ...]:
    """Every change of an offer's price, the oldest first; empty for an offer never seen."""
    provider = offer_id.partition(":")[0]
    histories = _read_histories(listing__provider=provider, listing__offer_id=offer_id)
    return histories.get(offer_id, ())


def accelerator_histories(
    accelerator: str, providers: Iterable[str]
) -> dict[str, tuple[DatedPrice, ...]]:
    """Id of each offer of an accelerator by these providers → every change of its price."""
    return _read_histories(listing__accelerator=accelerator, listing__provider__in=list(providers))


def _read_histories(**of_listing: object) -> dict[str, tuple[DatedPrice, ...]]:
    ordered = _select(Price, of_listing).order_by("first_revision")
    prices = group((price.listing.offer_id, price) for price in ordered)
    dated = _select(PastPrice, of_listing).order_by("date")
    past = group((row.listing.offer_id, row) for row in dated)
    days = _read_revision_days([one for rows in prices.values() for one in rows])
    histories = {}
    for offer_id in dict.fromkeys((*prices, *past)):
        published = list(_date_prices(prices.get(offer_id, ()), days))
        before = [
            DatedPrice(row.date, None, _build_offer(row, row.date))
            for row in past.get(offer_id, ())
            if not published or row.date < published[0].date
        ]
        histories[offer_id] = tuple(_drop_repeats([*before, *published]))
    return histories


def _select(model: type[AnyPrice], of_listing: Mapping[str, object]) -> QuerySet[AnyPrice]:
    return model._default_manager.filter(**of_listing).select_related("listing")


def _read_revision_days(prices: Sequence[Price]) -> dict[tuple[str, int], dt.date]:
    if not prices:
        return {}
    ends = {p.first_revision for p in prices} | {p.last_revision + 1 for p in prices}
    revisions = Revision.objects.filter(
        provider__in={price.listing.provider for price in prices}, number__in=ends
    )
    days = revisions.order_by().values_list("provider", "number", "as_of")
    return {(provider, number): day for provider, number, day in days}


def _date_prices(
    prices: Sequence[Price], days: Mapping[tuple[str, int], dt.date]
) -> Iterable[DatedPrice]:
    starts = {price.first_revision for price in prices}
    for price in prices:
        provider = price.listing.provider
        number, after = price.first_revision, price.last_revision + 1
        day, day_after = days[provider, number], days.get((provider, after))
        yield DatedPrice(day, number, _build_offer(price, day))
        if day_after is not None and after not in starts:
            yield DatedPrice(day_after, after, None)


def _drop_repeats(prices: Iterable[DatedPrice]) -> Iterable[DatedPrice]:
    before: tuple[object, ...] | None = None
    for entry in prices:
        offer = entry.offer
        price = None if offer is None else (offer.price_per_hour, offer.upfront, offer.currency)
        if price != before or before is None:
            yield entry
        before = price


def _build_offer(price: Price | PastPrice, day: dt.date) -> Offer:
    columns = [getattr(price.listing, name) for name in store.LISTING_FIELDS]
    return store.build_offer(columns, price.price_per_hour, price.upfront, price.sold_now, day)


# Building ---------------------------------------------------------------------------------


@cache
def _build_state_query() -> QuerySet[Revision, tuple[Any, ...]]:
    rates = models.ExchangeRate.objects.order_by("-updated_at").values("updated_at")[:1]
    regions = models.Region.objects.order_by("-updated_at").values("updated_at")[:1]
    return (
        newest_revisions()
        .annotate(rates=Subquery(rates), regions=Subquery(regions))
        .values_list("provider", "number", "published_at", "rates", "regions")
    )


def _read_state_at(revisions: Iterable[tuple[str, int]]) -> State:
    rows = [_get_revision(provider, number) for provider, number in sorted(revisions)]
    keys = tuple((r.provider, r.number, r.published_at) for r in rows)
    return State(keys, version().reference)


@lru_cache(maxsize=8)
def _load_catalog(state: State) -> Catalog:
    """A state names immutable content, so its catalog can be kept.

    Money is converted with the rates of the last day on which a provider was read, so that the
    same revisions give the same figures at any later time.
    """
    revision_rows = [_get_revision(provider, number) for provider, number, _ in state.revisions]
    offers = [offer for revision in revision_rows for offer in store.read_offers(revision)]
    rates = reference.exchange_rates()
    if revision_rows:
        rates = rates.known_by(max(r.as_of for r in revision_rows))
    return Catalog.of(
        offers,
        revisions=[summarize_revision(revision) for revision in revision_rows],
        regions=reference.regions(),
        exchange_rates=rates,
    )


def _get_revision(provider: str, number: int) -> Revision:
    revision = Revision.objects.filter(provider=provider, number=number).first()
    if revision is None:
        last = store.latest(provider)
        known = f"known are 1 to {last.number}" if last else "it has none"
        raise InvalidInput("revision", f"{provider} has no revision {number}; {known}")
    return revision


@lru_cache(maxsize=4)
def _load_day(day: dt.date, state: State, past: tuple[int, int]) -> Catalog:
    return _build_day(day)


def _build_day(day: dt.date) -> Catalog:
    rows = Revision.objects.filter(as_of__lte=day).values_list("provider")
    revisions: dict[str, int] = dict(rows.annotate(number=Max("number")).order_by("provider"))
    past_rows = PastPrice.objects.filter(date__lte=day).exclude(listing__provider__in=[*revisions])
    past = past_rows.select_related("listing").order_by("date")
    offers = {row.listing.offer_id: _build_offer(row, row.date) for row in past}
    past_offers = list(offers.values())
    if not revisions and not past_offers:
        first_past_day = PastPrice.objects.aggregate(day=Min("date"))["day"]
        days = [first_past_day, Revision.objects.aggregate(day=Min("as_of"))["day"]]
        first = min(filter(None, days), default=None)
        known = f"the first known day is {first}" if first else "the catalog is empty"
        raise InvalidInput("as_of", f"no price is known of {day} or before; {known}")
    published_catalog = _load_catalog(_read_state_at(revisions.items()))
    if not past_offers:
        return published_catalog
    by_provider = group((offer.provider, offer) for offer in past_offers)
    summaries = [
        *published_catalog.revisions,
        *(
            replace(RevisionInfo.summarize(provider, of_provider, revision=0), origin=_PAST_ORIGIN)
            for provider, of_provider in by_provider.items()
        ),
    ]
    return Catalog.of(
        [*published_catalog.offers.offers, *past_offers],
        revisions=sorted(summaries, key=lambda info: info.provider),
        regions=published_catalog.regions,
        exchange_rates=published_catalog.exchange_rates,
    )


def check_known_names(search: OfferSearch, known: Catalog) -> None:
    """Raise `InvalidInput` for a name that neither catalog nor adapters have."""
    search.check_known_names(known, discovery.all_providers() if search.provider else ())


def search_coverage(search: OfferSearch, known: Catalog) -> tuple[CoverageRow, ...]:
    """What is known of the prices that a search asks for, in its places."""
    places = OfferSearch(
        provider=search.provider,
        region=search.region,
        geography=search.geography,
        accelerator=search.accelerator,
        sold_now=True,
    )
    return compute_coverage(
        known.offers,
        places.rows(known),
        accelerators=search.accelerator,
        providers=search.provider,
        purchase_options=search.purchase_option,
    )


# Pages ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PagePosition:
    """Where a page begins, and in which revisions: pages fit together while others publish."""

    start: int
    revisions: tuple[tuple[str, int], ...]


def catalog_for(search: OfferSearch, position: PagePosition | None, now: State) -> Catalog:
    """The catalog that a search looks at: of its day, of its cursor, or the one in force."""
    if search.as_of is not None:
        return as_of(search.as_of)
    return at(dict(position.revisions)) if position else current(now)


def to_cursor(search: OfferSearch, start: int, known: Catalog) -> str:
    """An opaque cursor to the page of `search` that begins at `start`."""
    revisions = [[info.provider, info.revision] for info in known.revisions]
    return signing.dumps([start, search.key, revisions], salt=_CURSOR, compress=True)


def from_cursor(search: OfferSearch, cursor: str) -> PagePosition:
    """The place that `to_cursor` named; `InvalidInput` for one that is not of this search."""
    try:
        start, key, revisions = signing.loads(cursor, salt=_CURSOR)
    except signing.BadSignature:
        raise InvalidInput("cursor", "is not one of ours; follow `next` links") from None
    if key != search.key:
        raise InvalidInput("cursor", "belongs to other filters; follow `next` links")
    return PagePosition(start, tuple((name, number) for name, number in revisions))
