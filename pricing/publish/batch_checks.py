"""What a batch must satisfy before it is published. PURE.

Two kinds of doubt are told apart:

- A row that cannot be right alone is *withheld* with its reason and the rest goes on: not in the
  form of an offer, a price of 0 or less, an accelerator or currency that is not known, two prices
  for one offer, a region in two spellings, spot above on demand, a bigger size cheaper than a
  smaller one. An offer that is withheld is absent; it is never shown with an older price.
- A batch that differs from what is in force in a way that a provider hardly ever does is *held*
  whole for a person to look at: a price that moved more than 5 times, more than 20 % of the
  offers gone, a family or region gone, a currency label changed over the same number, more than
  20 % of the rows withheld, dates that cannot be.

`force` overrules what is held, and of the withheld rows the last two kinds, which are improbable
yet possible; nothing overrules the others.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pricing.common.pluralize import pluralize
from pricing.ingest.provider import NotRead, SkippedRow
from pricing.market.families import instance_family
from pricing.market.offers import Offer
from pricing.market.snapshot import ExchangeRates
from pricing.publish.batch import Batch
from pricing.publish.row_checks import Withheld, check_rows

MAX_MOVE = 5.0
"""A price may rise or fall by this factor from one revision to the next."""
_LARGEST_LOG = math.log(MAX_MOVE) + 1e-9
"""The same for a rise and a fall, rounding of floats aside."""
MAX_SHRINK = 0.20
"""Share of the offers sold now that may go from one revision to the next."""
MAX_WITHHELD = 0.20
"""Share of a batch that may be withheld before the batch itself is in doubt."""


@dataclass(frozen=True)
class InForce:
    """What is published of the provider at the moment; empty before the first revision."""

    offers: Sequence[Offer] = ()
    as_of: dt.date | None = None
    origin: str = ""
    exchange_rates: ExchangeRates = field(default_factory=ExchangeRates)
    known_regions: frozenset[str] = frozenset()
    """Regions of the provider in their right spelling."""


@dataclass(frozen=True)
class Verdict:
    """What the checks decided of a batch."""

    offers: tuple[Offer, ...]
    """What would be published: the rows that passed, and what stays in force beside them."""
    withheld: tuple[SkippedRow, ...]
    reasons: tuple[str, ...]
    """Why the whole batch is held; empty when it may be published."""
    kept: int = 0
    """Offers that stay in force with their own dates because they were not read."""


def check(batch: Batch, in_force: InForce, today: dt.date, *, force: bool = False) -> Verdict:
    """Judge `batch` against what is in force; see the module for what each doubt leads to."""
    passed, withheld = check_rows(
        batch.offers,
        provider=batch.provider,
        rates=in_force.exchange_rates,
        known_regions=in_force.known_regions,
        latest=max(today, batch.as_of),
        force=force,
    )
    kept = stays_in_force(batch, passed, withheld, in_force.offers)
    offers = (*passed, *kept)
    doubts = _doubts(batch, passed, kept, withheld, in_force, today)
    reasons = () if force else tuple(doubts)
    return Verdict(offers, tuple(row.as_skipped() for row in withheld), reasons, len(kept))


def stays_in_force(
    batch: Batch,
    passed: Iterable[Offer],
    withheld: Iterable[Withheld],
    published: Iterable[Offer],
) -> tuple[Offer, ...]:
    """Published offers that the batch says nothing about: regions and parts that were not read,
    and machines no longer sold, whose last known price is still shown."""
    seen = {offer.id for offer in passed} | {row.offer_id for row in withheld}
    return tuple(
        offer
        for offer in published
        if offer.id not in seen and (not offer.sold_now or _was_not_read(offer, batch))
    )


def _was_not_read(offer: Offer, batch: Batch) -> bool:
    if batch.regions and offer.region not in batch.regions:
        return True
    return any(_covers(part, offer) for part in batch.not_read)


def _covers(part: NotRead, offer: Offer) -> bool:
    covered = (
        (part.purchase_options, offer.purchase_option),
        (part.regions, offer.region),
        (part.instance_types, offer.instance_type),
    )
    return all(not some or one in some for some, one in covered)


def _doubts(
    batch: Batch,
    passed: Sequence[Offer],
    kept: Sequence[Offer],
    withheld: Sequence[Withheld],
    in_force: InForce,
    today: dt.date,
) -> Iterable[str]:
    yield from _dates(batch, in_force, today)
    yield from _too_much_withheld(batch, withheld)
    published = {offer.id: offer for offer in in_force.offers if offer.sold_now}
    yield from _moves(passed, published, in_force.exchange_rates)
    if in_force.origin != "bundled" or batch.origin == "bundled":
        # A provider's own list replaces the bundled selection, which has other machines in it.
        yield from _losses(batch, passed, kept, published)


def _dates(batch: Batch, in_force: InForce, today: dt.date) -> Iterable[str]:
    if in_force.as_of and batch.as_of < in_force.as_of:
        yield f"it is of {batch.as_of}, older than the revision in force of {in_force.as_of}"
    if batch.as_of > today + dt.timedelta(days=1):
        yield f"it is of {batch.as_of}, which is after today, {today}; check the clock"


def _too_much_withheld(batch: Batch, withheld: Sequence[Withheld]) -> Iterable[str]:
    doubted = sum(1 for row in withheld if row.is_doubt)
    if batch.offers and doubted > MAX_WITHHELD * len(batch.offers):
        yield f"{doubted} of its {pluralize(len(batch.offers), 'offer')} did not pass the checks"


def _moves(
    offers: Iterable[Offer], published: Mapping[str, Offer], rates: ExchangeRates
) -> Iterable[str]:
    moved: list[str] = []
    relabelled: list[str] = []
    for offer in offers:
        before = published.get(offer.id)
        if before is None or not offer.sold_now or _same_price(offer, before):
            continue
        if offer.currency != before.currency and _same_number(offer, before):
            relabelled.append(f"{offer.id} {before.currency} → {offer.currency}")
        elif abs(math.log(ratio := _ratio(offer, before, rates))) > _LARGEST_LOG:
            moved.append(f"{offer.id} {_price(before)} → {_price(offer)} (× {ratio:.3g})")
    yield from _listed(moved, f"moved more than {MAX_MOVE:g} times")
    yield from _listed(relabelled, "changed currency but not the number")


def _same_price(offer: Offer, before: Offer) -> bool:
    return offer is before or (
        offer.price_per_hour == before.price_per_hour
        and offer.upfront == before.upfront
        and offer.currency == before.currency
    )


def _same_number(offer: Offer, before: Offer) -> bool:
    return (offer.price_per_hour, offer.upfront) == (before.price_per_hour, before.upfront)


def _ratio(offer: Offer, before: Offer, rates: ExchangeRates) -> float:
    """Price now / price before, in one currency."""
    now, then = offer.effective_price_per_hour, before.effective_price_per_hour
    if offer.currency == before.currency:
        return float(now) / float(then)
    return float(rates.to_usd(now, offer.currency) / rates.to_usd(then, before.currency))


def _price(offer: Offer) -> str:
    return f"{offer.effective_price_per_hour:.6g} {offer.currency}/h"


def _losses(
    batch: Batch,
    passed: Iterable[Offer],
    kept: Iterable[Offer],
    published: Mapping[str, Offer],
) -> Iterable[str]:
    """What was read is compared with what is published of it: the rest, which stays in force
    unread, must not hide a loss."""
    unread = [offer for offer in kept if offer.sold_now]
    before = [published[key] for key in published.keys() - {offer.id for offer in unread}]
    sold = [offer for offer in passed if offer.sold_now]
    if len(sold) < (1 - MAX_SHRINK) * len(before):
        gone = 1 - len(sold) / len(before)
        now, were = pluralize(len(sold), "offer"), "was" if len(before) == 1 else "were"
        yield f"it has {now} sold now where {len(before)} {were} ({gone:.0%} less)"
    elsewhere = [o for o in unread if batch.regions and o.region not in batch.regions]
    families = _families(before) - _families((*sold, *elsewhere))
    yield from _listed(sorted(families), "families are gone", "family is gone")
    regions = {o.region for o in before} - {o.region for o in sold}
    yield from _listed(sorted(regions), "regions are gone", "region is gone")


def _families(offers: Iterable[Offer]) -> set[str]:
    return {instance_family(name) for name in {o.instance_type for o in offers}}


def _listed(names: Sequence[str], what: str, of_one: str = "", most: int = 5) -> Iterable[str]:
    """One sentence on all of `names`, the first few of them by name."""
    if names:
        more = f" and {len(names) - most} more" if len(names) > most else ""
        said = pluralize(len(names), of_one or what, what)
        yield f"{said}: {', '.join(names[:most])}{more}"
