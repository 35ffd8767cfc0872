"""Webhooks: events signed with HMAC-SHA256 and a timestamp, delivered with retries."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import http.client
import json
import logging
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
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
from planner.services.observability.logs import current_request_id, use_request_id
from planner.services.observability.measures import DELIVERY_ATTEMPTS
from planner.services.teams.access import OWN, WrongStateError, edit, record, require
from planner.services.teams.tokens import SIGNING_PREFIX, new_secret
from planner.services.webhooks import outbound
from pricing.common.invalid_input import InvalidInput

logger = logging.getLogger(__name__)
MAX_ENDPOINTS = 20
MAX_WAITING_TESTS = 5
"""Of one webhook: each may hold a worker until its time is up."""
ROUND_SECONDS = 20.0
"""After how long a worker that delivers looks whether other work waits."""
_NETWORK_FAILURES = (OSError, http.client.HTTPException, InvalidInput)
RETRY_SECONDS = (10, 60, 600, 3600, 21_600)
"""Waits before the second to the sixth attempt, s; after that the delivery has failed."""
_LEASE = dt.timedelta(seconds=45)
"""For how long a delivery being attempted is left alone by other workers."""


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`t=…,v1=…`: HMAC-SHA256 over "timestamp.body", so that an old body cannot be sent again."""
    signed = f"{timestamp}.".encode() + body
    return f"t={timestamp},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


@transaction.atomic
def add_endpoint(access: Access, team: Team, values: Mapping[str, Any]) -> WebhookEndpoint:
    require(access, team.pk, OWN)
    values = _check(values)
    if WebhookEndpoint.objects.filter(team=team).count() >= MAX_ENDPOINTS:
        raise InvalidInput("url", f"a team has at most {MAX_ENDPOINTS} webhooks")
    secret = new_secret(SIGNING_PREFIX)
    endpoint = WebhookEndpoint.objects.create(team=team, secret=secret, **values)
    record(access, "webhook.created", endpoint, after=values)
    return endpoint


def change_endpoint(
    access: Access,
    endpoint: WebhookEndpoint,
    changes: Mapping[str, Any],
    seen_version: int | None = None,
) -> WebhookEndpoint:
    """An address that stays is not judged again: each delivery does that, and one that was stored
    before such addresses were refused can still be switched off."""
    require(access, endpoint.team_id, OWN)
    stays = changes.get("url") == endpoint.url
    checked = dict(changes) if stays else _check(changes)
    return edit(access, endpoint, checked, seen_version=seen_version)


