"""The offer file of a region, read as a stream: hundreds of MB in constant memory.

The file is one JSON object: `products` by SKU, then `terms` → `OnDemand` and `Reserved` by SKU.
Each of these maps is handed to a streaming parser of its own, cut out of the bytes at the key
that begins the next one, so that every byte is parsed once, in C (ijson's push interface, which
could share one pass, takes three times as long). A cut in the wrong place leaves unbalanced
brackets, which the parser refuses: it cannot give wrong rows.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import IO, Any

import ijson
from ijson.backends import yajl2_c

CHUNK_BYTES = 1 << 18
_TERMS = b'"terms"'
_KINDS = frozenset((b'"OnDemand"', b'"Reserved"'))
_KEY_OF_MAP = re.compile(rb'"(terms|OnDemand|Reserved)"\s*:\s*\{')
_LONGEST_KEY = 64
"""Bytes that a key with its colon, bracket and white space may take."""

Entry = tuple[str, str, Any]
"""(section, SKU, its value); the section is products, OnDemand or Reserved."""
_Piece = bytes | re.Match[bytes]


class OfferFileError(ValueError):
    """Cut off, garbled, or something else altogether."""


UNREADABLE = (ijson.JSONError, EOFError, OSError, zlib.error)
"""How a file that is no whole JSON document, or no whole gzip of one, fails while it is read."""


def entries(file: IO[bytes]) -> Iterator[Entry]:
    """Every entry of the three maps in the order of the file."""
    pieces = _pieces(file)
    part: _Part | None = _Part("products", pieces)
    try:
        while part is not None:
            for sku, value in yajl2_c.kvitems(part, part.prefix, buf_size=CHUNK_BYTES):
                yield part.section, sku, value
            part = part.following
    except UNREADABLE as error:
        raise OfferFileError(str(error).splitlines()[0]) from None


class _Part:
    """One map as a file of its own: a JSON object from its key to the key of the next map."""

    def __init__(self, section: str, pieces: Iterator[_Piece], key: bytes = b"") -> None:
        self.section = section
        self.following: _Part | None = None
        self.prefix = "products" if section == "products" else f"terms.{section}"
        self._pieces = pieces
        self._opening = key
        self._ended = False
        if section == "terms":
            self._opening = b"{" + key
        elif section != "products":
            self._opening = b'{"terms":{' + key

    def read(self, size: int) -> bytes:
        """The next bytes, empty at the end. ijson asks for 0 to see that they are bytes."""
        if not size or self._ended:
            return b""
        if self._opening:
            opening, self._opening = self._opening, b""
            return opening
        piece = next(self._pieces, b"")
        if isinstance(piece, bytes):
            self._ended = not piece
            return piece
        self._ended = True
        self.following = _Part(piece[1].decode(), self._pieces, piece[0])
        return b'"":0}' if self.section == "products" else b'"":0}}'


def _pieces(file: IO[bytes]) -> Iterator[_Piece]:
    """The file in pieces: bytes, and the keys that begin a map."""
    data = b""
    awaited = frozenset((_TERMS,))
    while chunk := file.read(CHUNK_BYTES):
        data += chunk
        start = 0
        while (key := _next_key(data, start, awaited)) is not None:
            if key.start() > start:
                yield data[start : key.start()]
            yield key
            start = key.end()
            named = b'"%b"' % key[1]
            awaited = _KINDS if named == _TERMS else awaited - {named}
        end = max(start, len(data) - _LONGEST_KEY)
        if end > start:
            yield data[start:end]
        data = data[end:]
    if data:
        yield data


def _next_key(data: bytes, start: int, awaited: frozenset[bytes]) -> re.Match[bytes] | None:
    """The first awaited key that begins a map; the same word as a value is passed over."""
    found = (_first(data, start, key) for key in awaited)
    return min((key for key in found if key), key=lambda key: key.start(), default=None)


def _first(data: bytes, start: int, key: bytes) -> re.Match[bytes] | None:
    at = data.find(key, start)
    while at >= 0:
        match = _KEY_OF_MAP.match(data, at)
        if match:
            return match
        at = data.find(key, at + len(key))
    return None


def products(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """The products alone, wherever they stand."""
    try:
        yield from yajl2_c.kvitems(file, "products", buf_size=CHUNK_BYTES)
    except UNREADABLE as error:
        raise OfferFileError(str(error).splitlines()[0]) from None
