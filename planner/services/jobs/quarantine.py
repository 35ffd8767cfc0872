"""What the checks held, whole batches and single prices: an operator releases or rejects it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from planner.models import Access
from planner.services.jobs.price_refreshes import require_operator
from planner.services.teams.audit import record
from planner.services.teams.errors import WrongStateError
from pricing.common.invalid_input import InvalidInput
from pricing.ingest.provider import ProviderUnavailable
from pricing.models import HeldBatch, QuarantinedPrice
from pricing.publish.publication import Publication
from pricing.publish.publication import release as publish_batch
from pricing.publish.publication import release_prices as publish_prices
from pricing.storage.locks import AlreadyRunning


def release(access: Access, batch: HeldBatch) -> Publication:
    """Publishes a held batch as it was fetched."""
    require_operator(access)
    expect_waiting(batch)
    try:
        publication = publish_batch(batch)
    except (AlreadyRunning, ProviderUnavailable) as refusal:
        raise WrongStateError(str(refusal)) from None
    batch.refresh_from_db(fields=["revision"])
    number = batch.revision.number if batch.revision else None
    record(access, "prices.released", batch, after={**_describe(batch), "revision": number})
    return publication


@transaction.atomic
def reject(access: Access, batch: HeldBatch) -> HeldBatch:
    """Keeps a held batch for the record, never to be published."""
    require_operator(access)
    current: HeldBatch = HeldBatch.objects.select_for_update().get(pk=batch.pk)
    expect_waiting(current)
    current.state = HeldBatch.State.DISCARDED
    current.save(update_fields=["state"])
    record(access, "prices.rejected", current, after=_describe(current))
    return current


def release_prices(access: Access, rows: Sequence[QuarantinedPrice]) -> Publication:
    """Publishes single quarantined prices of one provider; all else stays as it is in force."""
    require_operator(access)
    try:
        publication = publish_prices(rows)
    except (AlreadyRunning, ProviderUnavailable, InvalidInput) as refusal:
        raise WrongStateError(str(refusal)) from None
    for row in rows:
        record(access, "price.released", row, before=row.before, after=row.after)
    return publication


@transaction.atomic
def reject_prices(access: Access, rows: Sequence[QuarantinedPrice]) -> None:
    """Keeps the published prices; the same new ones are not brought up again."""
    require_operator(access)
    waiting = QuarantinedPrice.objects.filter(
        pk__in=[row.pk for row in rows], state=QuarantinedPrice.State.WAITING
    )
    for row in waiting.select_for_update():
        row.state = QuarantinedPrice.State.REJECTED
        row.save(update_fields=["state"])
        record(access, "price.rejected", row, before=row.before, after=row.after)


def _describe(batch: HeldBatch) -> dict[str, Any]:
    return {"provider": batch.provider, "offers": batch.offer_count, "reasons": batch.reasons}


def expect_waiting(row: HeldBatch | QuarantinedPrice) -> None:
    """`WrongStateError` for what was decided before."""
    if row.state != row.State.WAITING:
        raise WrongStateError(f"It is {row.state} already; only a waiting one can be decided.")
