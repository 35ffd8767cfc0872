"""Tables of CSV that ship with the program: a row becomes a dataclass by the types of its fields;
and rows by what they have in common. PURE.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast, get_args, get_type_hints

from pricing.common.invalid_input import InvalidInput

Kind = TypeVar("Kind")
Row = TypeVar("Row")
Key = TypeVar("Key", bound=Hashable)
_READERS: Mapping[Any, Callable[[str], Any]] = {
    str: str,
    int: int,
    float: float,
    Decimal: Decimal,
    Fraction: lru_cache(1024)(Fraction),
    bool: {"yes": True, "no": False, "true": True, "false": False, "": False}.__getitem__,
    dt.date: lru_cache(1024)(dt.date.fromisoformat),
    tuple[str, ...]: lambda text: tuple(part for part in text.split(";") if part),
    frozenset[str]: lambda text: frozenset(text.split()),
}


def group(rows: Iterable[tuple[Key, Row]]) -> dict[Key, list[Row]]:
    """Rows by their key; keys, and the rows of each, in the order in which they come.

    >>> group([(5, "lease"), (3, "buy"), (5, "spare")])
    {5: ['lease', 'spare'], 3: ['buy']}
    """
    groups: dict[Key, list[Row]] = {}
    for key, row in rows:
        groups.setdefault(key, []).append(row)
    return groups


def read_table(path: Path, kind: type[Kind]) -> Iterator[Kind]:
    """Every row of a file as `kind`, whose fields are among its columns."""
    return (read_row(kind, row) for row in read_rows(path))


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def read_row(kind: type[Kind], row: Mapping[str, str | None], where: str = "") -> Kind:
    """A row as `kind`: of empty text a field has its default, None, or what empty text means.

    Raises `InvalidInput` naming the column; `where` ("line 12") goes before it.
    """
    values: dict[str, Any] = {}
    for name, read, is_optional, has_default in _columns(cast(Any, kind)):
        text = row.get(name) or ""
        if not text and (is_optional or has_default):
            if not has_default:
                values[name] = None
            continue
        try:
            values[name] = text if read is str else read(text)
        except (ValueError, ArithmeticError, KeyError):
            label = f"{where}, {name}" if where else name
            raise InvalidInput(label, f"{text[:60]!r} cannot be read") from None
    return kind(**values)


@cache
def _columns(kind: type[Any]) -> tuple[tuple[str, Any, bool, bool], ...]:
    hints = get_type_hints(kind)
    columns = []
    for one in fields(kind):
        hint, parts = hints[one.name], get_args(hints[one.name])
        is_optional = type(None) in parts
        has_default = one.default is not MISSING or one.default_factory is not MISSING
        hint = parts[0] if is_optional else hint
        columns.append((one.name, _READERS.get(hint, hint), is_optional, has_default))
    return tuple(columns)
