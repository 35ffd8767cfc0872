"""A comparison's answer as flat rows: what every tabular export is made of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.scenario import CostLine


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
    def approval_status(self) -> Step | None:
        """The state that it is in; None where nobody saved it."""
        return self.steps[-1] if self.steps else None

    @property
    def approval_columns(self) -> tuple[str, str, str, str]:
        """Id, state, who brought it there, when; each empty where nobody saved it."""
        step = self.approval_status
        return (self.saved, step.state, step.by, step.moment) if step else ("", "", "", "")


@dataclass(frozen=True)
class Row:
    """One cost line of one scenario."""

    scenario: str
    month: dt.date
    line: CostLine


def cost_rows(answer: ComparisonAnswer) -> Iterator[Row]:
    """Every cost line of every feasible scenario, in the answer's order."""
    for scenario in answer.feasible:
        for line in scenario.lines:
            yield Row(scenario.key.value, answer.month(line.month), line)
