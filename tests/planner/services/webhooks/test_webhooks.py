"""Messages on events, sent through Apprise, with retries that end."""

import datetime as dt
import json
import logging
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from planner.models import (
    AlertKind,
    AuditEntry,
    DeliveryState,
    Role,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from planner.services.alerts.alerts import Finding, create_alerts
from planner.services.projects import projects
from planner.services.webhooks import webhooks
from pricing.common.invalid_input import InvalidInput
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish, refresh_ended
from pricing.publish.refresh import RefreshResult
from tests.planner.workspace import Workspace, market
from tests.pricing.make import offer

pytest.importorskip("apprise")
pytestmark = pytest.mark.django_db
URL = "jsons://hooks.example.com/plans/s3cr3t"
GUIDE = (Path(__file__).parents[4] / "docs" / "guides" / "budgets.md").read_text()


class Wire:
    """Stands where the network is: keeps what is sent, answers what it is told."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, str]] = []
        self.failure: Exception | None = None

    def send(self, url: str, title: str, text: str) -> None:
        self.sent.append((url, title, text))
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    wire = Wire()
    monkeypatch.setattr(webhooks, "send", wire.send)
    return wire


def endpoint(work: Workspace, **values: Any) -> WebhookEndpoint:
    plain = {"url": URL, "events": [WebhookEvent.APPROVED]}
    return webhooks.add_endpoint(work.access(), work.team, {**plain, **values})


def emit(work: Workspace) -> None:
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, "Search", "Sign for it.")


class _Receiver(BaseHTTPRequestHandler):
    seen: list[dict[str, Any]] = []  # noqa: RUF012
    status = 200

    def do_POST(self) -> None:
        self.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server on this machine that an operator allowed."""
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr(_Receiver, "seen", [])
    with HTTPServer(("127.0.0.1", 0), _Receiver) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_real_server_receives_the_verdict_as_text_and_nobody_sees_the_address(
    work: Workspace, receiver: int, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    market()
    hook = endpoint(work, url=f"json://localhost:{receiver}/s3cr3t", description="ours")
    row = work.project()
    plan = projects.submit(work.access(), work.saved(row))
    projects.approve(work.access(), plan)
    (received,) = _Receiver.seen
    assert received["title"].startswith(f"{row.name}: ")
    approved, advice, link = received["message"].split("\n\n")
    assert approved == "owner-of-alpha approved the plan."
    assert advice == plan.rows[0]["rows"][0][1]
    assert str(plan.pk) in link
    assert WebhookDelivery.objects.get().state == DeliveryState.DELIVERED
    assert (str(hook), hook.service) == ("ours", "JSON")
    entries = " ".join(str(one.__dict__) for one in AuditEntry.objects.all())
    assert "s3cr3t" not in caplog.text + entries


def test_a_server_that_refuses_is_asked_again(
    work: Workspace, receiver: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint(work, url=f"json://localhost:{receiver}/")
    monkeypatch.setattr(_Receiver, "status", 500)
    emit(work)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.error) == ("pending", "JSON did not take the message.")
    monkeypatch.setattr(_Receiver, "status", 204)
    WebhookDelivery.objects.update(next_attempt_at=timezone.now())
    assert webhooks.deliver_due() == 1
    assert WebhookDelivery.objects.get().state == DeliveryState.DELIVERED


def test_an_event_is_told_to_endpoints_that_asked(work: Workspace, wire: Wire) -> None:
    endpoint(work)
    endpoint(work, events=[WebhookEvent.BUDGET_OVERRUN])
    emit(work)
    assert wire.sent == [(URL, "Search", "Sign for it.")]


@pytest.mark.parametrize("failure", [TimeoutError("late"), ConnectionResetError(), KeyError("x")])
def test_what_is_not_taken_is_sent_again_later(work: Workspace, wire: Wire, failure: Any) -> None:
    endpoint(work)
    wire.failure = failure
    emit(work)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts) == (DeliveryState.PENDING, 1)
    wait = delivery.next_attempt_at - timezone.now()
    assert dt.timedelta(seconds=5) < wait <= dt.timedelta(seconds=10)
    assert webhooks.deliver_due() == 0


def test_retries_end(work: Workspace, wire: Wire) -> None:
    endpoint(work)
    wire.failure = TimeoutError("late")
    emit(work)
    for _ in range(10):
        WebhookDelivery.objects.update(next_attempt_at=timezone.now())
        webhooks.deliver_due()
    assert WebhookDelivery.objects.get().state == DeliveryState.FAILED
    assert len(wire.sent) == 1 + len(webhooks.RETRY_SECONDS)


def test_an_inner_address_is_not_tried_again(work: Workspace) -> None:
    WebhookEndpoint.objects.filter(pk=endpoint(work).pk).update(url="jsons://127.0.0.1/")
    emit(work)
    delivery = WebhookDelivery.objects.get()
    assert delivery.state == DeliveryState.FAILED
    assert "private, local or reserved" in delivery.error


def test_what_failed_before_is_sent_after_what_is_new(work: Workspace, wire: Wire) -> None:
    """A receiver that lets us wait holds up the first attempts of no other team."""
    beta = Workspace("beta")
    for team, attempts in ((work, 1), (beta, 0)):
        hook = endpoint(team, url=f"jsons://{team.slug}.example.com/")
        WebhookDelivery.objects.create(
            team=team.team, endpoint=hook, event="test", payload={"title": "", "text": ""},
            attempts=attempts,
        )  # fmt: skip
    assert webhooks.deliver_due() == 2
    assert [url for url, *_ in wire.sent] == [
        f"jsons://{n}.example.com/" for n in ("beta", "alpha")
    ]


def test_held_prices_reach_teams_that_staff_own_and_no_others(work: Workspace, wire: Wire) -> None:
    with pytest.raises(InvalidInput, match="only to teams that a member of staff owns"):
        endpoint(work, events=[WebhookEvent.PRICES_HELD])
    owner = work.users[Role.OWNER]
    get_user_model().objects.filter(pk=owner.pk).update(is_staff=True)
    endpoint(work, events=[WebhookEvent.PRICES_HELD])
    endpoint(work)
    refresh_ended.send(sender=None, results=(held_prices(),))
    [(_, title, text)] = wire.sent
    assert title == "Prices of AWS (on demand of p5 in region-1) are quarantined for review"
    assert "1 price, × 2 of what is published" in text
    assert text.endswith("/operator/")
    get_user_model().objects.filter(pk=owner.pk).update(is_staff=False)
    refresh_ended.send(sender=None, results=(held_prices(),))
    assert len(wire.sent) == 1


def held_prices() -> RefreshResult:
    """A refresh in which the price of one region doubled."""
    rows = tuple(offer("55.04", region=f"region-{n}") for n in range(2))
    publish(OfferBatch("aws", rows, dt.date(2026, 11, 20)), force=True)
    dear = (rows[0], replace(rows[1], price_per_hour=rows[1].price_per_hour * 2))
    done = publish(OfferBatch("aws", dear, dt.date(2026, 11, 21)))
    return RefreshResult("aws", "quarantined", "; ".join(done.reasons), "Release it.", done)


def test_an_alert_says_what_it_is_about_its_amounts_and_where(work: Workspace, wire: Wire) -> None:
    endpoint(work, events=[WebhookEvent.BUDGET_OVERRUN])
    row = work.project()
    overrun = [Finding(AlertKind.BUDGET_OVERRUN, "What was paid is too much.", "1.00", "2.00")]
    create_alerts(row, "USD", overrun, advice="Rent less.")
    [(_, title, text)] = wire.sent
    assert title == f"{row.name}: budget overrun"
    said, advice, link = text.split("\n\n")
    assert said == "What was paid is too much. Before: 1.00 USD. Now: 2.00 USD."
    assert advice == "Rent less."
    assert link.endswith(f"/projects/{row.pk}/")


def test_the_guide_names_every_event() -> None:
    named = set(re.findall(r"^\| `([\w.]+)` \|", GUIDE, re.MULTILINE))
    assert named == set(WebhookEvent.values)
