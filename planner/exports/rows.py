"""A comparison's answer as flat rows: what every tabular export is made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from planner.answer import month_of

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """A state of a saved comparison: who brought it there and when."""

    state: str
    by: str
    at: dt.datetime

    @property
    def moment(self) -> str:
        """UTC, as FOCUS writes it.

        >>> Step("draft", "ada", dt.datetime(2027, 1, 31, 8, tzinfo=dt.UTC)).moment
        '2027-01-31T08:00:00Z'
        """
        return f"{self.at.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Context:
    """Whose comparison it is; empty where nobody saved it."""

    name: str = ""
    team: str = ""
    project: str = ""
    created: dt.date | None = None
    scenario: str = ""
    """The scenario that FOCUS rows are of; empty for the recommended one."""
    saved: str = ""
    """Id of the saved comparison."""
    steps: tuple[Step, ...] = ()
    """What it went through, the state that it is in last."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """The request that was answered."""

    @property
    def standing(self) -> Step | None:
        """The state that it is in; None where nobody saved it."""
        return self.steps[-1] if self.steps else None

    @property
    def told(self) -> tuple[str, str, str, str]:
        """Id, state, who brought it there, when; each empty where nobody saved it."""
        step = self.standing
        return (self.saved, step.state, step.by, step.moment) if step else ("", "", "", "")


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
