"""What a comparison assumes where the request says nothing: value, range, unit, source. PURE.

Money is in USD; rates are fractions per year; a month is 730 h.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from planner.contract.request.comparison import CURRENT_RULES

_TABLE = Path(__file__).with_name("defaults.csv")
_TABLE_OF_EDITION_1 = Path(__file__).with_name("defaults_of_edition_1.csv")
"""Defaults that edition 1 of the rules had instead."""


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


def default(field: str, rules: int = CURRENT_RULES) -> Default:
    """The default of a field under an edition of the rules; `KeyError` if it has none.

    >>> default("pue").value
    1.56
    >>> default("utilisation_ceiling").value, default("utilisation_ceiling", 1).value
    (1.0, 0.9)
    """
    return all_defaults(rules)[field]


@cache
def all_defaults(rules: int = CURRENT_RULES) -> MappingProxyType[str, Default]:
    """Every default by field, under an edition of the rules."""
    table = _read(_TABLE)
    if rules == 1:
        table |= _read(_TABLE_OF_EDITION_1)
    return MappingProxyType(table)


def _read(path: Path) -> dict[str, Default]:
    with path.open(newline="", encoding="utf-8") as lines:
        return {row["field"]: _default(row) for row in csv.DictReader(lines)}


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
