"""Prices that cannot be right beside the others: rejected with their reason. PURE.

What publishing would reject is rejected here already, so that the report of a build lists it,
with one check more: a machine with more cores and no less of anything else that is
cheaper than a smaller one of its series.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pricing.bundled.draft import DraftOffer, mark_sold_now
from pricing.bundled.row_audit import RowAudit, RowOutcome
from pricing.market.exchange_rates import ExchangeRates
from pricing.market.families import instance_family
from pricing.market.offers import Offer
from pricing.publish.row_checks import PRICE_TOLERANCE, check_rows

STALE_AFTER_DAYS = 365
"""A price so much older than the newest of the lists is the last known one; a list price that old
is red (`PRICES_RED_AFTER_DAYS`)."""
_EARLIEST = dt.date.min


def split_newest(drafts: Iterable[DraftOffer]) -> tuple[list[DraftOffer], list[DraftOffer]]:
    """One draft for each offer, the newest; and the older ones, which are history.

    Of two with one date the one that may be proposed counts, then the first.
    """
    by_id: dict[str, list[DraftOffer]] = defaultdict(list)
    for draft in drafts:
        by_id[draft.offer.id].append(draft)
    newest, older = [], []
    for same_offers in by_id.values():
        newest_first = sorted(same_offers, key=_age_rank, reverse=True)
        newest.append(newest_first[0])
        older += [replace(d, outcome=RowOutcome.OLDER, detail=d.offer.id) for d in newest_first[1:]]
    return newest, older


def retire_stale(drafts: Sequence[DraftOffer]) -> list[DraftOffer]:
    """`drafts`, those far older than the newest of all shown as last known prices."""
    newest = max((draft.offer.as_of for draft in drafts if draft.offer.as_of), default=_EARLIEST)
    return [
        _as_last_known(draft) if _is_stale(draft, newest) and draft.outcome.is_sold else draft
        for draft in drafts
    ]


def _is_stale(draft: DraftOffer, newest: dt.date) -> bool:
    day = draft.offer.as_of
    return day is not None and (newest - day).days > STALE_AFTER_DAYS


def _as_last_known(draft: DraftOffer) -> DraftOffer:
    detail = f"{draft.offer.instance_type} {draft.offer.as_of}"
    return mark_sold_now(replace(draft, outcome=RowOutcome.OLD, detail=detail))


def _age_rank(draft: DraftOffer) -> tuple[dt.date, bool]:
    return draft.offer.as_of or _EARLIEST, draft.outcome.is_sold


def reject_implausible(
    drafts: Sequence[DraftOffer], rates: ExchangeRates, audit: RowAudit
) -> list[DraftOffer]:
    """The drafts that can be right; the others are recorded as suspicious."""
    reasons = dict(_find_price_inversions(draft.offer for draft in drafts))
    for provider in sorted({draft.offer.provider for draft in drafts}):
        offers = [d.offer for d in drafts if d.offer.provider == provider]
        latest = max((o.as_of for o in offers if o.as_of), default=_EARLIEST)
        _, rejected_rows = check_rows(
            offers, provider=provider, rates=rates, known_regions=frozenset(), latest=latest
        )
        reasons |= {row.offer_id: f"{row.reason}: {row.detail}" for row in rejected_rows}
    plausible = []
    for draft in drafts:
        reason = reasons.get(draft.offer.id)
        if reason is None:
            plausible.append(draft)
        else:
            audit.record(draft.row, RowOutcome.SUSPICIOUS, reason)
    return plausible


def _find_price_inversions(offers: Iterable[Offer]) -> Iterator[tuple[str, str]]:
    series: dict[tuple[object, ...], list[Offer]] = defaultdict(list)
    for offer in offers:
        if offer.sold_now and offer.vcpus and not offer.purchase_option.is_interruptible:
            series[_series_key(offer)].append(offer)
    for offers_in_series in series.values():
        for offer in offers_in_series:
            smaller = next(
                (other for other in offers_in_series if _is_cheaper_though_bigger(offer, other)),
                None,
            )
            if smaller is not None:
                yield offer.id, f"cheaper than {smaller.instance_type}: {offer.id}"


def _series_key(offer: Offer) -> tuple[object, ...]:
    return (
        instance_family(offer.instance_type),
        offer.region,
        offer.purchase_option,
        offer.term_months,
        offer.payment_option,
        offer.accelerator,
        offer.accelerator_count,
        offer.currency,
    )


def _is_cheaper_though_bigger(offer: Offer, other: Offer) -> bool:
    """Of one accelerator count: more cores, no less memory as far as known, yet cheaper."""
    more_cores = (offer.vcpus or 0) > (other.vcpus or 0)
    less_memory = (
        offer.memory_gib is not None
        and other.memory_gib is not None
        and offer.memory_gib < other.memory_gib
    )
    cheaper = offer.effective_price_per_hour * PRICE_TOLERANCE < other.effective_price_per_hour
    return more_cores and not less_memory and cheaper
