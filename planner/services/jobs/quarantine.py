"""Batches of prices that the checks held: an operator releases or rejects them."""

from __future__ import annotations

import logging

from django.db import transaction

from planner.models import Access
from planner.services.jobs.price_refreshes import require_operator
from planner.services.teams.errors import WrongStateError
from pricing.ingest.provider import ProviderUnavailable
from pricing.models import HeldBatch
from pricing.publish.publication import Publication
from pricing.publish.publication import release as publish_held
from pricing.storage.locks import AlreadyRunning

logger = logging.getLogger(__name__)


def release(access: Access, held: HeldBatch) -> Publication:
    """Publishes a held batch as it was fetched."""
    require_operator(access)
    _expect_waiting(held)
    try:
        done = publish_held(held)
    except (AlreadyRunning, ProviderUnavailable) as refusal:
        raise WrongStateError(str(refusal)) from None
    logger.warning("%s released %s", access.name, held)
    return done


@transaction.atomic
def reject(access: Access, held: HeldBatch) -> HeldBatch:
    """Keeps a held batch for the record, never to be published."""
    require_operator(access)
    current: HeldBatch = HeldBatch.objects.select_for_update().get(pk=held.pk)
    _expect_waiting(current)
    current.state = HeldBatch.State.DISCARDED
    current.save(update_fields=["state"])
    logger.warning("%s rejected %s", access.name, held)
    return current


def _expect_waiting(held: HeldBatch) -> None:
    if held.state != HeldBatch.State.WAITING:
        raise WrongStateError(f"It is {held.state} already; only a waiting one can be decided.")
