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
_TERM_SECTIONS = frozenset((b'"OnDemand"', b'"Reserved"'))
_SECTION_KEY = re.compile(rb'"(terms|OnDemand|Reserved)"\s*:\s*\{')
_MAX_KEY_BYTES = 64
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
    section_file: SectionFile | None = split_sections(file)
    try:
        while section_file is not None:
            for sku, value in yajl2_c.kvitems(
                section_file, section_file.prefix, buf_size=CHUNK_BYTES
            ):
                yield section_file.section, sku, value
            section_file = section_file.following
    except UNREADABLE as error:
        raise OfferFileError(str(error).splitlines()[0]) from None


def split_sections(file: IO[bytes]) -> SectionFile:
    """The first map of `file`; each one gives the next when it was read to its end."""
    return SectionFile("products", _split_at_keys(file))


class SectionFile:
    """One map as a file of its own: a JSON object from its key to the key of the next map."""

    def __init__(self, section: str, pieces: Iterator[_Piece], key: bytes = b"") -> None:
        self.section = section
        self.following: SectionFile | None = None
        self.prefix = "products" if section == "products" else f"terms.{section}"
        self._pieces = pieces
        self._opening = key
        self._is_at_end = False
        if section == "terms":
            self._opening = b"{" + key
        elif section != "products":
            self._opening = b'{"terms":{' + key

    def read(self, size: int) -> bytes:
        """The next bytes, empty at the end. ijson asks for 0 to see that they are bytes."""
        if not size or self._is_at_end:
            return b""
        if self._opening:
            opening, self._opening = self._opening, b""
            return opening
        piece = next(self._pieces, b"")
        if isinstance(piece, bytes):
            self._is_at_end = not piece
            return piece
        self._is_at_end = True
        self.following = SectionFile(piece[1].decode(), self._pieces, piece[0])
        return b'"":0}' if self.section == "products" else b'"":0}}'


def _split_at_keys(file: IO[bytes]) -> Iterator[_Piece]:
    """The file in pieces: bytes, and the keys that begin a map."""
    data = b""
    expected_keys = frozenset((_TERMS,))
    while chunk := file.read(CHUNK_BYTES):
        data += chunk
        start = 0
        while (key := _find_next_key(data, start, expected_keys)) is not None:
            if key.start() > start:
                yield data[start : key.start()]
            yield key
            start = key.end()
            quoted_key = b'"%b"' % key[1]
            expected_keys = _TERM_SECTIONS if quoted_key == _TERMS else expected_keys - {quoted_key}
        end = max(start, len(data) - _MAX_KEY_BYTES)
        if end > start:
            yield data[start:end]
        data = data[end:]
    if data:
        yield data


def _find_next_key(
    data: bytes, start: int, expected_keys: frozenset[bytes]
) -> re.Match[bytes] | None:
    """The first awaited key that begins a map; the same word as a value is passed over."""
    matches = (_find_key(data, start, key) for key in expected_keys)
    return min((key for key in matches if key), key=lambda key: key.start(), default=None)


def _find_key(data: bytes, start: int, key: bytes) -> re.Match[bytes] | None:
    position = data.find(key, start)
    while position >= 0:
        match = _SECTION_KEY.match(data, position)
        if match:
            return match
        position = data.find(key, position + len(key))
    return None


def products(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    """The products alone, wherever they stand."""
    try:
        yield from yajl2_c.kvitems(file, "products", buf_size=CHUNK_BYTES)
    except UNREADABLE as error:
        raise OfferFileError(str(error).splitlines()[0]) from None
