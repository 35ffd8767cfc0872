"""Events, signed and delivered, with retries that end."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from planner.models import (
    AlertKind,
    DeliveryState,
    Role,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from planner.services.alerts.alerts import AlertSubject, Finding, create_alerts
from planner.services.projects import saved_comparisons
from planner.services.teams.access import WrongStateError
from planner.services.webhooks import webhooks
from planner.services.webhooks.webhooks import outbound
from pricing.common.invalid_input import InvalidInput
from tests.planner.workspace import Workspace, market

pytestmark = pytest.mark.django_db
URL = "https://hooks.example.com/plans"
GUIDE = (Path(__file__).parents[4] / "docs" / "guides" / "budgets.md").read_text()


class Wire:
    """Stands where the network is: keeps what is sent, answers what it is told."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes, dict[str, str]]] = []
        self.answer: Any = 200

    def post(self, url: str, body: bytes, headers: Any) -> outbound.Delivery:
        self.sent.append((url, body, dict(headers)))
        if isinstance(self.answer, Exception):
            raise self.answer
        return outbound.Delivery(self.answer)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    wire = Wire()
    monkeypatch.setattr(outbound, "post", wire.post)
    return wire


def endpoint(work: Workspace, **values: Any) -> WebhookEndpoint:
    plain = {"url": URL, "events": [WebhookEvent.APPROVED]}
    return webhooks.add_endpoint(work.access(), work.team, {**plain, **values})


def test_an_event_is_signed_over_its_time_and_body(work: Workspace, wire: Wire) -> None:
    hook = endpoint(work)
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, {"a": 1})
    url, body, headers = wire.sent[0]
    sent = json.loads(body)
    assert (url, sent["event"], sent["data"]) == (URL, "saved_comparison.approved", {"a": 1})
    assert headers["Webhook-Id"] == sent["id"]
    stamp, mark = (part.split("=")[1] for part in headers["Webhook-Signature"].split(","))
    key = hook.secret.encode()
    assert mark == hmac.new(key, f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    assert abs(timezone.now().timestamp() - int(stamp)) < 60
    assert WebhookDelivery.objects.get().state == DeliveryState.DELIVERED


def test_only_endpoints_that_asked_are_told(work: Workspace, wire: Wire) -> None:
    endpoint(work, active=False)
    endpoint(work, events=[WebhookEvent.BUDGET_OVERRUN])
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, {})
    assert wire.sent == []


@pytest.mark.one_in(3)
@pytest.mark.parametrize("answer", [500, 302, 404, TimeoutError("late"), ConnectionResetError()])
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


def test_an_inner_address_cannot_be_entered(work: Workspace) -> None:
    with pytest.raises(InvalidInput, match="private"):
        endpoint(work, url="https://169.254.169.254/latest")


def test_a_team_has_so_many_at_most(work: Workspace) -> None:
    for _ in range(webhooks.MAX_ENDPOINTS):
        endpoint(work)
    with pytest.raises(InvalidInput, match="at most 20"):
        endpoint(work)


def test_an_approval_is_told(work: Workspace, wire: Wire) -> None:
    market()
    endpoint(work)
    kept = saved_comparisons.submit(work.access(Role.EDITOR), work.saved())
    saved_comparisons.approve(work.access(Role.APPROVER), kept)
    told = json.loads(wire.sent[0][1])["data"]
    assert told["saved_comparison"] == str(kept.pk)
    assert told["approved_by"] == "approver-of-alpha"
    assert told["total_cost"] == kept.summary["total_cost"]


def test_a_webhook_switched_off_is_sent_nothing_that_waited_but_a_test(
    work: Workspace, wire: Wire
) -> None:
    hook = endpoint(work)
    wire.answer = 503
    webhooks.emit(work.team.pk, WebhookEvent.APPROVED, {})
    webhooks.change_endpoint(work.access(), hook, {"active": False})
    wire.answer, wire.sent = 200, []
    WebhookDelivery.objects.update(next_attempt_at=timezone.now())
    assert webhooks.deliver_due() == 1
    delivery = WebhookDelivery.objects.get()
    assert (wire.sent, delivery.state) == ([], "failed")
    assert "switched off" in delivery.error
    assert webhooks.send_test(work.access(), WebhookEndpoint.objects.get()).state == "delivered"


