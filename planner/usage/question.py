"""What is asked of files of usage, and the answer: the same for page, API and command. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from planner.contract.amounts import format_shares, shift_month
from planner.usage.demand import Demand, hours_by_accelerator, plan_demand
from planner.usage.forecast import MAX_MONTHS
from planner.usage.formats import ReadOptions
from planner.usage.projects import DEFAULT_SOURCES, ProjectRule, ProjectRules, read_rule
from planner.usage.reading import read_files
from planner.usage.summary import (
    DIMENSIONS,
    Usage,
    idle_rows,
    read_price,
)
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

MOST_NAMED = 3
"""Accelerators or commitments that a note names."""
DEFAULT_BY = ("month", "accelerator", "option", "project")
WAITING_BYTES, WAITING_ROWS = 2_000_000_000, 1_500_000
"""Most of all files together that is read while somebody waits, on the page and by the API: some
30 s of work, whatever compressed files unpack to."""
WAITING_FILES = 60
"""Most files at once."""
_OF_THE_DEMAND = ("accelerator", "start", "months")
"""Fields whose refusal is the asker's to mend; others say why the files give no forecast."""


@dataclass(frozen=True)
class UsageQuestion:
    """How files are to be read, summed and carried on. All texts are as a person types them."""

    by: tuple[str, ...] = DEFAULT_BY
    project_by: tuple[str, ...] = DEFAULT_SOURCES
    map: tuple[str, ...] = ()
    """`COLUMN=NAME`."""
    forecast_months: int = 12
    start: str = ""
    accelerator: str | None = None
    rule: tuple[str, ...] = ()
    """`SOURCE:PATTERN=PROJECT`, before those that the team keeps."""
    team_rules: tuple[ProjectRule, ...] = ()
    idle_price: str = ""
    """What an idle accelerator-hour costs where no bill says it."""
    max_bytes: int | None = None
    """Most bytes of all files together, unpacked; that of each file alone where None."""
    max_rows: int | None = None
    on_rows: Callable[[int], None] | None = None
    """Called every few thousand rows; what it raises ends the reading."""

    def read_options(self) -> ReadOptions:
        return ReadOptions(
            projects=ProjectRules(
                self.project_by,
                (*(read_rule(text) for text in self.rule), *self.team_rules),
            ),
            mapping=dict(_pairs(self.map, "map")),
            max_bytes=self.max_bytes,
            max_rows=self.max_rows,
            on_rows=self.on_rows,
        )


@dataclass(frozen=True)
class UsageAnswer:
    """Sums, and the demand that follows; or why none does."""

    usage: Usage
    by: tuple[str, ...]
    demand: Demand | None
    no_demand_because: str
    idle: list[dict[str, Any]]
    """Accelerators that stood idle, and what they cost."""

    def as_dict(self) -> dict[str, Any]:
        return self.usage.as_dict(self.by) | {
            "idle": self.idle,
            "demand": self.demand.as_dict() if self.demand else None,
            "no_demand_because": self.no_demand_because,
        }

    def request(self) -> dict[str, Any]:
        """A request of a comparison."""
        return self.demand.request() if self.demand else {}

    def left_out(self) -> Iterator[str]:
        """What was used or is signed and is in no plan that is made on the demand."""
        if self.demand is None:
            return
        chosen = self.demand.history.accelerator
        hours = hours_by_accelerator(self.usage)
        others = {name: one for name, one in hours.items() if name != chosen}
        if others:
            part = format_shares([hours[chosen] / sum(hours.values())])[0]
            named = [f"{one:,.0f} h of {name or 'no name'}" for name, one in others.items()]
            more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
            yield (
                f"The demand is that of {chosen or 'accelerators without a name'} alone, {part} of "
                f"the accelerator-hours used. Not in it: {', '.join(named[:MOST_NAMED] + more)}. "
                "Forecast each by its name, and plan them together as projects of a portfolio."
            )


def answer_usage(
    files: Iterable[tuple[str, BinaryIO]], question: UsageQuestion, today: dt.date
) -> UsageAnswer:
    """Reads the files; refused as a whole where one of them or the question cannot be used."""
    for name in question.by:
        if name not in DIMENSIONS:
            problem = f"{shorten(name)} is unknown; allowed are {', '.join(DIMENSIONS)}"
            raise InvalidInput("by", problem)
    if not 0 <= question.forecast_months <= MAX_MONTHS:
        problem = f"{question.forecast_months} is not between 0 and {MAX_MONTHS}"
        raise InvalidInput("forecast_months", problem)
    if question.start:
        try:
            dt.date.fromisoformat(f"{question.start}-01")
        except ValueError:
            problem = f"{shorten(question.start)} is not a month like 2027-01"
            raise InvalidInput("start", problem) from None
    price = read_price(question.idle_price)
    usage = Usage(*read_files(files, question.read_options()))
    demand, because = _demand(usage, question, today)
    answer = UsageAnswer(
        usage=usage,
        by=question.by,
        demand=demand,
        no_demand_because=because,
        idle=idle_rows(usage.ledger, price),
    )
    if demand is not None:
        demand.notes[:0] = answer.left_out()
    return answer


def _demand(usage: Usage, question: UsageQuestion, today: dt.date) -> tuple[Demand | None, str]:
    if not question.forecast_months:
        return None, ""
    try:
        demand = plan_demand(
            usage,
            question.forecast_months,
            question.start or shift_month(f"{today:%Y-%m}"),
            question.accelerator,
        )
    except InvalidInput as refusal:
        is_next_month = refusal.field == "start" and not question.start
        if refusal.field in _OF_THE_DEMAND and not is_next_month:
            raise
        return None, str(refusal)
    return demand, ""


def _pairs(texts: Iterable[str], field: str) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign or not name or not value:
            raise InvalidInput(field, f"{shorten(text)} is not NAME=NAME")
        yield name, value


def split_list(text: str) -> tuple[str, ...]:
    """Words between commas.

    >>> split_list("month, project,")
    ('month', 'project')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())
