"""Checks that a batch must pass before it is published. PURE.

There are four kinds of finding:

- A row that cannot be right by itself is *rejected* with its reason and the others go on: not in
  the form of an offer, a price of 0 or less, an unknown accelerator or currency, two prices for
  one offer, a region in two spellings, spot above on demand, a bigger size cheaper than a smaller
  one. A rejected offer is absent; it is never shown with an older price.
- A price that moved beyond its band (`pricing.publish.outliers`) is *quarantined* alone: what is
  published of it stays in force with its own date, and an operator decides on the new one.
- A region or family that cannot be right while the others can (`pricing.publish.doubtful_parts`) is
  *left* as it is published and named; the others are published.
- A batch that differs from the published state as a provider hardly ever does is *held* whole
  (quarantined) for review: more than 5 % of its prices beyond their bands, offers gone as
  `pricing.publish.losses` judges it, a currency changed without converting the number, more than
  20 % of the rows rejected, impossible dates.

`force` overrules both quarantines, takes in every region and, of the rejected rows, the last two
kinds, which are improbable yet possible; nothing overrules the others.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pricing.common.pluralize import pluralize
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.offers import Offer
from pricing.publish.batch import OfferBatch
from pricing.publish.doubtful_parts import find_doubtful_parts, find_unlisted
from pricing.publish.losses import find_losses, summarize_names
from pricing.publish.outliers import (
    MAX_PRICE_RATIO,
    Outlier,
    PriceRanges,
    find_movers,
    find_outliers,
    is_relabelled,
    is_too_many,
)
from pricing.publish.row_checks import RejectedRow, check_rows, find_contradictions

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
    read_ranges: PriceRanges = lambda _offers: {}
    """What interruptible prices were before."""


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
    outliers: tuple[Outlier, ...] = ()
    """Prices that are not published, their published ones staying in force."""
    doubtful_parts: tuple[NotRead, ...] = ()
    """Regions, or options of them, that stay as published because what came cannot be right."""


def check(
    batch: OfferBatch, published_state: PublishedState, today: dt.date, *, force: bool = False
) -> CheckResult:
    """Check `batch` against the published state; the module says what each finding leads to."""
    published = {offer.id: offer for offer in published_state.offers}
    rates = published_state.exchange_rates
    outliers: list[Outlier] = []

    def settle(offers: list[Offer]) -> list[Offer]:
        """Prices beyond their band say nothing of the others: the published ones do."""
        offers = _keep_unsold(batch, offers, published_state.offers)
        outliers.extend(find_outliers(offers, published, rates, published_state.read_ranges))
        settled = offers if force else _keep_published(offers, outliers)
        movers = find_movers(find_contradictions(settled), published, rates)
        outliers.extend(movers)
        too_many = is_too_many(outliers, sum(offer.id in published for offer in offers))
        return offers if force or too_many else _keep_published(settled, movers)

    passed, rejected_rows = check_rows(
        batch.offers,
        provider=batch.provider,
        rates=rates,
        known_regions=published_state.known_regions,
        latest=max(today, batch.as_of),
        settle=settle,
        force=force,
    )
    read = _ReadRows(passed, rejected_rows, outliers)
    result = _decide(batch, read, published_state, today, force=force)
    if force or batch.origin == "bundled":  # which one file holds
        return result
    # Where leaving something is not enough, an operator judges the list as it came.
    without = _leave_what_is_doubtful(batch, read, published_state, today, result)
    return without or result


@dataclass(frozen=True)
class _ReadRows:
    """The rows of a batch, sorted by what was seen of each."""

    passed: Sequence[Offer]
    rejected: Sequence[RejectedRow]
    outliers: Sequence[Outlier]


def _decide(
    batch: OfferBatch,
    read: _ReadRows,
    published_state: PublishedState,
    today: dt.date,
    *,
    force: bool = False,
) -> CheckResult:
    published = {offer.id for offer in published_state.offers}
    too_many = is_too_many(read.outliers, sum(offer.id in published for offer in read.passed))
    passed = list(read.passed)
    if not (force or too_many):
        passed = _keep_published(passed, read.outliers)
    carried_over = carry_over_unread(batch, passed, read.rejected, published_state.offers)
    reasons = _find_quarantine_reasons(
        batch, passed, carried_over, read.rejected, published_state, today
    )
    moves = [one.describe() for one in read.outliers] if too_many else []
    quarantine_reasons = () if force else (*reasons, *_describe_moves(moves))
    return CheckResult(
        (*passed, *carried_over),
        tuple(row.to_skipped_row() for row in read.rejected),
        quarantine_reasons,
        len(carried_over),
        () if force or too_many else tuple(read.outliers),
    )


def _leave_what_is_doubtful(
    batch: OfferBatch,
    read: _ReadRows,
    published_state: PublishedState,
    today: dt.date,
    result: CheckResult,
) -> CheckResult | None:
    """The decision on the rest, if there is something to leave and the rest may be published."""
    before = [o for o in published_state.offers if o.sold_now and not _is_unread(o, batch)]
    key = _key(batch, published_state)
    is_held = bool(result.reasons)
    if doubtful_parts := find_doubtful_parts(
        read.passed, before, read.outliers, key, published_state.exchange_rates, is_held=is_held
    ):
        without = _decide(*_leave_out(batch, read, doubtful_parts), published_state, today)
        if not without.reasons:
            return replace(without, doubtful_parts=doubtful_parts)
    if unlisted := find_unlisted(read.passed, before, result.reasons):
        sold = [replace(o, sold_now=True) if o.id in unlisted else o for o in read.passed]
        without = _decide(batch, replace(read, passed=sold), published_state, today)
        if not without.reasons:
            return replace(without, doubtful_parts=(_explain_unlisted(len(unlisted)),))
    return None


def _explain_unlisted(count: int) -> NotRead:
    offers = pluralize(count, "priced offer")
    reason = f"the list of what is sold where lacks {offers}; refresh with --force if that is so"
    return NotRead(reason, availability_only=True)


def _leave_out(
    batch: OfferBatch, read: _ReadRows, doubtful_parts: tuple[NotRead, ...]
) -> tuple[OfferBatch, _ReadRows]:
    """`batch` and its rows as if `doubtful_parts` had not been read."""

    def is_left_out(offer: Offer) -> bool:
        return any(_covers(part, offer) for part in doubtful_parts)

    left_out = {offer.id for offer in batch.offers if is_left_out(offer)}
    offers = tuple(offer for offer in batch.offers if offer.id not in left_out)
    return replace(batch, offers=offers, not_read=(*batch.not_read, *doubtful_parts)), _ReadRows(
        [offer for offer in read.passed if offer.id not in left_out],
        [row for row in read.rejected if row.offer_id not in left_out],
        [one for one in read.outliers if one.offer.id not in left_out],
    )


def _describe_moves(moves: Sequence[str]) -> Iterable[str]:
    return summarize_names(moves, f"changed by more than a factor of {MAX_PRICE_RATIO:g}")


def _keep_published(passed: list[Offer], outliers: Iterable[Outlier]) -> list[Offer]:
    """`passed` with the published price in the place of each outlier."""
    before = {one.offer.id: one.before for one in outliers}
    return [before.get(offer.id, offer) for offer in passed] if before else passed


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
    yield from _check_currencies(passed, published, published_state.exchange_rates)
    is_first = not published_state.offers
    if is_first:
        published = {offer.id: offer for offer in published_state.expected if offer.sold_now}
        carried_over = [o for o in published.values() if _is_unread(o, batch)]
    key = _key(batch, published_state)
    yield from find_losses(batch, passed, carried_over, published, key)


def _key(batch: OfferBatch, published_state: PublishedState) -> Callable[[Offer], str]:
    """What makes two offers one. The bundled prices name zones in another way, or not at all."""
    against_bundled = batch.origin != "bundled" and (
        not published_state.offers or published_state.origin == "bundled"
    )
    return _drop_zone if against_bundled else _get_id


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


def _check_currencies(
    offers: Iterable[Offer], published: Mapping[str, Offer], rates: ExchangeRates
) -> Iterable[str]:
    relabelled = [
        f"{offer.id} {before.currency} → {offer.currency}"
        for offer in offers
        if (before := published.get(offer.id)) is not None
        and offer.sold_now
        and is_relabelled(offer, before, rates)
    ]
    yield from summarize_names(relabelled, "changed currency without converting the number")
