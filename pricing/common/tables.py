"""Tables of CSV that ship with the program: a row becomes a dataclass by the types of its fields.

PURE.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast, get_args, get_type_hints

Kind = TypeVar("Kind")
_READERS: Mapping[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    Decimal: Decimal,
    Fraction: Fraction,
    bool: lambda text: text == "yes",
    dt.date: dt.date.fromisoformat,
    tuple[str, ...]: lambda text: tuple(part for part in text.split(";") if part),
    frozenset[str]: lambda text: frozenset(text.split()),
}


def read_table(path: Path, kind: type[Kind]) -> Iterator[Kind]:
    """Every row of a file as `kind`, whose fields are among its columns."""
    return (read_row(kind, row) for row in read_rows(path))


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Every row of a file as text by column."""
    with path.open(newline="", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def read_row(kind: type[Kind], row: Mapping[str, str]) -> Kind:
    """A row as `kind`: empty text is None, or the default of a number or date."""
    values: dict[str, Any] = {}
    for name, hint, is_optional in _columns(cast(Any, kind)):
        text = row.get(name) or ""
        if text or (not is_optional and hint in _OF_EMPTY_TEXT):
            values[name] = _READERS[hint](text)
        elif is_optional:
            values[name] = None
    return kind(**values)


_OF_EMPTY_TEXT = (str, bool, tuple[str, ...], frozenset[str])


@cache
def _columns(kind: type[Any]) -> tuple[tuple[str, Any, bool], ...]:
    hints = get_type_hints(kind)
    kinds = ((one.name, hints[one.name], get_args(hints[one.name])) for one in fields(kind))
    return tuple(
        (name, parts[0], True) if type(None) in parts else (name, hint, False)
        for name, hint, parts in kinds
    )
