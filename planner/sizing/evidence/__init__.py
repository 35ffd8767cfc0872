"""Published measurements and what is fitted to them, as files beside this module."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

T = TypeVar("T")
_adapter = cache(TypeAdapter)
FITTED = Path(__file__).with_name("fitted.json")
"""What `python -m tools.sizing_fit` fits to published runs, in a clone."""


def read_rows(path: Path) -> tuple[dict[str, str], ...]:
    """Rows of a table, empty cells left out."""
    with path.open(newline="", encoding="utf-8") as lines:
        rows = csv.DictReader(lines)
        return tuple({key: cell for key, cell in row.items() if cell} for row in rows)


def typed(kind: type[T], row: Mapping[str, Any]) -> T:
    """A row as a dataclass; cells that it does not name are passed over."""
    return cast(T, _adapter(kind).validate_python(dict(row)))  # type: ignore[arg-type]


@cache
def fitted() -> dict[str, Any]:
    """The fits by their name."""
    return cast(dict[str, Any], json.loads(FITTED.read_text(encoding="utf-8")))
