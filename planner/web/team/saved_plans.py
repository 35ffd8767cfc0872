"""A team's plans as pages show them: side by side, against what was paid, since they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import (
    ComparisonAnswer,
)
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import SCENARIO_TITLES
from planner.models import BudgetPeriod, Project, SavedComparison, Team, Variant
from planner.services.alerts.budget_watch import budget_over_horizon
from planner.services.projects.comparisons import compare_for_team
from planner.services.projects.projects import compose, project_currency
from planner.web.answer.verdict import FigureRow, budget_row
from planner.web.common.formatting import money
from planner.web.common.views import describe_refusal
from planner.web.plan.forms import as_query
from planner.web.team.rates_form import encode_in_units
from planner.web.team.sentences import budget_line
from pricing.common.invalid_input import InvalidInput

BUDGET = "Budget of the project"
MOST_COMPARED = 4


def budget_of_project(saved: SavedComparison) -> FigureRow | None:
    """What the saved plan leaves of its project's budget; None where there is none."""
    project, summary = saved.project, saved.read_summary()
    budget = budget_over_horizon(project, saved)
    if budget is None or summary.total_cost is None:
        return None
    own = project_currency(project)
    if own != summary.currency:
        words = f"{money(project.budget, own)}, in another currency than this plan"
        return FigureRow(BUDGET, words)
    note = "" if project.budget_period == BudgetPeriod.TOTAL else budget_line(project, own)
    return budget_row(BUDGET, budget - summary.total_cost, budget, own, note)


@dataclass(frozen=True)
class Column:
    """A variant of a project with its answer, or why there is none."""

    title: str
    plan_address: str
    answer: ComparisonAnswer | None = None
    refusal: str = ""

    @property
    def best(self) -> ScenarioAnswer | None:
        return self.answer.recommended if self.answer else None

    @property
    def key(self) -> str:
        return self.best.key.value if self.best else ""

    @property
    def headline(self) -> str:
        return self.answer.headline if self.answer else "No feasible plan."

    def cell(self, key: ScenarioKey) -> TotalCell:
        if self.answer is None:
            return TotalCell(None, "", best=False)
        one = self.answer.by_key[key]
        return TotalCell(one.total_cost, self.answer.currency, self.key == key, one)


@dataclass(frozen=True)
class TotalCell:
    """A total of one column; None where that way of buying is not possible."""

    total: Decimal | None
    currency: str
    """"" where the column has no answer."""
    best: bool
    scenario: ScenarioAnswer | None = None
    """Says whether it may be advised, and why not."""


@dataclass(frozen=True)
class TotalRow:
    """A way of buying with its total in every column."""

    title: str
    cells: tuple[TotalCell, ...]


def address_of(request: Mapping[str, Any]) -> str:
    return as_query(encode_in_units(request)).urlencode()


def column(project: Project, variant: Variant | None, team: Team) -> Column:
    """The answer of a project or of one of its variants at today's prices."""
    request = compose(project, variant)
    title = variant.name if variant else project.name
    here = address_of(request)
    if not request.get("workload"):
        return Column(title, here, refusal="No workload yet: plan it, then save it here.")
    try:
        return Column(title, here, compare_for_team(request, team).answer)
    except InvalidInput as refusal:
        return Column(title, here, refusal=describe_refusal(refusal))


def totals(columns: list[Column]) -> list[TotalRow]:
    return [
        TotalRow(title, tuple(one.cell(ScenarioKey(key)) for one in columns))
        for key, title in SCENARIO_TITLES.items()
    ]
