"""Where a request comes from, as far as it is known."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.conf import settings

_PREFIX_OF_A_CUSTOMER = 64
"""Bits of an IPv6 address that one customer is given; the rest is theirs to choose (RFC 6177)."""


def client_address(meta: Mapping[str, Any]) -> str:
    """The address that limits count for: `ip:192.0.2.7`, of IPv6 the network of a customer.

    Of `X-Forwarded-For` as many entries are believed as there are proxies of ours (NUM_PROXIES).
    """
    return f"ip:{_network(_forwarded(meta) or str(meta.get('REMOTE_ADDR', '')))}"


def _forwarded(meta: Mapping[str, Any]) -> str:
    proxies: int = settings.NUM_PROXIES
    entries = str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",") if proxies else []
    return entries[-min(proxies, len(entries))].strip()[:60] if entries else ""


def _network(text: str) -> str:
    """
    >>> _network("2001:db8:1:2:3:4:5:6"), _network("192.0.2.7"), _network("::ffff:192.0.2.7")
    ('2001:db8:1:2::', '192.0.2.7', '192.0.2.7')
    >>> _network("unix:")
    'unknown'
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "unknown"
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    network = ipaddress.ip_network((address, _PREFIX_OF_A_CUSTOMER), strict=False)
    return str(network.network_address)
