"""Checks that a batch must pass before it is published. PURE.

There are two kinds of finding:

- A row that cannot be right by itself is *rejected* with its reason and the others go on: not in
  the form of an offer, a price of 0 or less, an unknown accelerator or currency, two prices for
  one offer, a region in two spellings, spot above on demand, a bigger size cheaper than a smaller
  one. A rejected offer is absent; it is never shown with an older price.
- A batch that differs from the published state as a provider hardly ever does is *held* whole
  (quarantined) for review: a price that changed by more than a factor of 5, offers gone as
  `pricing.publish.losses` judges it, a currency label changed over the same number, more than
  20 % of the rows rejected, impossible dates.

`force` overrules the quarantine and, of the rejected rows, the last two kinds, which are
improbable yet possible; nothing overrules the others.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pricing.common.pluralize import pluralize
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.offers import Offer
from pricing.market.snapshot import ExchangeRates
from pricing.publish.batch import OfferBatch
from pricing.publish.losses import find_losses, summarize_names
from pricing.publish.row_checks import RejectedRow, check_rows

MAX_PRICE_RATIO = 5.0
"""A price may rise or fall by this factor from one revision to the next."""
_MAX_LOG_RATIO = math.log(MAX_PRICE_RATIO) + 1e-9
"""The same for a rise and a fall, rounding of floats aside."""
MAX_REJECTED_SHARE = 0.20
"""Share of the rows that may be rejected before the whole batch is held for review."""


@dataclass(frozen=True)
class PublishedState:
    """What is published of the provider at the moment; empty before the first revision."""

    offers: Sequence[Offer] = ()
    as_of: dt.date | None = None
    origin: str = ""
    exchange_rates: ExchangeRates = field(default_factory=ExchangeRates)
    expected: Sequence[Offer] = ()
    """What the first list of a provider is held against while nothing is published."""
    known_regions: frozenset[str] = frozenset()
    """Regions of the provider in their right spelling."""


@dataclass(frozen=True)
class CheckResult:
    """What the checks decided of a batch."""

    offers: tuple[Offer, ...]
    """What would be published: the rows that passed, and what stays in force beside them."""
    rejected_rows: tuple[SkippedRow, ...]
    reasons: tuple[str, ...]
    """Why the whole batch is held; empty when it may be published."""
    carried_over: int = 0
    """Offers that stay in force with their own dates because they were not read."""


def check(
    batch: OfferBatch, published_state: PublishedState, today: dt.date, *, force: bool = False
) -> CheckResult:
    """Check `batch` against the published state; the module says what each finding leads to."""
    passed, rejected_rows = check_rows(
        batch.offers,
        provider=batch.provider,
        rates=published_state.exchange_rates,
        known_regions=published_state.known_regions,
        latest=max(today, batch.as_of),
        force=force,
    )
    passed = _keep_unsold(batch, passed, published_state.offers)
    carried_over = carry_over_unread(batch, passed, rejected_rows, published_state.offers)
    offers = (*passed, *carried_over)
    reasons = _find_quarantine_reasons(
        batch, passed, carried_over, rejected_rows, published_state, today
    )
    quarantine_reasons = () if force else tuple(reasons)
    return CheckResult(
        offers,
        tuple(row.to_skipped_row() for row in rejected_rows),
        quarantine_reasons,
        len(carried_over),
    )


def carry_over_unread(
    batch: OfferBatch,
    passed: Iterable[Offer],
    rejected_rows: Iterable[RejectedRow],
    published: Iterable[Offer],
) -> tuple[Offer, ...]:
    """Published offers that the batch says nothing about: regions and parts that were not read,
    and machines no longer sold, whose last known price is still shown."""
    checked_ids = {offer.id for offer in passed} | {row.offer_id for row in rejected_rows}
    return tuple(
        offer
        for offer in published
        if offer.id not in checked_ids and (not offer.sold_now or _is_unread(offer, batch))
    )


def _is_unread(offer: Offer, batch: OfferBatch) -> bool:
    if batch.regions and offer.region not in batch.regions:
        return True
    return any(_covers(part, offer) for part in batch.not_read if not part.availability_only)


def _keep_unsold(batch: OfferBatch, passed: list[Offer], published: Iterable[Offer]) -> list[Offer]:
    """`passed`, those published as not sold still so where it was not read what is sold."""
    parts = [part for part in batch.not_read if part.availability_only]
    if not parts:
        return passed
    unsold = {offer.id for offer in published if not offer.sold_now}
    return [
        replace(offer, sold_now=False)
        if offer.id in unsold and any(_covers(part, offer) for part in parts)
        else offer
        for offer in passed
    ]


def _covers(part: NotRead, offer: Offer) -> bool:
    limits = (
        (part.purchase_options, offer.purchase_option),
        (part.regions, offer.region),
        (part.instance_types, offer.instance_type),
    )
    return all(not allowed or value in allowed for allowed, value in limits)


def _find_quarantine_reasons(
    batch: OfferBatch,
    passed: Sequence[Offer],
    carried_over: Sequence[Offer],
    rejected_rows: Sequence[RejectedRow],
    published_state: PublishedState,
    today: dt.date,
) -> Iterable[str]:
    yield from _check_dates(batch, published_state, today)
    yield from _check_rejected_share(batch, rejected_rows)
    published = {offer.id: offer for offer in published_state.offers if offer.sold_now}
    yield from _check_price_changes(passed, published, published_state.exchange_rates)
    is_first = not published_state.offers
    if is_first:
        published = {offer.id: offer for offer in published_state.expected if offer.sold_now}
        carried_over = [o for o in published.values() if _is_unread(o, batch)]
    # The bundled prices name zones in another way, or not at all.
    against_bundled = batch.origin != "bundled" and (
        is_first or published_state.origin == "bundled"
    )
    key = _drop_zone if against_bundled else _get_id
    yield from find_losses(batch, passed, carried_over, published, key)


def _get_id(offer: Offer) -> str:
    return offer.id


def _drop_zone(offer: Offer) -> str:
    return replace(offer, zone="").id if offer.zone else offer.id


def _check_dates(
    batch: OfferBatch, published_state: PublishedState, today: dt.date
) -> Iterable[str]:
    if published_state.as_of and batch.as_of < published_state.as_of:
        in_force = f"the revision in force of {published_state.as_of}"
        yield f"it is dated {batch.as_of}, older than {in_force}"
    if batch.as_of > today + dt.timedelta(days=1):
        yield f"it is dated {batch.as_of}, which is after today, {today}; check the clock"


def _check_rejected_share(batch: OfferBatch, rejected_rows: Sequence[RejectedRow]) -> Iterable[str]:
    rejected_count = sum(1 for row in rejected_rows if row.counts_against_batch)
    if batch.offers and rejected_count > MAX_REJECTED_SHARE * len(batch.offers):
        offers = pluralize(len(batch.offers), "offer")
        yield f"{rejected_count} of its {offers} did not pass the checks"


def _check_price_changes(
    offers: Iterable[Offer], published: Mapping[str, Offer], rates: ExchangeRates
) -> Iterable[str]:
    price_changes: list[str] = []
    currency_changes: list[str] = []
    for offer in offers:
        before = published.get(offer.id)
        if before is None or not offer.sold_now or _same_price(offer, before):
            continue
        if offer.currency != before.currency and _same_number(offer, before):
            currency_changes.append(f"{offer.id} {before.currency} → {offer.currency}")
        elif abs(math.log(ratio := _price_ratio(offer, before, rates))) > _MAX_LOG_RATIO:
            price_changes.append(
                f"{offer.id} {_format_price(before)} → {_format_price(offer)} (× {ratio:.3g})"
            )
    yield from summarize_names(
        price_changes, f"changed by more than a factor of {MAX_PRICE_RATIO:g}"
    )
    yield from summarize_names(currency_changes, "changed currency but not the number")


def _same_price(offer: Offer, before: Offer) -> bool:
    return offer is before or (
        offer.price_per_hour == before.price_per_hour
        and offer.upfront == before.upfront
        and offer.currency == before.currency
    )


def _same_number(offer: Offer, before: Offer) -> bool:
    return (offer.price_per_hour, offer.upfront) == (before.price_per_hour, before.upfront)


def _price_ratio(offer: Offer, before: Offer, rates: ExchangeRates) -> float:
    """Price now / price before, in one currency."""
    price_now, price_before = offer.effective_price_per_hour, before.effective_price_per_hour
    if offer.currency == before.currency:
        return float(price_now) / float(price_before)
    return float(
        rates.to_usd(price_now, offer.currency) / rates.to_usd(price_before, before.currency)
    )


def _format_price(offer: Offer) -> str:
    return f"{offer.effective_price_per_hour:.6g} {offer.currency}/h"
