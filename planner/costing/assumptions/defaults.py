"""What a comparison assumes where the request says nothing: value, range, unit, source. PURE.

Money is in USD; rates are fractions per year; a month is 730 h.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

_TABLE = Path(__file__).with_name("defaults.csv")


@dataclass(frozen=True)
class Default:
    """One default: `low` and `high` bound what has been published, for sensitivity."""

    field: str
    value: float
    low: float
    high: float
    unit: str
    year: int
    """Year the figure belongs to."""
    assumed: bool
    """True where no published figure was found and `source` says what was assumed."""
    source: str


def default(field: str) -> Default:
    """The default of a field; `KeyError` if it has none.

    >>> default("pue").value
    1.56
    """
    return all_defaults()[field]


@cache
def all_defaults() -> MappingProxyType[str, Default]:
    """Every default by field."""
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return MappingProxyType({row["field"]: _default(row) for row in csv.DictReader(lines)})


def _default(row: dict[str, str]) -> Default:
    return Default(
        field=row["field"],
        value=float(row["value"]),
        low=float(row["low"]),
        high=float(row["high"]),
        unit=row["unit"],
        year=int(row["year"]),
        assumed=row["assumed"] == "yes",
        source=row["source"],
    )
