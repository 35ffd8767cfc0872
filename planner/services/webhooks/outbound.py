"""Requests to addresses that a user named, which must never reach inside our own network.

The host is resolved once, every address is judged, and the connection goes to a judged
address: DNS that answers otherwise a moment later changes nothing. TLS still checks the host
name. Redirects are not followed, proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress

import httpx
from django.conf import settings

from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

TIMEOUT_SECONDS = 10.0
"""For a whole exchange: connecting, TLS, sending, and the head of the answer."""
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


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is outside every private, local and special-purpose network, and
    carries no IPv4 address as those of translators and tunnels (ISATAP: ::5efe:…) do."""
    if isinstance(address, ipaddress.IPv6Address):
        is_tunnel = int(address) >> 32 & 0xFCFFFFFF == 0x5EFE
        if is_tunnel or address not in _GLOBAL_UNICAST:
            return False
    return address.is_global and not any(address in network for network in _NEVER)


def check_url(text: str) -> httpx.URL:
    """A URL of the form that we send to. A host that is an address, in any spelling (127.1,
    0x7f…), is judged at once, a name when it is resolved."""
    if not text.isascii():  # which may look like another host
        raise InvalidInput("url", "has letters beyond ASCII; write its host in the form xn--…")
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise InvalidInput("url", f"is not a URL: {error}") from None
    is_http = url.scheme == "http" and settings.WEBHOOK_ALLOWED_NETWORKS
    if url.scheme != "https" and not is_http:
        raise InvalidInput("url", f"begins with {url.scheme[:20]!r}; only https is allowed")
    if not url.host or (url.port or 443) > 65_535:
        raise InvalidInput("url", "names no host, or a port beyond 65535")
    if url.userinfo:
        raise InvalidInput("url", "holds a user name or password; leave them out")
    with suppress(socket.gaierror):
        choose_address(url, socket.AI_NUMERICHOST)
    return url


def choose_address(url: httpx.URL, flags: int = 0) -> str:
    """One address to connect to, after every address of the host was judged."""
    entries = socket.getaddrinfo(url.raw_host, None, type=socket.SOCK_STREAM, flags=flags)
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
    opened = [ipaddress.ip_network(text) for text in settings.WEBHOOK_ALLOWED_NETWORKS]
    for address in addresses:
        if any(address in network for network in opened):
            continue
        if url.scheme != "https":
            raise InvalidInput("url", "is plain http, which only networks opened for it may use")
        if not is_public(address):
            problem = "is at a private, local or reserved address"
            advice = "give a host that the public internet reaches"
            raise InvalidInput("url", f"{shorten(url.host)} {problem}; {advice}")
    return str(addresses[0])


def post(url: str, body: bytes, headers: Mapping[str, str]) -> int:
    """Sends `body` and gives the status of the answer, whatever it is; its body is not read.

    Raises `InvalidInput` of a target that may not be reached, and OSError and `httpx.HTTPError`
    of the network.
    """
    target = check_url(url)
    address = choose_address(target)
    try:
        return asyncio.run(_exchange(target, address, body, headers))
    except (TimeoutError, httpx.TimeoutException):
        seconds = f"{TIMEOUT_SECONDS:g} s"
        raise TimeoutError(f"{target.host} gave no whole answer within {seconds}.") from None


async def _exchange(url: httpx.URL, address: str, body: bytes, headers: Mapping[str, str]) -> int:
    client = httpx.AsyncClient(
        trust_env=False, timeout=TIMEOUT_SECONDS, verify=ssl.create_default_context()
    )
    async with asyncio.timeout(TIMEOUT_SECONDS), client:
        request = client.build_request(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers={**headers, "Host": url.netloc.decode()},
            extensions={"sni_hostname": url.raw_host.decode()},
        )
        response = await client.send(request, stream=True)
        return response.status_code
