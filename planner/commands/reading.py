"""Requests and texts that commands read from a file or standard input."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from pricing.common import strict_json
from pricing.common.bounded import MAX_DEPTH, check_lines, check_tree
from pricing.common.invalid_input import InvalidInput

MAX_REQUEST_BYTES = 10_000_000
"""Largest request that is read."""


def read_request(name: str) -> dict[str, Any]:
    """The request in a file, or on standard input for `-`; `InvalidInput` on `file`."""
    text = read_text(name, MAX_REQUEST_BYTES)
    kind = Path(name).suffix.lower()
    is_json = kind == ".json" or (kind != ".toml" and _starts_as_json(text.lstrip()))
    try:
        content = strict_json.loads(text) if is_json else _read_toml(text)
        check_tree(content)
    except (ValueError, RecursionError) as error:
        form = "JSON" if is_json else "TOML"
        raise InvalidInput("file", f"{name} is not {form}: {error}") from error
    if not isinstance(content, dict):
        raise InvalidInput("file", f"{name} holds no object; a request is an object of fields")
    return content


_LONG_KEY = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++\s*+\.\s*+){{{MAX_DEPTH + 1}}}", re.ASCII)


def _read_toml(text: str) -> dict[str, Any]:
    """TOML whose lines and keys are judged before they are parsed."""
    for line in check_lines(text.splitlines(), "file"):
        if _LONG_KEY.search(line):
            raise ValueError(f"a key of more than {MAX_DEPTH} parts")
    return tomllib.loads(text, parse_float=strict_json.parse_float)


def _starts_as_json(text: str) -> bool:
    """An object or a list; `[word]` is a table of TOML."""
    return text.startswith("{") or bool(re.match(r"\[\s*[^\sA-Za-z_\[]", text))


def read_text(name: str, max_bytes: int) -> str:
    """UTF-8 text of a file, or of standard input for `-`; `InvalidInput` on `file`."""
    try:
        return read_bytes(name, max_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("file", f"{name} is not UTF-8 text") from error


def read_bytes(name: str, max_bytes: int) -> bytes:
    """Bytes of a file, or of standard input for `-`; `InvalidInput` on `file`."""
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(name).open("rb") as opened:
                raw = opened.read(max_bytes + 1)
        if len(raw) > max_bytes:
            raise InvalidInput("file", f"{name} is larger than {max_bytes:,} bytes")
        return raw
    except OSError as error:
        raise InvalidInput("file", f"{name} cannot be read: {error.strerror}") from error
