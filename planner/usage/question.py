"""What is asked of files of usage, and the answer: the same for page, API and command. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from planner.contract.amounts import shift_month
from planner.usage.demand import Demand, list_accelerators, plan_demand
from planner.usage.forecast import MAX_MONTHS
from planner.usage.formats import ReadOptions
from planner.usage.projects import DEFAULT_SOURCES, ProjectRule, ProjectRules, read_rule
from planner.usage.reading import read_files
from planner.usage.summary import DIMENSIONS, Usage, idle_rows, read_price
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

MAX_GROWTH = 100
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
    growth: float | None = None
    """0.4: as in the year before and 40 % more; None: as forecast."""
    of_folder: bool = False
    """Whether files of no form that is read are left out."""
    idle_price: str = ""
    """What an idle accelerator-hour costs where no bill says it."""
    max_bytes: int | None = None
    """Most bytes of all files together, unpacked; that of each file alone where None."""
    max_rows: int | None = None

    def read_options(self) -> ReadOptions:
        return ReadOptions(
            projects=ProjectRules(
                self.project_by, (*(read_rule(text) for text in self.rule), *self.team_rules)
            ),
            mapping=dict(read_pairs(self.map, "map")),
            of_folder=self.of_folder,
            max_bytes=self.max_bytes,
            max_rows=self.max_rows,
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
        return self.demand.request() if self.demand else {}


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
    if question.growth is not None and not -1 <= question.growth <= MAX_GROWTH:
        raise InvalidInput("growth", f"{question.growth} is not between -1 and {MAX_GROWTH}")
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
    if demand is not None and len(list_accelerators(usage)) > 1:
        name = demand.history.accelerator or "accelerators without a name"
        note = f"The demand is that of {name} alone. One plan for all projects has the rest too."
        demand.notes.insert(0, note)
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
            question.growth,
        )
    except InvalidInput as refusal:
        is_next_month = refusal.field == "start" and not question.start
        if refusal.field in _OF_THE_DEMAND and not is_next_month:
            raise
        return None, str(refusal)
    return demand, ""


def read_pairs(texts: Iterable[str], field: str) -> Iterator[tuple[str, str]]:
    """Pairs as they are typed, `NAME=NAME`."""
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