def test_tests_that_wait_are_few(work: Workspace, wire: Wire) -> None:
    hook = endpoint(work)
    wire.answer = 503
    for _ in range(webhooks.MAX_WAITING_TESTS):
        webhooks.send_test(work.access(), hook)
    with pytest.raises(WrongStateError, match="5 test events of this webhook wait"):
        webhooks.send_test(work.access(), hook)


def waiting(work: Workspace, count: int) -> None:
    """Deliveries that are due, those of one team before those of the next."""
    hook = endpoint(work, url=f"https://{work.slug}.example.com/")
    WebhookDelivery.objects.bulk_create(
        WebhookDelivery(team=work.team, endpoint=hook, event=WebhookEvent.APPROVED, payload={})
        for _ in range(count)
    )


def test_a_receiver_that_lets_us_wait_holds_up_no_other_team(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting(work, 5)
    waiting(Workspace("beta"), 2)
    clock, sent = [0.0], []

    def post(url: str, _body: bytes, _headers: Any) -> outbound.Delivery:
        sent.append(url[8:13])
        clock[0] += 0.1 if "beta" in url else 3.0
        return outbound.Delivery(200)

    monkeypatch.setattr(outbound, "post", post)
    monkeypatch.setattr(webhooks.time, "monotonic", lambda: clock[0])
    assert webhooks.deliver_due() == 7
    assert sent == ["alpha", "beta.", "beta.", *["alpha"] * 4]


# The guide --------------------------------------------------------------------------------


def test_the_receiver_of_the_guide_takes_ours_alone() -> None:
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[0], names)
    is_genuine, now, body = names["is_genuine"], int(time.time()), b'{"id":"1"}'
    ours = webhooks.signature("whsec_a", now, body)
    assert is_genuine(ours, body, "whsec_a")
    assert not is_genuine(ours, body + b" ", "whsec_a")
    assert not is_genuine(ours, body, "whsec_b")
    assert not is_genuine(webhooks.signature("whsec_a", now - 3600, body), body, "whsec_a")
    for forged in ("", "t=1", "v1=", "no equals sign", "t=x,v1=\u00e9", ours.split(",")[0]):
        assert not is_genuine(forged, body, "whsec_a"), forged


def test_the_guide_names_every_field_of_every_event(work: Workspace, wire: Wire) -> None:
    """It said how an event is signed and nothing of what is in it."""
    market()
    endpoint(work, events=[event for event in WebhookEvent.values if event != "test"])
    row = work.project()
    plan = saved_comparisons.submit(work.access(), work.saved(row))
    saved_comparisons.approve(work.access(), plan)
    overrun = [Finding(AlertKind.BUDGET_OVERRUN, "What was paid is too much.", "1.00", "2.00")]
    create_alerts(AlertSubject(work.team.pk, "USD", project=row), overrun)
    create_alerts(AlertSubject(work.team.pk, "USD", portfolio=work.portfolio()), overrun)
    webhooks.send_test(work.access(), WebhookEndpoint.objects.get())
    told = [json.loads(body) for _, body, _ in wire.sent]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", GUIDE.split("field of `data`")[1], re.MULTILINE)
    described = {(name, place) for names, place in rows for name in re.findall(r"`(\w+)`", names)}
    for one in told:
        assert set(one) == {"id", "event", "created_at", "data"}
        about = "portfolio" if "saved_portfolio" in one["data"] else "project"
        places = {f"`{one['event']}`", "alerts", f"alerts on a {about}"}
        if "alert" not in one["data"]:
            places = {f"`{one['event']}`"}
        assert set(one["data"]) == {name for name, place in described if place in places}
    (example,) = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    (like,) = [one for one in told if "project_name" in one["data"]]
    assert set(json.loads(example)["data"]) == set(like["data"])
