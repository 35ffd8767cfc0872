"""Messages to addresses that a user named, which must never reach inside our own network.

Apprise (https://github.com/caronc/apprise) sends them. Its libraries resolve names by themselves,
so every connection of the thread that sends is judged as it is opened, by its address: DNS that
answers otherwise a moment later, a redirect or a proxy changes nothing.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import sys
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, unquote

from django.conf import settings

from pricing.common.invalid_input import InvalidInput

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
