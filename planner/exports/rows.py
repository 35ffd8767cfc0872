"""A comparison's answer as flat rows: what every tabular export is made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.answer import month_of

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Context:
    """Whose comparison it is; empty where nobody saved it."""

    name: str = ""
    team: str = ""
    project: str = ""
    created: dt.date | None = None
    scenario: str = ""
    """The scenario that FOCUS rows are of; empty for the recommended one."""


def feasible(answer: Answer) -> list[Mapping[str, Any]]:
    return [scenario for scenario in answer["scenarios"] if scenario["feasible"]]


@dataclass(frozen=True)
class Row:
    """One cost line of one scenario."""

    scenario: str
    month: dt.date
    line: Mapping[str, Any]

    @property
    def amount(self) -> Decimal:
        return Decimal(self.line["amount"])

    @property
    def unit_price(self) -> Decimal:
        return Decimal(self.line["unit_price"])


def cost_rows(answer: Answer) -> Iterator[Row]:
    """Every cost line of every feasible scenario, in the answer's order."""
    for scenario in feasible(answer):
        for line in scenario["lines"]:
            yield Row(scenario["key"], month_of(answer, line["month"]), line)
