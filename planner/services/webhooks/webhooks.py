"""Webhooks: events signed with HMAC-SHA256 and a timestamp, delivered with retries."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import http.client
import json
import logging
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.models import (
    Access,
    DeliveryState,
    Team,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from planner.services.jobs import background
from planner.services.observability.measures import DELIVERY_ATTEMPTS
from planner.services.observability.request_id import current_request_id, use_request_id
from planner.services.teams.audit import edit, record
from planner.services.teams.permissions import OWN, require
from planner.services.webhooks import outbound
from pricing.common.invalid_input import InvalidInput

logger = logging.getLogger(__name__)
MAX_ENDPOINTS = 20
RETRY_SECONDS = (10, 60, 600, 3600, 21_600)
"""Waits before the second to the sixth attempt, s; after that the delivery has failed."""
_LEASE = dt.timedelta(minutes=2)
"""For how long a delivery being attempted is left alone by other workers."""


def signing_secret(endpoint: WebhookEndpoint) -> str:
    """The endpoint's signing secret, derived from the server's key: nothing to steal at rest."""
    text = f"webhook:{endpoint.pk}:{endpoint.secret_version}"
    return "whsec_" + hmac.new(settings.SECRET_KEY.encode(), text.encode(), "sha256").hexdigest()


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`t=…,v1=…`: HMAC-SHA256 over "timestamp.body", so that an old body cannot be sent again."""
    signed = f"{timestamp}.".encode() + body
    return f"t={timestamp},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


@transaction.atomic
def add_endpoint(access: Access, team: Team, values: Mapping[str, Any]) -> WebhookEndpoint:
    require(access, team.pk, OWN)
    _check(values)
    if WebhookEndpoint.objects.filter(team=team).count() >= MAX_ENDPOINTS:
        raise InvalidInput("url", f"a team has at most {MAX_ENDPOINTS} webhooks")
    endpoint = WebhookEndpoint.objects.create(team=team, **values)
    record(access, "webhook.created", endpoint, after=values)
    return endpoint


def change_endpoint(
    access: Access,
    endpoint: WebhookEndpoint,
    changes: Mapping[str, Any],
    seen_version: int | None = None,
) -> WebhookEndpoint:
    require(access, endpoint.team_id, OWN)
    _check(changes)
    return edit(access, endpoint, changes, seen_version=seen_version)


def rotate_secret(access: Access, endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """A new signing secret; deliveries from now on are signed with it."""
    require(access, endpoint.team_id, OWN)
    changes = {"secret_version": endpoint.secret_version + 1}
    return edit(access, endpoint, changes, action="webhook.secret_rotated")


@transaction.atomic
def remove_endpoint(access: Access, endpoint: WebhookEndpoint) -> None:
    require(access, endpoint.team_id, OWN)
    record(access, "webhook.removed", endpoint, before={"url": endpoint.url})
    endpoint.delete()


def _check(values: Mapping[str, Any]) -> None:
    if "url" in values:
        outbound.check_literal(outbound.check_url(values["url"]))


# Sending ----------------------------------------------------------------------------------


def emit(team_id: int, event: WebhookEvent, payload: Mapping[str, Any]) -> None:
    """Queues `event` for each of the team's endpoints that asked for it."""
    endpoints = WebhookEndpoint.objects.filter(team_id=team_id, active=True)
    _queue([e for e in endpoints if event in e.events], event, payload)


@transaction.atomic
def send_test(access: Access, endpoint: WebhookEndpoint) -> WebhookDelivery:
    require(access, endpoint.team_id, OWN)
    queued = _queue([endpoint], WebhookEvent.TEST, {"message": "This is a test."})
    queued[0].refresh_from_db()
    return queued[0]


def _queue(
    endpoints: list[WebhookEndpoint], event: WebhookEvent, payload: Mapping[str, Any]
) -> list[WebhookDelivery]:
    deliveries = WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            team_id=e.team_id,
            endpoint=e,
            event=event,
            payload=dict(payload),
            request_id=current_request_id(),
        )
        for e in endpoints
    )
    if deliveries:
        background.submit("deliver_webhooks")
    return deliveries


def deliver_due() -> int:
    """Attempts each delivery whose time has come; says how many it attempted."""
    attempted = 0
    while delivery := _claim():
        with use_request_id(delivery.request_id):
            _deliver(delivery)
            _note(delivery)
        attempted += 1
    _plan_next()
    return attempted


@transaction.atomic
def _claim() -> WebhookDelivery | None:
    now = timezone.now()
    due = (
        WebhookDelivery.objects.select_for_update(of=("self",))
        .select_related("endpoint")
        .filter(state=DeliveryState.PENDING, next_attempt_at__lte=now)
        .order_by("next_attempt_at", "created_at")
        .first()
    )
    if due is not None:
        due.next_attempt_at = now + _LEASE
        due.attempts += 1
        due.save(update_fields=["next_attempt_at", "attempts"])
    return due


def _deliver(delivery: WebhookDelivery) -> None:
    delivery.response_status, delivery.error = None, ""
    try:
        response = _send(delivery)
    except outbound.ForbiddenTargetError as refusal:
        delivery.error = str(refusal)[:300]
        delivery.state = DeliveryState.FAILED
    except (OSError, http.client.HTTPException, InvalidInput) as failure:
        _retry(delivery, f"{type(failure).__name__}: {failure}")
    else:
        delivery.response_status = response.status
        if 200 <= response.status < 300:
            delivery.state, delivery.delivered_at = DeliveryState.DELIVERED, timezone.now()
        else:
            _retry(delivery, f"The endpoint answered {response.status}.")
    delivery.save()


def _note(delivery: WebhookDelivery) -> None:
    """What came of an attempt; the address, which may hold a key of the receiver, is not logged."""
    DELIVERY_ATTEMPTS.labels(delivery.state).inc()
    facts = {"delivery": str(delivery.pk), "event": delivery.event, "state": delivery.state}
    text = "Delivery %s (%s) %s after %d attempts."
    logger.info(text, delivery.pk, delivery.event, delivery.state, delivery.attempts, extra=facts)


def _send(delivery: WebhookDelivery) -> outbound.Delivery:
    envelope = {
        "id": str(delivery.pk),
        "event": delivery.event,
        "created_at": delivery.created_at.isoformat(),
        "data": delivery.payload,
    }
    body = json.dumps(envelope, separators=(",", ":")).encode()
    signed = signature(signing_secret(delivery.endpoint), int(time.time()), body)
    headers = [
        ("Content-Type", "application/json"),
        ("User-Agent", "gpu-cost-planner-webhook/1"),
        ("Webhook-Id", str(delivery.pk)),
        ("Webhook-Signature", signed),
        ("X-Request-Id", delivery.request_id or str(delivery.pk)),
    ]
    return outbound.post(delivery.endpoint.url, body, headers)


def _retry(delivery: WebhookDelivery, error: str) -> None:
    delivery.error = error[:300]
    if delivery.attempts > len(RETRY_SECONDS):
        delivery.state = DeliveryState.FAILED
        return
    wait = RETRY_SECONDS[delivery.attempts - 1]
    delivery.next_attempt_at = timezone.now() + dt.timedelta(seconds=wait)


def _plan_next() -> None:
    pending = WebhookDelivery.objects.filter(state=DeliveryState.PENDING)
    following = pending.order_by("next_attempt_at").values_list("next_attempt_at", flat=True)
    if first := following.first():
        wait = max(0.0, (first - timezone.now()).total_seconds())
        background.submit_later(wait + 0.1, "deliver_webhooks")
