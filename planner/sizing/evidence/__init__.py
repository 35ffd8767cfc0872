"""Published measurements, as tables beside this module: what sizing is fitted to and judged by."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

T = TypeVar("T")
_adapter = cache(TypeAdapter)


def read_rows(name: str) -> tuple[dict[str, str], ...]:
    """Rows of a table, empty cells left out."""
    path = Path(__file__).with_name(f"{name}.csv")
    with path.open(newline="", encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        return tuple({key: cell for key, cell in row.items() if cell} for row in rows)


def typed(kind: type[T], row: Mapping[str, Any]) -> T:
    """A row as a dataclass; cells that it does not name are passed over."""
    return cast(T, _adapter(kind).validate_python(dict(row)))  # type: ignore[arg-type]
