"""Requests to addresses that a user named, which must never reach inside our own network.

The host is resolved once, every address is judged, and the connection goes to a judged
address: DNS that answers otherwise a moment later changes nothing. TLS still checks the host
name. Redirects are not followed, proxies of the environment are not used.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from pricing.invalid_input import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], Iterable[str]]

TIMEOUT_SECONDS = 10.0
MAX_ANSWER_BYTES = 65_536
_EMBEDS_IPV4 = (
    # Network, and how many bits stand right of the IPv4 address that it carries.
    (ipaddress.ip_network("64:ff9b::/96"), 0),  # NAT64, RFC 6052
    (ipaddress.ip_network("2002::/16"), 80),  # 6to4, RFC 3056
    (ipaddress.ip_network("::/96"), 0),  # IPv4-compatible, RFC 4291
)
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in (
        "64:ff9b:1::/48",  # NAT64 of a local network, RFC 8215
        "2001::/23",  # Teredo and other protocol assignments, RFC 2928
        "fec0::/10",  # site-local, RFC 3879
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "168.63.129.16/32",  # Azure's wire server, public in form only
        "fd00:ec2::/32",  # AWS's metadata over IPv6
    )
)


class ForbiddenTargetError(Exception):
    """The target is not one that we connect to."""


def is_public(address: Address) -> bool:
    """Whether an address is outside every private, local and special-purpose network."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or _embedded(address)
        if inner is not None:
            return is_public(inner)
    if any(address in network for network in _NEVER):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    for network, right in _EMBEDS_IPV4:
        if address in network:
            return ipaddress.IPv4Address(int(address) >> right & 0xFFFFFFFF)
    return None


@cache
def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


def _is_allowed_inside(address: Address) -> bool:
    """Whether the operator opened this address to webhooks (WEBHOOK_ALLOWED_NETWORKS)."""
    allowed = _networks(tuple(settings.WEBHOOK_ALLOWED_NETWORKS))
    return any(address in network for network in allowed)


def check_url(url: str, field: str = "url") -> SplitResult:
    """The parts of a URL of the form that we send to; the host is judged when it is resolved."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InvalidInput(field, f"is not a URL: {error}") from None
    plain_ok = bool(settings.WEBHOOK_ALLOWED_NETWORKS)
    if parts.scheme != "https" and not (parts.scheme == "http" and plain_ok):
        raise InvalidInput(field, f"begins with {parts.scheme[:20]!r}; only https is allowed")
    if not parts.hostname:
        raise InvalidInput(field, "names no host")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(field, "holds a user name or password; leave them out")
    if port == 0 or any(ord(char) <= 32 or ord(char) == 127 for char in url):
        raise InvalidInput(field, "holds a space, a control character or port 0")
    return parts


def check_literal(parts: SplitResult, field: str = "url") -> None:
    """Refuses at once a host written as a forbidden address, in any spelling (127.1, 0x7f…)."""
    host = parts.hostname or ""
    try:
        judged_address(parts, lambda _host, _port: [_literal(host)])
    except ForbiddenTargetError as refusal:
        raise InvalidInput(field, str(refusal)) from None
    except ValueError:
        return


def _literal(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except (OSError, UnicodeError):
        raise ValueError(f"{host} is a name") from None


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host, as the system's resolver gives them."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ForbiddenTargetError(f"The host cannot be resolved: {error}") from None
    return [str(entry[4][0]) for entry in found]


def judged_address(parts: SplitResult, resolver: Resolve = resolve) -> tuple[str, int]:
    """One address to connect to, after every address of the host was judged."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    texts = list(resolver(parts.hostname or "", port))
    addresses = [ipaddress.ip_address(text.split("%")[0]) for text in texts]
    if not addresses:
        raise ForbiddenTargetError("The host has no address.")
    inside = [_is_allowed_inside(address) for address in addresses]
    if not all(i or is_public(a) for i, a in zip(inside, addresses, strict=True)):
        raise ForbiddenTargetError("The host is at a private, local or reserved address.")
    if parts.scheme != "https" and not all(inside):
        raise ForbiddenTargetError("Plain http is only for networks that the operator opened.")
    return texts[0], port


@dataclass(frozen=True)
class Sent:
    status: int


class _PinnedConnection(http.client.HTTPConnection):
    """Connects to a judged address; TLS and Host still speak of the host's name."""

    def __init__(self, parts: SplitResult, address: tuple[str, int], timeout: float) -> None:
        super().__init__(parts.hostname or "", address[1], timeout=timeout)
        self._address = address
        self._is_tls = parts.scheme == "https"

    def connect(self) -> None:
        plain = socket.create_connection(self._address, self.timeout)
        if self._is_tls:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(plain, server_hostname=self.host)
        else:
            self.sock = plain


def post(
    url: str,
    body: bytes,
    headers: Sequence[tuple[str, str]],
    *,
    resolver: Resolve = resolve,
    timeout: float = TIMEOUT_SECONDS,
) -> Sent:
    """Sends `body` and gives the status of the answer, whatever it is; reads little of it.

    Raises `ForbiddenTargetError`, or OSError and `http.client.HTTPException` of the network.
    """
    parts = check_url(url)
    address = judged_address(parts, resolver)
    connection = _PinnedConnection(parts, address, timeout)
    deadline = time.monotonic() + timeout
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", path, body, dict(headers))
        connection.sock.settimeout(max(0.1, deadline - time.monotonic()))
        response = connection.getresponse()
        response.read(MAX_ANSWER_BYTES)
        return Sent(response.status)
    finally:
        connection.close()
