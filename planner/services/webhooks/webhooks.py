"""Webhooks: messages on events, sent with Apprise to where a team wants them, with retries.

No message may reach inside our own network. Apprise (https://github.com/caronc/apprise) and its
libraries resolve names by themselves, so every connection of the thread that sends is judged as it
is opened, by its address: DNS that answers otherwise a moment later, a redirect or a proxy changes
nothing.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import logging
import re
import socket
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, unquote

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
    service = str(open_target(values["url"]).service_name)
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
        send(delivery.endpoint.url, delivery.payload["title"], delivery.payload["text"])
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


# The sender -------------------------------------------------------------------------------

TIMEOUT_SECONDS = 10.0
"""For a whole exchange: connecting, TLS, sending, and the answer."""
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that is assigned to public IPv6 hosts; RFC 4291 and IANA's registry of address space."""
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in (
        "168.63.129.16/32",  # Azure's wire server, public in form only
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata at 192.0.0.192
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # Teredo and other protocol assignments, RFC 2928
        "2002::/16",  # 6to4, which carries an IPv4 address
        "3fff::/20",  # documentation, RFC 9637
    )
)
"""What Python calls global, always or in some of its versions, and nobody may be reached at."""
_READS_FILES = re.compile(r"file|template|pgp|attach|workflow_path|cert", re.IGNORECASE)
"""Options of Apprise that name a file of this machine, or one to load."""
_MAIL = ("mailto", "mailtos")
_PRIVATE = "is at a private, local or reserved address; give a host that the internet reaches"


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is outside every private, local and special-purpose network, and
    carries no IPv4 address as those of translators and tunnels (ISATAP: ::5efe:…) do."""
    if isinstance(address, ipaddress.IPv6Address):
        is_tunnel = int(address) >> 32 & 0xFCFFFFFF == 0x5EFE
        if is_tunnel or address not in _GLOBAL_UNICAST:
            return False
    return address.is_global and not any(address in network for network in _NEVER)


def may_reach(host: Any) -> bool:
    """Whether a connection may be opened to an address, as text."""
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    opened = (ipaddress.ip_network(text) for text in settings.WEBHOOK_ALLOWED_NETWORKS)
    return is_public(address) or any(address in network for network in opened)


def open_target(text: str) -> Any:
    """Apprise's service of a URL that we send to.

    Raises `InvalidInput` without repeating the URL, which holds a secret. A host that is an
    address, in any spelling (127.1, 0x7f…), is judged at once, a name when it is connected to.
    """
    try:
        import apprise
    except ImportError:
        raise InvalidInput("url", "needs the package apprise: install the extra alerts") from None
    if not text.isascii():  # which may look like another host
        raise InvalidInput("url", "has letters beyond ASCII; write its host in the form xn--…")
    asset = apprise.AppriseAsset(
        app_id="GPU cost planner", app_desc="GPU cost planner", plugin_paths=[],
        storage_mode="memory", image_url_mask="", image_url_logo="", http_redirects=False,
    )  # fmt: skip
    # Apprise takes ; for & and may decode a name twice.
    query = unquote(text.partition("?")[2]).replace(";", "&")
    if any(_READS_FILES.search(name) for name, _ in parse_qsl(query, keep_blank_values=True)):
        raise InvalidInput("url", "names a file, a template or a key; leave them out")
    try:
        target = apprise.Apprise.instantiate(text, asset=asset, suppress_exceptions=True)
    except (ValueError, TypeError, LookupError, OSError):
        target = None
    if target is None:
        problem = "is no address that Apprise knows, such as slack://… or mailtos://…"
        raise InvalidInput("url", f"{problem}; see https://appriseit.com/services/")
    _judge(target, text.partition(":")[0].lower())
    target.socket_connect_timeout = target.socket_read_timeout = TIMEOUT_SECONDS / 2
    return target


def _judge(target: Any, scheme: str) -> None:
    plugin = type(target)
    speaks_http = hasattr(sys.modules[plugin.__module__], "requests")
    # What signs out when it is dropped (__del__) would do so where nothing judges its connections.
    is_reached = speaks_http or scheme in _MAIL
    if not is_reached or hasattr(plugin, "__del__") or plugin.__name__ == "NotifyVapid":
        raise InvalidInput("url", f"{target.service_name} is not reached from a server")
    for problem, holds in (
        ("switches off the check of certificates (verify=no)", not target.verify_certificate),
        ("follows redirects (redirect=yes)", getattr(target, "redirects", False)),
        (
            "sends a password in the clear",
            getattr(target, "secure_mode", "") == "insecure"
            and not settings.WEBHOOK_ALLOWED_NETWORKS,
        ),
    ):
        if holds:
            raise InvalidInput("url", f"{problem}; leave that out")
    if not any("{host}" in template for template in plugin.templates):
        return
    if not target.secure and not settings.WEBHOOK_ALLOWED_NETWORKS:
        raise InvalidInput("url", "is not encrypted; take the form that ends in s, as jsons://…")
    for host in filter(None, (target.host, getattr(target, "smtp_host", None))):
        with suppress(socket.gaierror, UnicodeError):
            entries = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
            if not all(may_reach(entry[4][0]) for entry in entries):
                raise InvalidInput("url", _PRIVATE)


class _Thread(threading.local):
    refused: list[str] | None = None
    """Addresses that it was kept from; None for a thread that may reach all."""


_thread = _Thread()


def _judge_connection(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "socket.connect" or _thread.refused is None:
        return
    address = arguments[1]
    host = address[0] if isinstance(address, tuple) else address
    if not may_reach(host):
        _thread.refused.append(str(host))
        raise PermissionError("No message goes to a private, local or reserved address.")


sys.addaudithook(_judge_connection)


def send(url: str, title: str, text: str) -> None:
    """Sends a message.

    Raises `InvalidInput` of a target that may not be reached, and OSError where the service did
    not take it; neither says the URL.
    """
    target = open_target(url)
    outcome: dict[str, Any] = {}

    def notify() -> None:
        _thread.refused = outcome["refused"] = []
        try:
            outcome["taken"] = target.notify(body=text, title=title, body_format="text")
        except Exception as failure:  # a plugin's own; its words may hold the URL
            outcome["failure"] = type(failure).__name__

    sender = threading.Thread(target=notify, daemon=True)
    sender.start()
    sender.join(TIMEOUT_SECONDS)
    if outcome.get("refused"):
        raise InvalidInput("url", _PRIVATE)
    if sender.is_alive():
        seconds = f"{TIMEOUT_SECONDS:g} s"
        raise TimeoutError(f"{target.service_name} gave no whole answer within {seconds}.")
    if not outcome.get("taken"):
        why = f" ({outcome['failure']})" if "failure" in outcome else ""
        raise ConnectionError(f"{target.service_name} did not take the message{why}.")
