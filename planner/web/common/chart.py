"""A chart as a plain document: what it asks, its axes, its series, its table.

`chart_svg` draws it, in the colours of `static/charts.css`; the table below it holds the same
figures.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.contract.amounts import name_day


@dataclass(frozen=True)
class Series:
    """One line or bar series. `role` picks the colour; None leaves a gap."""

    name: str
    values: Sequence[float | None]
    role: str = ""
    dashed: bool = False
    ends: tuple[float, ...] = ()
    """Between what its last value lies in 8 of 10 cases, and between them what is expected."""


@dataclass(frozen=True)
class Mark:
    x: float | str
    y: float
    label: str


@dataclass(frozen=True)
class Chart:
    key: str
    title: str
    kind: str
    """line, bar (stacked), hbar (stacked, sideways), points."""
    x_label: str
    y_label: str
    x: Sequence[str | float | dt.date]
    series: Sequence[Series]
    marks: Sequence[Mark] = ()
    summary: str = ""
    """What it shows in a sentence: the text alternative."""
    digits: int = 0
    """Decimals in the table."""
    unit: str = ""
    """What stands behind each value of the axis: the currency of money."""

    @property
    def header(self) -> list[str]:
        return [self.x_label, *(series.name for series in self.series)]

    @property
    def rows(self) -> list[list[Any]]:
        return [
            [x, *(series.values[i] for series in self.series)]
            for i, x in enumerate(map(name_place, self.x))
        ]


def name_place(x: str | float | dt.date) -> str | float:
    return name_day(x) if isinstance(x, dt.date) else x
