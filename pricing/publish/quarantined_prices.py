"""Single prices in quarantine: recorded with a revision, released into the next one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils import timezone

from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_rows import from_row, to_row
from pricing.market.offers import Offer
from pricing.models import QuarantinedPrice, Revision
from pricing.publish.batch import OfferBatch
from pricing.publish.outliers import Outlier
from pricing.storage import store

_PRICE = ("price_per_hour", "upfront", "currency")
State = QuarantinedPrice.State


def record(provider: str, outliers: Iterable[Outlier], read: Iterable[Offer]) -> int:
    """Keep `outliers` for review and let go of those that were `read` within their band.

    Gives how many are new. A price that an operator rejected stays rejected while it is the same.
    Inside the transaction that publishes.
    """
    outliers_by_id = {one.offer.id: one for one in outliers}
    rows = QuarantinedPrice.objects.filter(provider=provider)
    waiting = rows.filter(state=State.WAITING)
    if not outliers_by_id and not waiting.exists():
        return 0
    read_ids = {offer.id for offer in read} - outliers_by_id.keys()
    # By the ids that wait, few: those that were read may be more than a query takes.
    superseded = read_ids.intersection(waiting.values_list("offer_id", flat=True))
    waiting.filter(offer_id__in=superseded).update(state=State.SUPERSEDED)
    decided = rows.filter(
        offer_id__in=list(outliers_by_id), state__in=(State.WAITING, State.REJECTED)
    )
    last = {row.offer_id: row for row in decided.order_by("id")}
    new = [
        one for key, one in outliers_by_id.items() if not _is_same_price(last.get(key), one.offer)
    ]
    again = [row.pk for key, row in last.items() if _is_same_price(row, outliers_by_id[key].offer)]
    rows.filter(pk__in=again).update(seen_again_at=timezone.now())
    waiting.filter(offer_id__in=[one.offer.id for one in new]).update(state=State.SUPERSEDED)
    QuarantinedPrice.objects.bulk_create(
        QuarantinedPrice(
            provider=provider,
            offer_id=one.offer.id,
            before=to_row(one.before),
            after=to_row(one.offer),
            ratio=one.ratio,
        )
        for one in new
    )
    return len(new)


def _is_same_price(row: QuarantinedPrice | None, offer: Offer) -> bool:
    if row is None:
        return False
    now = to_row(offer)
    return all(row.after[name] == now[name] for name in _PRICE)


def provider_of(rows: Sequence[QuarantinedPrice]) -> str:
    """The one provider of `rows`, all of which must wait; `InvalidInput` otherwise."""
    providers = {row.provider for row in rows}
    if len(providers) != 1:
        raise InvalidInput("rows", "prices of one provider are released at a time")
    decided = [row for row in rows if row.state != State.WAITING]
    if decided:
        raise InvalidInput("rows", f"{decided[0]} is not waiting; only a waiting one is released")
    return providers.pop()


def build_release(rows: Sequence[QuarantinedPrice]) -> OfferBatch:
    """What is in force of the provider, with the prices of `rows`."""
    revision = store.latest(rows[0].provider)
    if revision is None:
        raise InvalidInput("rows", f"nothing is published of {rows[0].provider}")
    after = {row.offer_id: from_row(row.after) for row in rows}
    offers = store.read_offers(revision)
    missing = sorted(after.keys() - {offer.id for offer in offers})
    if missing:
        raise InvalidInput("rows", f"{missing[0]} is no longer in force; refresh the prices")
    return OfferBatch(
        provider=revision.provider,
        offers=tuple(after.get(offer.id, offer) for offer in offers),
        as_of=revision.as_of,
        origin=revision.origin,
    )


def mark_released(rows: Sequence[QuarantinedPrice], revision: Revision) -> None:
    """Note by which revision `rows` were published. Inside the transaction that publishes."""
    QuarantinedPrice.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=State.RELEASED, revision=revision
    )
