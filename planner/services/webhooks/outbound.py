"""Requests to addresses that a user named, which must never reach inside our own network.

The host is resolved once, every address is judged, and the connection goes to a judged
address: DNS that answers otherwise a moment later changes nothing. TLS still checks the host
name. Redirects are not followed, proxies of the environment are not used.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolve = Callable[[str, int], Iterable[str]]

TIMEOUT_SECONDS = 10.0
"""For a whole exchange: connecting, TLS, sending, and the head of the answer."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_6TO4 = ipaddress.IPv6Network("2002::/16")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that is assigned to public IPv6 hosts; RFC 4291 and IANA's registry of address space."""
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in (
        # IANA's registry of special-purpose IPv4 addresses.
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by carriers; Alibaba's metadata
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata at 192.0.0.192
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "168.63.129.16/32",  # Azure's wire server, public in form only
        # Of the global unicast IPv6 addresses.
        "2001::/23",  # Teredo and other protocol assignments, RFC 2928
        "2001:db8::/32",
        "3fff::/20",  # documentation, RFC 9637
    )
)
"""Said here and not asked of Python, whose `is_global` differs from version to version."""


class ForbiddenTargetError(Exception):
    """The target is not one that we connect to."""


class UnresolvedError(OSError):
    """The host's name gave no address this time; it may at another."""


def is_public(address: Address) -> bool:
    """Whether an address is outside every private, local and special-purpose network."""
    if isinstance(address, ipaddress.IPv6Address):
        carrier = address.ipv4_mapped or _translated(address)
        if carrier is not None:
            return is_public(carrier)
        marked = int(address) >> 32 & 0xFCFFFFFF == 0x5EFE
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if marked else None
        if address not in _GLOBAL_UNICAST or (inner is not None and not is_public(inner)):
            return False
    return not any(address in network for network in _NEVER)


def _translated(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour if address in _6TO4 else None


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
    if not url.isascii():
        raise InvalidInput(
            field, "holds letters beyond ASCII; write the host as xn--…, others as %…"
        )
    if not parts.hostname:
        raise InvalidInput(field, "names no host")
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(field, "holds a user name or password; leave them out")
    if port == 0 or any(ord(char) <= 32 or ord(char) == 127 for char in url):
        raise InvalidInput(field, "holds a space, a control character or port 0")
    return parts


def check_literal(parts: SplitResult, field: str = "url") -> None:
    """Refuses at once a host written as a forbidden address, in any spelling (127.1, 0x7f…,
    localhost). Nothing is resolved."""
    host = (parts.hostname or "").rstrip(".")
    try:
        choose_public_address(parts, lambda _host, _port: [_literal(host)])
    except ForbiddenTargetError as refusal:
        reason = str(refusal).rstrip(".")
        raise InvalidInput(field, f"{shorten(host)}: {reason}; {_PUBLIC}") from None
    except ValueError:  # a name, which is judged when it is resolved
        return


_PUBLIC = "give a host that the public internet reaches"


def _literal(host: str) -> str:
    if f".{host}".endswith((".localhost", ".localhost.localdomain")):
        return "127.0.0.1"
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
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnresolvedError(f"{host[:100]} cannot be resolved: {error}") from None
    return [str(entry[4][0]) for entry in entries]


def choose_public_address(parts: SplitResult, resolver: Resolve = resolve) -> tuple[str, int]:
    """One address to connect to, after every address of the host was judged."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    texts = list(resolver(parts.hostname or "", port))
    addresses = [ipaddress.ip_address(text.split("%")[0]) for text in texts]
    if not addresses:
        raise UnresolvedError(f"{parts.hostname} has no address.")
    inside = [_is_allowed_inside(address) for address in addresses]
    if not all(i or is_public(a) for i, a in zip(inside, addresses, strict=True)):
        raise ForbiddenTargetError("The host is at a private, local or reserved address.")
    if parts.scheme != "https" and not all(inside):
        raise ForbiddenTargetError("Plain http is only for networks that the operator opened.")
    return texts[0], port


@dataclass(frozen=True)
class Delivery:
    status: int


class _TimedSocket:
    """A socket on which all calls together have until `deadline`, however little each brings."""

    def __init__(self, plain: socket.socket, deadline: float) -> None:
        self._socket, self._deadline = plain, deadline

    def _armed(self) -> socket.socket:
        self._socket.settimeout(_remaining(self._deadline))
        return self._socket

    def start_tls(self, host: str) -> None:
        context = ssl.create_default_context()
        self._socket = context.wrap_socket(self._armed(), server_hostname=host)

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._armed().send(view) :]

    def readinto(self, buffer: Any) -> int:
        return self._armed().recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self))

    def close(self) -> None:
        self._socket.close()


class _Incoming(io.RawIOBase):
    def __init__(self, source: _TimedSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.readinto(buffer)


def _remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _PinnedConnection(http.client.HTTPConnection):
    def __init__(self, parts: SplitResult, address: tuple[str, int], deadline: float) -> None:
        super().__init__(parts.hostname or "", address[1])
        self._address, self._deadline = address, deadline
        self._is_tls = parts.scheme == "https"

    def connect(self) -> None:
        plain = socket.create_connection(self._address, _remaining(self._deadline))
        timed = self.sock = _TimedSocket(plain, self._deadline)
        if self._is_tls:
            timed.start_tls(self.host)


def post(
    url: str,
    body: bytes,
    headers: Sequence[tuple[str, str]],
    *,
    resolver: Resolve = resolve,
    timeout: float = TIMEOUT_SECONDS,
) -> Delivery:
    """Sends `body` and gives the status of the answer, whatever it is; its body is not read.

    `timeout` is for everything after the name is resolved. Raises `ForbiddenTargetError`, or
    OSError and `http.client.HTTPException` of the network.
    """
    parts = check_url(url)
    address = choose_public_address(parts, resolver)
    connection = _PinnedConnection(parts, address, time.monotonic() + timeout)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", path, body, dict(headers))
        return Delivery(connection.getresponse().status)
    except TimeoutError:
        raise TimeoutError(f"{parts.hostname} gave no whole answer within {timeout:g} s.") from None
    finally:
        connection.close()
