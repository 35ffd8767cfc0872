"""A URL as a person types it, in the letters that are sent: ASCII alone."""

from __future__ import annotations

from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

import idna

from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

MAX_LENGTH = 500
"""Characters of a URL as it is stored and sent."""
_MEANINGFUL = "!#$%&'()*+,/:;=?@[]~"
"""What stays as it is in a path or query (RFC 3986)."""


def encode_url(url: str, field: str = "url") -> str:
    """The host in its ASCII form (IDNA 2008 as UTS 46 maps it), other letters percent-encoded.

    >>> encode_url("https://Bücher.example:8443/päth?q=ü")
    'https://xn--bcher-kva.example:8443/p%C3%A4th?q=%C3%BC'
    >>> encode_url("https://hooks.example.com/a%20b")
    'https://hooks.example.com/a%20b'
    >>> encode_url("https://ü..example/")
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: url: 'https://ü..example/' names a host that no
        name server can know: Empty Label
    """
    if url.isascii():
        return url
    try:
        parts = urlsplit(url)
        network_location = _encode_network_location(parts)
    except (idna.IDNAError, ValueError) as error:
        raise InvalidInput(
            field, f"{shorten(url)} names a host that no name server can know: {error}"
        ) from None
    path, query = (quote(part, safe=_MEANINGFUL) for part in (parts.path, parts.query))
    encoded = urlunsplit((parts.scheme, network_location, path, query, ""))
    if len(encoded) > MAX_LENGTH:
        raise InvalidInput(
            field, f"has {len(encoded):,} characters as it is sent, of at most {MAX_LENGTH}"
        )
    return encoded


def _encode_network_location(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if parts.netloc.isascii():
        return parts.netloc
    if "@" in parts.netloc:
        raise ValueError("leave out user name and password")
    port = "" if parts.port is None else f":{parts.port}"
    return idna.encode(host, uts46=True).decode("ascii") + port
