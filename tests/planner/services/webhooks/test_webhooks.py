"""Events, signed and delivered, with retries that end."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from planner.models import (
    AlertKind,
    DeliveryState,
    Role,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from planner.services.alerts.alerts import Finding, create_alerts
from planner.services.projects import saved_comparisons
from planner.services.webhooks import outbound, webhooks
from pricing.common.invalid_input import InvalidInput
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish, refresh_ended
from pricing.publish.refresh import RefreshResult
from tests.planner.workspace import Workspace, market
from tests.pricing.make import offer

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.com/plans"
GUIDE = (Path(__file__).parents[4] / "docs" / "guides" / "budgets.md").read_text()


class Wire:
    """Stands where the network is: keeps what is sent, answers what it is told."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes, dict[str, str]]] = []
        self.answer: Any = 200

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        self.sent.append((url, body, headers))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    wire = Wire()
    monkeypatch.setattr(outbound, "post", wire.post)
    return wire


def endpoint(work: Workspace, **values: Any) -> WebhookEndpoint:
    plain = {"url": URL, "events": [WebhookEvent.APPROVED]}
    return webhooks.add_endpoint(work.access(), work.team, {**plain, **values})


def test_the_signature_is_that_of_standard_webhooks() -> None:
    """The expected text is what the package `standardwebhooks` 1.0 signs."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signed = webhooks.signature(secret, "msg_1", 1614265330, b'{"test":1}')
    assert signed == "v1,VPYgn+wQ2NP1bqG0eC4iCt5m54MvUqC0HQWl6aDniOY="


def test_an_event_is_signed_and_told_to_endpoints_that_asked(work: Workspace, wire: Wire) -> None:
    hook = endpoint(work)
    endpoint(work, events=[WebhookEvent.BUDGET_OVERRUN])
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, {"a": 1})
    [(url, body, headers)] = wire.sent
    sent = json.loads(body)
    assert (url, sent["event"], sent["data"]) == (URL, "saved_comparison.approved", {"a": 1})
    assert headers["Webhook-Id"] == sent["id"]
    at = int(headers["Webhook-Timestamp"])
    assert headers["Webhook-Signature"] == webhooks.signature(hook.secret, sent["id"], at, body)
    assert abs(timezone.now().timestamp() - at) < 60
    assert WebhookDelivery.objects.get().state == DeliveryState.DELIVERED


@pytest.mark.parametrize("answer", [500, 302, TimeoutError("late"), ConnectionResetError()])
def test_what_is_not_taken_is_sent_again_later(work: Workspace, wire: Wire, answer: Any) -> None:
    endpoint(work)
    wire.answer = answer
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, {})
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts) == (DeliveryState.PENDING, 1)
    assert delivery.error
    wait = delivery.next_attempt_at - timezone.now()
    assert dt.timedelta(seconds=5) < wait <= dt.timedelta(seconds=10)
    assert webhooks.deliver_due() == 0
    wire.answer = 204
    WebhookDelivery.objects.update(next_attempt_at=timezone.now())
    assert webhooks.deliver_due() == 1
    assert WebhookDelivery.objects.get().state == DeliveryState.DELIVERED


def test_retries_end(work: Workspace, wire: Wire) -> None:
    endpoint(work)
    wire.answer = 500
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, {})
    for _ in range(10):
        WebhookDelivery.objects.update(next_attempt_at=timezone.now())
        webhooks.deliver_due()
    assert WebhookDelivery.objects.get().state == DeliveryState.FAILED
    assert len(wire.sent) == 1 + len(webhooks.RETRY_SECONDS)


def test_an_inner_address_cannot_be_entered_and_is_not_tried_again(work: Workspace) -> None:
    with pytest.raises(InvalidInput, match="private"):
        endpoint(work, url="https://169.254.169.254/latest")
    WebhookEndpoint.objects.filter(pk=endpoint(work).pk).update(url="https://127.0.0.1/")
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, {})
    delivery = WebhookDelivery.objects.get()
    assert delivery.state == DeliveryState.FAILED
    assert "private, local or reserved" in delivery.error


def test_what_failed_before_is_sent_after_what_is_new(work: Workspace, wire: Wire) -> None:
    """A receiver that lets us wait holds up the first attempts of no other team."""
    beta = Workspace("beta")
    for team, attempts in ((work, 1), (beta, 0)):
        hook = endpoint(team, url=f"https://{team.slug}.example.com/")
        WebhookDelivery.objects.create(
            team=team.team, endpoint=hook, event="test", payload={}, attempts=attempts
        )
    assert webhooks.deliver_due() == 2
    assert [url for url, *_ in wire.sent] == [
        f"https://{n}.example.com/" for n in ("beta", "alpha")
    ]


def test_held_prices_reach_teams_that_staff_own_and_no_others(work: Workspace, wire: Wire) -> None:
    with pytest.raises(InvalidInput, match="only to teams that a member of staff owns"):
        endpoint(work, events=[WebhookEvent.PRICES_HELD])
    owner = work.users[Role.OWNER]
    get_user_model().objects.filter(pk=owner.pk).update(is_staff=True)
    endpoint(work, events=[WebhookEvent.PRICES_HELD])
    endpoint(work)
    refresh_ended.send(sender=None, results=(held_prices(),))
    refresh_ended.send(sender=None, results=(RefreshResult("gcp", "failed", "it answered 500"),))
    [(url, body, _)] = wire.sent
    told = json.loads(body)
    assert (url, told["event"], told["data"]["provider"]) == (URL, "prices.held", "aws")
    (part,) = told["data"]["parts"]
    assert part["part"] == "on demand of p5 in region-1"
    assert part["reason"] == "1 price, × 2 of what is published"
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


def test_the_guide_names_every_field_of_every_event(work: Workspace, wire: Wire) -> None:
    market()
    get_user_model().objects.filter(pk=work.users[Role.OWNER].pk).update(is_staff=True)
    endpoint(work, events=[event for event in WebhookEvent.values if event != "test"])
    row = work.project()
    plan = saved_comparisons.submit(work.access(), work.saved(row))
    saved_comparisons.approve(work.access(), plan)
    overrun = [Finding(AlertKind.BUDGET_OVERRUN, "What was paid is too much.", "1.00", "2.00")]
    create_alerts(row, "USD", overrun)
    refresh_ended.send(sender=None, results=(held_prices(),))
    webhooks.send_test(work.access(), WebhookEndpoint.objects.get())
    told = [json.loads(body) for _, body, _ in wire.sent]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", GUIDE.split("field of `data`")[1], re.MULTILINE)
    described = {(name, place) for names, place in rows for name in re.findall(r"`(\w+)`", names)}
    assert (told[0]["data"]["saved_comparison"], told[0]["data"]["approved_by"]) == (
        str(plan.pk),
        "owner-of-alpha",
    )
    for one in told:
        assert set(one) == {"id", "event", "created_at", "data"}
        places = {f"`{one['event']}`"} | ({"alerts"} if "alert" in one["data"] else set())
        assert set(one["data"]) == {name for name, place in described if place in places}
    (example,) = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    (like,) = [one for one in told if "project_name" in one["data"]]
    assert set(json.loads(example)["data"]) == set(like["data"])