@transaction.atomic
def rotate_secret(access: Access, endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """A new signing secret; deliveries from now on are signed with it."""
    require(access, endpoint.team_id, OWN)
    changes = {"secret_version": endpoint.secret_version + 1}
    rotated = edit(access, endpoint, changes, action="webhook.secret_rotated")
    rotated.secret = new_secret(SIGNING_PREFIX)
    rotated.save(update_fields=["secret"])
    return rotated


@transaction.atomic
def remove_endpoint(access: Access, endpoint: WebhookEndpoint) -> None:
    require(access, endpoint.team_id, OWN)
    record(access, "webhook.removed", endpoint, before={"url": endpoint.url})
    endpoint.delete()


def _check(values: Mapping[str, Any]) -> dict[str, Any]:
    if "url" in values:
        outbound.check_literal(outbound.check_url(values["url"]))
    return dict(values)


# Sending ----------------------------------------------------------------------------------


def emit(team_id: int, event: WebhookEvent, payload: Mapping[str, Any]) -> None:
    """Queues `event` for each of the team's endpoints that asked for it."""
    endpoints = WebhookEndpoint.objects.filter(team_id=team_id, active=True)
    _queue([e for e in endpoints if event in e.events], event, payload)


@transaction.atomic
def send_test(access: Access, endpoint: WebhookEndpoint) -> WebhookDelivery:
    require(access, endpoint.team_id, OWN)
    tests = WebhookDelivery.objects.filter(endpoint=endpoint, event=WebhookEvent.TEST)
    waiting = tests.filter(state=DeliveryState.PENDING).count()
    if waiting >= MAX_WAITING_TESTS:
        raise WrongStateError(f"{waiting} test events of this webhook wait to be sent already.")
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
    """Attempts each delivery whose time has come; says how many it attempted.

    Teams take turns by the seconds that theirs took, so that no receiver that lets us wait holds
    up those of others. After `ROUND_SECONDS` the rest waits behind other work.
    """
    attempted = 0
    began = time.monotonic()
    taken = defaultdict[int, float](float)
    while delivery := _claim(taken):
        start = time.monotonic()
        with use_request_id(delivery.request_id):
            delivery.response_status, delivery.error = None, ""
            try:
                if not delivery.endpoint.active and delivery.event != WebhookEvent.TEST:
                    raise outbound.ForbiddenTargetError(
                        "The webhook was switched off before this was sent."
                    )
                response = _send(delivery)
            except outbound.ForbiddenTargetError as refusal:
                delivery.error = str(refusal)[:300]
                delivery.state = DeliveryState.FAILED
            except Exception as failure:
                if not isinstance(failure, _NETWORK_FAILURES):
                    logger.exception(
                        "Delivery %s failed in a way that no network does.", delivery.pk
                    )
                _retry(delivery, f"{type(failure).__name__}: {failure}")
            else:
                delivery.response_status = response.status
                if 200 <= response.status < 300:
                    delivery.state, delivery.delivered_at = DeliveryState.DELIVERED, timezone.now()
                else:
                    _retry(delivery, f"The endpoint answered {response.status}.")
            delivery.error = delivery.error.replace("\0", "")
            delivery.save()
            DELIVERY_ATTEMPTS.labels(delivery.state).inc()
            facts = {"delivery": str(delivery.pk), "event": delivery.event, "state": delivery.state}
            text = "Delivery %s (%s) %s after %d attempts."
            logger.info(
                text, delivery.pk, delivery.event, delivery.state, delivery.attempts, extra=facts
            )
        attempted += 1
        taken[delivery.team_id] += time.monotonic() - start
        if time.monotonic() - began > ROUND_SECONDS and settings.JOBS_BACKEND != "inline":
            background.submit("deliver_webhooks")
            return attempted
    pending = WebhookDelivery.objects.filter(state=DeliveryState.PENDING)
    following = pending.order_by("next_attempt_at").values_list("next_attempt_at", flat=True)
    if first := following.first():
        wait = max(0.0, (first - timezone.now()).total_seconds())
        background.submit_later(wait + 0.1, "deliver_webhooks")
    return attempted


def is_any_due() -> bool:
    """Whether a delivery waits whose time has come."""
    due = WebhookDelivery.objects.filter(state=DeliveryState.PENDING)
    return due.filter(next_attempt_at__lte=timezone.now()).exists()


@transaction.atomic
def _claim(taken: Mapping[int, float]) -> WebhookDelivery | None:
    """The next delivery of the team that took least; of any where others are at all of that one."""
    now = timezone.now()
    due = WebhookDelivery.objects.filter(state=DeliveryState.PENDING, next_attempt_at__lte=now)
    teams = due.order_by().values_list("team_id", flat=True).distinct() if taken else ()
    first = min(teams, key=lambda team: taken.get(team, 0.0), default=None)
    delivery = None if first is None else _lock_next(due.filter(team_id=first))
    delivery = delivery or _lock_next(due)
    if delivery is not None:
        delivery.next_attempt_at = now + _LEASE
        delivery.attempts += 1
        delivery.save(update_fields=["next_attempt_at", "attempts"])
    return delivery


def _lock_next(due: QuerySet[WebhookDelivery]) -> WebhookDelivery | None:
    rows = due.select_for_update(
        of=("self",), skip_locked=bool(connection.features.has_select_for_update_skip_locked)
    )
    return rows.select_related("endpoint").order_by("next_attempt_at", "created_at").first()


def _send(delivery: WebhookDelivery) -> outbound.Delivery:
    envelope = {
        "id": str(delivery.pk),
        "event": delivery.event,
        "created_at": delivery.created_at.isoformat(),
        "data": delivery.payload,
    }
    body = json.dumps(envelope, separators=(",", ":")).encode()
    secret = delivery.endpoint.secret
    if not secret:
        raise InvalidInput("secret", "is missing; make a new signing secret for this webhook")
    signed = signature(secret, int(time.time()), body)
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
