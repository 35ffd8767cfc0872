"""What a command of `gpu-cost-planner` is. No Django."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.contract.request.question import read_question
from planner.contract.typed_numbers import check_tree
from pricing.common import bounded
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

LoadCatalog = Callable[[], Catalog]
Options = Mapping[str, Any]
"""Arguments by name."""


NO_PRICES = (
    "No prices are loaded on this server yet. Run `manage.py load_catalog` there; a request can "
    "also do without them, with custom_offers."
)


def load_prices(load_catalog: LoadCatalog, does_without: bool = False) -> Catalog:
    """The catalog; an empty one is refused, unless the request does without."""
    catalog = load_catalog()
    if not (len(catalog.offers) or does_without):
        raise InvalidInput("", NO_PRICES)
    return catalog


@dataclass(frozen=True)
class Command:
    """A command: its arguments, and what it prints for them."""

    help: str
    add_arguments: Callable[[ArgumentParser], None]
    answer: Callable[[Options, LoadCatalog], str]
    """Raises `InvalidInput` for what cannot be used."""


MAX_REQUEST_BYTES = 10_000_000
"""Largest request that is read."""


def read_request(name: str) -> dict[str, Any]:
    """The request in a file, or on standard input for `-`; `InvalidInput` on `file`."""
    text = read_text(name, MAX_REQUEST_BYTES)
    kind = Path(name).suffix.lower()
    start = r"\{" if kind == ".toml" else r"\{|\[\s*[^\sA-Za-z_\[]"
    is_json = kind == ".json" or re.match(start, text.lstrip()) is not None
    try:
        if is_json:
            content = bounded.loads(text)
        else:
            content = tomllib.loads(text, parse_float=bounded.parse_float)
        check_tree(content)
    except (ValueError, RecursionError) as error:
        form = "JSON" if is_json else "TOML"
        raise InvalidInput("file", f"{name} is not {form}: {error}") from error
    if not isinstance(content, dict):
        raise InvalidInput("file", f"{name} holds no object; a request is an object of fields")
    return content


def read_comparison(text: str) -> dict[str, Any]:
    """The request in a file, or the one that a line such as `8 H100 for 12 months in Europe` asks
    for; what has spaces, and neither names a file nor ends like one, is a line."""
    path = Path(text)
    is_line = " " in text.strip() and path.suffix not in (".json", ".toml")
    return read_question(text) if is_line and not path.exists() else read_request(text)


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


def write_request(request: dict[str, Any], name: str) -> None:
    """Writes a request to a file; `InvalidInput` on `request`."""
    try:
        Path(name).write_text(json.dumps(request, indent=2), encoding="utf-8")
    except OSError as error:
        raise InvalidInput("request", f"{name} cannot be written: {error.strerror}") from error
