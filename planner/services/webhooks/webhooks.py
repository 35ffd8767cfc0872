"""Webhooks: events signed as Standard Webhooks has it, delivered with retries."""

from __future__ import annotations

import base64
import datetime as dt
import hmac
import json
import logging
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any

import httpx
from django.db import connection, transaction
from django.utils import timezone

from planner.models import (
    Access,
    DeliveryState,
    Membership,
    Role,
    Team,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from planner.services.jobs import background
from planner.services.observability.logs import current_request_id, use_request_id
from planner.services.observability.measures import DELIVERY_ATTEMPTS
from planner.services.teams.access import OWN, record, require, require_room
from planner.services.webhooks import outbound
from pricing.common.invalid_input import InvalidInput

logger = logging.getLogger(__name__)
ROUND_SECONDS = 20.0
"""After how long a worker that delivers leaves the rest to the next round."""
RETRY_SECONDS = (10, 60, 600, 3600, 21_600)
"""Waits before the second to the sixth attempt, s; after that the delivery has failed."""
_LEASE = dt.timedelta(seconds=45)
"""For how long a delivery being attempted is left alone by other workers."""
_SECRET_PREFIX = "whsec_"  # noqa: S105


def new_secret() -> str:
    return _SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """`v1,…`: HMAC-SHA256 over id, time and body, so that an old body cannot be sent again."""
    key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


@transaction.atomic
def add_endpoint(access: Access, team: Team, values: Mapping[str, Any]) -> WebhookEndpoint:
    require(access, team.pk, OWN)
    outbound.check_url(values["url"])
    require_room("webhooks", WebhookEndpoint.objects.filter(team=team))
    if WebhookEvent.PRICES_HELD in values["events"] and team.pk not in _operators_teams():
        problem = f"{WebhookEvent.PRICES_HELD} is sent only to teams that a member of staff owns"
        raise InvalidInput("events", problem)
    endpoint = WebhookEndpoint.objects.create(team=team, secret=new_secret(), **values)
    record(access, "webhook.created", endpoint, after=values)
    return endpoint


@transaction.atomic
def remove_endpoint(access: Access, endpoint: WebhookEndpoint) -> None:
    require(access, endpoint.team_id, OWN)
    record(access, "webhook.removed", endpoint, before={"url": endpoint.url})
    endpoint.delete()


# Sending ----------------------------------------------------------------------------------


def emit(team_id: int, event: WebhookEvent, payload: Mapping[str, Any]) -> None:
    """Queues `event` for each of the team's endpoints that asked for it."""
    endpoints = WebhookEndpoint.objects.filter(team_id=team_id)
    _queue([e for e in endpoints if event in e.events], event, payload)


def emit_to_operators(event: WebhookEvent, payload: Mapping[str, Any]) -> None:
    """Queues `event` for the endpoints that asked for it of teams that staff own."""
    endpoints = WebhookEndpoint.objects.filter(team_id__in=_operators_teams())
    _queue([e for e in endpoints if event in e.events], event, payload)


def _operators_teams() -> set[int]:
    owners = Membership.objects.filter(role=Role.OWNER, user__is_staff=True, user__is_active=True)
    return set(owners.values_list("team_id", flat=True))


@transaction.atomic
def send_test(access: Access, endpoint: WebhookEndpoint) -> WebhookDelivery:
    require(access, endpoint.team_id, OWN)
    (queued,) = _queue([endpoint], WebhookEvent.TEST, {"message": "This is a test."})
    queued.refresh_from_db()
    return queued


def _queue(
    endpoints: Iterable[WebhookEndpoint], event: WebhookEvent, payload: Mapping[str, Any]
) -> list[WebhookDelivery]:
    deliveries = WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            team_id=endpoint.team_id,
            endpoint=endpoint,
            event=event,
            payload=dict(payload),
            request_id=current_request_id(),
        )
        for endpoint in endpoints
    )
    if deliveries:
        background.submit("deliver_webhooks")
    return deliveries


def deliver_due() -> int:
    """Attempts each delivery whose time has come; says how many it attempted."""
    attempted, began = 0, time.monotonic()
    while time.monotonic() - began < ROUND_SECONDS and (delivery := _claim()):
        with use_request_id(delivery.request_id):
            _post_now(delivery)
        attempted += 1
    return attempted


@transaction.atomic
def _claim() -> WebhookDelivery | None:
    """The next delivery that is due. First attempts go first, so that a receiver that lets us
    wait holds up none of the others again."""
    now = timezone.now()
    due = WebhookDelivery.objects.filter(state=DeliveryState.PENDING, next_attempt_at__lte=now)
    locked = due.select_for_update(
        of=("self",), skip_locked=bool(connection.features.has_select_for_update_skip_locked)
    )
    delivery = locked.select_related("endpoint").order_by("attempts", "next_attempt_at").first()
    if delivery is not None:
        delivery.next_attempt_at = now + _LEASE
        delivery.attempts += 1
        delivery.save(update_fields=["next_attempt_at", "attempts"])
    return delivery


def _post_now(delivery: WebhookDelivery) -> None:
    delivery.response_status, error = None, ""
    try:
        delivery.response_status = _send(delivery)
        if not 200 <= delivery.response_status < 300:
            error = f"The endpoint answered {delivery.response_status}."
    except InvalidInput as refusal:
        error, delivery.attempts = str(refusal), len(RETRY_SECONDS) + 1
    except Exception as failure:
        if not isinstance(failure, OSError | httpx.HTTPError):
            logger.exception("Delivery %s failed in a way that no network does.", delivery.pk)
        error = f"{type(failure).__name__}: {failure}"
    delivery.error = error[:300]
    if not error:
        delivery.state, delivery.delivered_at = DeliveryState.DELIVERED, timezone.now()
    elif delivery.attempts > len(RETRY_SECONDS):
        delivery.state = DeliveryState.FAILED
    else:
        wait = dt.timedelta(seconds=RETRY_SECONDS[delivery.attempts - 1])
        delivery.next_attempt_at = timezone.now() + wait
    delivery.save()
    DELIVERY_ATTEMPTS.labels(delivery.state).inc()
    logger.info(
        "Delivery %s (%s) %s after %d attempts.",
        *(delivery.pk, delivery.event, delivery.state, delivery.attempts),
        extra={"delivery": str(delivery.pk), "event": delivery.event, "state": delivery.state},
    )


def _send(delivery: WebhookDelivery) -> int:
    delivery_id, now = str(delivery.pk), int(time.time())
    envelope = {
        "id": delivery_id,
        "event": delivery.event,
        "created_at": delivery.created_at.isoformat(),
        "data": delivery.payload,
    }
    body = json.dumps(envelope, separators=(",", ":")).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "gpu-cost-planner-webhook/1",
        "Webhook-Id": delivery_id,
        "Webhook-Timestamp": str(now),
        "Webhook-Signature": signature(delivery.endpoint.secret, delivery_id, now, body),
        "X-Request-Id": delivery.request_id or delivery_id,
    }
    return outbound.post(delivery.endpoint.url, body, headers)
