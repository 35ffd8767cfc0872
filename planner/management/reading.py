"""Requests and texts that commands read from a file or standard input."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from pricing.common import strict_json
from pricing.common.invalid_input import InvalidInput

MAX_REQUEST_BYTES = 10_000_000
"""Largest request that is read."""


def read_request(name: str) -> dict[str, Any]:
    """The request in a file, or on standard input for `-`; `InvalidInput` on `file`."""
    text = read_text(name, MAX_REQUEST_BYTES)
    kind = Path(name).suffix.lower()
    is_json = kind == ".json" or (kind != ".toml" and _starts_as_json(text.lstrip()))
    try:
        content = strict_json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        form = "JSON" if is_json else "TOML"
        raise InvalidInput("file", f"{name} is not {form}: {error}") from error
    if not isinstance(content, dict):
        raise InvalidInput("file", f"{name} holds no object; a request is an object of fields")
    return content


def _starts_as_json(text: str) -> bool:
    """An object or a list; `[word]` is a table of TOML."""
    return text.startswith("{") or bool(re.match(r"\[\s*[^\sA-Za-z_\[]", text))


def read_text(name: str, max_bytes: int) -> str:
    """UTF-8 text of a file, or of standard input for `-`; `InvalidInput` on `file`."""
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(name).open("rb") as opened:
                raw = opened.read(max_bytes + 1)
        if len(raw) > max_bytes:
            raise InvalidInput("file", f"{name} is larger than {max_bytes:,} bytes")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("file", f"{name} is not UTF-8 text") from error
    except OSError as error:
        raise InvalidInput("file", f"{name} cannot be read: {error.strerror}") from error
