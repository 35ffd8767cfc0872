"""Webhooks: messages on events, sent with Apprise to where a team wants them, with retries."""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.urls import reverse
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
from planner.services.teams.access import OWN, record, remove, require, require_room
from planner.services.webhooks import outbound
from pricing.common.invalid_input import InvalidInput

logger = logging.getLogger(__name__)
ROUND_SECONDS = 20.0
"""After how long a worker that delivers leaves the rest to the next round."""
RETRY_SECONDS = (10, 60, 600, 3600, 21_600)
"""Waits before the second to the sixth attempt, s; after that the delivery has failed."""
_LEASE = dt.timedelta(seconds=45)
"""For how long a delivery being attempted is left alone by other workers."""


@transaction.atomic
def add_endpoint(access: Access, team: Team, values: Mapping[str, Any]) -> WebhookEndpoint:
    require(access, team.pk, OWN)
    service = str(outbound.open_target(values["url"]).service_name)
    require_room("webhooks", WebhookEndpoint.objects.filter(team=team))
    if WebhookEvent.PRICES_HELD in values["events"] and team.pk not in _operators_teams():
        problem = f"{WebhookEvent.PRICES_HELD} is sent only to teams that a member of staff owns"
        raise InvalidInput("events", problem)
    endpoint = WebhookEndpoint.objects.create(team=team, service=service, **values)
    shown = {name: value for name, value in values.items() if name != "url"}
    record(access, "webhook.created", endpoint, after={"service": service, **shown})
    return endpoint


def remove_endpoint(access: Access, endpoint: WebhookEndpoint) -> None:
    remove(access, endpoint, "webhook.removed", {"service": endpoint.service}, OWN)


# Sending ----------------------------------------------------------------------------------


def emit(team_id: int | None, event: WebhookEvent, title: str, text: str) -> None:
    """Queues a message for each endpoint of the team, or of the teams that staff own where none is
    named, that asked for `event`."""
    teams = _operators_teams() if team_id is None else {team_id}
    endpoints = WebhookEndpoint.objects.filter(team_id__in=teams)
    _queue([e for e in endpoints if event in e.events], event, title, text)


def link_to(view: str, *arguments: Any) -> str:
    """The address of a page, with the server's name where that is known."""
    hosts = [host for host in settings.ALLOWED_HOSTS if "*" not in host and host[:1] != "."]
    server = f"https://{hosts[0]}" if hosts and not settings.DEBUG else ""
    return f"{server}{reverse(view, args=arguments)}"


def _operators_teams() -> set[int]:
    owners = Membership.objects.filter(role=Role.OWNER, user__is_staff=True, user__is_active=True)
    return set(owners.values_list("team_id", flat=True))


@transaction.atomic
def send_test(access: Access, endpoint: WebhookEndpoint) -> WebhookDelivery:
    require(access, endpoint.team_id, OWN)
    about = f"A test for {endpoint.team.name}", "Alerts of the team will come here."
    (queued,) = _queue([endpoint], WebhookEvent.TEST, *about)
    queued.refresh_from_db()
    return queued


def _queue(
    endpoints: Iterable[WebhookEndpoint], event: WebhookEvent, title: str, text: str
) -> list[WebhookDelivery]:
    deliveries = WebhookDelivery.objects.bulk_create(
        WebhookDelivery(
            team_id=endpoint.team_id,
            endpoint=endpoint,
            event=event,
            payload={"title": title, "text": text},
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
    error = ""
    try:
        outbound.send(delivery.endpoint.url, delivery.payload["title"], delivery.payload["text"])
    except InvalidInput as refusal:
        error, delivery.attempts = str(refusal), len(RETRY_SECONDS) + 1
    except OSError as failure:
        error = str(failure) or type(failure).__name__
    except Exception as failure:
        error = type(failure).__name__
        logger.error("Delivery %s failed in a way that no network does: %s", delivery.pk, error)
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
