"""`manage.py compare FILE|-`: the comparison as a table, or the JSON answer with --json."""

from __future__ import annotations

import json
import sys
import tomllib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from planner.comparison import Comparison, compare
from planner.management.tables import comparison_tables
from pricing import catalog
from pricing.invalid_input import InvalidInput

MAX_BYTES = 10_000_000
"""Largest request that is read."""


class Command(BaseCommand):
    """Reads a request, compares, prints. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = "Compare renting, committing, owning and mixing for a request in JSON or TOML."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="request in JSON or TOML; - reads standard input")
        parser.add_argument("--json", action="store_true", help="print the whole answer as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            comparison = compare(read(options["file"]), catalog.current())
        except InvalidInput as refusal:
            for one in refusal.all():
                self.stderr.write(str(one))
            sys.exit(2)
        self.stdout.write(self._shown(comparison, options["json"]))

    def _shown(self, comparison: Comparison, as_json: bool) -> str:
        if as_json:
            return json.dumps(comparison.as_dict(), indent=2, allow_nan=False)
        return comparison_tables(comparison)


def read(name: str) -> dict[str, Any]:
    """The request in a file, or on standard input for `-`; `InvalidInput` on `file`."""
    text = _text(name)
    kind = Path(name).suffix.lower()
    is_json = kind == ".json" or (kind != ".toml" and text.lstrip()[:1] in ("{", "["))
    try:
        found = json.loads(text, parse_constant=_refuse) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        form = "JSON" if is_json else "TOML"
        raise InvalidInput("file", f"{name} is not {form}: {error}") from error
    if not isinstance(found, dict):
        raise InvalidInput("file", f"{name} holds no object; a request is an object of fields")
    return found


def _text(name: str) -> str:
    try:
        if name == "-":
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as opened:
                raw = opened.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise InvalidInput("file", f"{name} is larger than {MAX_BYTES:,} bytes")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("file", f"{name} is not UTF-8 text") from error
    except OSError as error:
        raise InvalidInput("file", f"{name} cannot be read: {error.strerror}") from error


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number")
