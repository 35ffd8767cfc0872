"""A team's plans as pages show them: side by side, against what was paid, since they were made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.answer.changes import PriceMove, ScenarioChange, TotalChange
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer, OfferUsed
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.labels import SCENARIO_TITLES
from planner.models import BudgetPeriod, Project, SavedComparison, Team, Variant
from planner.services.alerts.budget_watch import budget_over_horizon
from planner.services.projects.comparisons import compare_for_team
from planner.services.projects.projects import compose, project_currency
from planner.services.projects.reprice import Repriced
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.figure_rows import FigureRow, budget_row, figure_rows
from planner.web.common.formatting import money
from planner.web.common.view_helpers import describe_refusal
from planner.web.plan.forms import as_query
from planner.web.team.plan_links import encode_in_units
from planner.web.team.sentences import budget_line
from pricing.common.invalid_input import InvalidInput

BUDGET = "Budget of the project"
MOST_COMPARED = 4


class SavedPage(AnswerPage):
    """A kept answer, with what it leaves of the budget of its project."""

    def __init__(self, saved: SavedComparison, shown: str = "") -> None:
        super().__init__(saved.read_answer(), shown)
        self._saved = saved

    @property
    def figure_rows(self) -> list[FigureRow]:
        return figure_rows(self.answer, self._budget_of_project())

    def _budget_of_project(self) -> FigureRow | None:
        """None where there is none, or where the plan was asked to keep to the same."""
        project = self._saved.project
        budget, verdict = budget_over_horizon(project, self._saved), self.verdict
        if budget is None or verdict is None or verdict.total is None:
            return None
        if any(one.kind == "total" and one.budget == budget for one in verdict.budget):
            return None
        own = project_currency(project)
        if own != self.currency:
            words = f"{money(project.budget, own)}, in another currency than this plan"
            return FigureRow(BUDGET, words)
        set_for = budget_line(project, own)
        parts = [] if project.budget_period == BudgetPeriod.TOTAL else [set_for]
        if verdict.resale:
            parts.append(f"after {money(verdict.resale, own)} of resale")
        return budget_row(BUDGET, budget - verdict.total, budget, own, "; ".join(parts))


@dataclass(frozen=True)
class Column:
    """A variant of a project with its answer, or why there is none."""

    title: str
    plan_address: str
    answer: ComparisonAnswer | None = None
    refusal: str = ""

    @property
    def best(self) -> ScenarioAnswer | None:
        """The advised scenario."""
        return self.answer.recommended if self.answer else None

    @property
    def key(self) -> str:
        return self.best.key.value if self.best else ""

    @property
    def headline(self) -> str:
        return self.answer.headline if self.answer else "No feasible plan."

    def cell(self, key: ScenarioKey) -> TotalCell:
        """The total of one way of buying."""
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
    """The plan page's address of a request."""
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
    """One row for each way of buying, with the total of every column."""
    return [
        TotalRow(title, tuple(one.cell(ScenarioKey(key)) for one in columns))
        for key, title in SCENARIO_TITLES.items()
    ]


@dataclass(frozen=True)
class MovedOffer:
    """An offer of a plan whose price is another one today; `after` is None where it is gone."""

    label: str
    currency: str
    before: Decimal
    after: Decimal | None


def moved_offers(saved: SavedComparison, repriced: Repriced) -> list[MovedOffer]:
    offers = saved.read_answer().offers
    return [_moved(offers.get(row.offer_id), row) for row in repriced.prices_moved]


def _moved(offer: OfferUsed | None, row: PriceMove) -> MovedOffer:
    if offer is None:
        return MovedOffer(row.offer_id, "USD", row.before, row.after)
    place = offer.zone or offer.region
    label = offer.label if place in offer.label else f"{offer.label} {place}"
    return MovedOffer(label, offer.native_currency or "USD", row.before, row.after)


@dataclass(frozen=True)
class WayToBuy:
    """One way to buy in an answer: its total, and whether it is the advised one or may not be."""

    scenario: ScenarioAnswer
    is_advised: bool


@dataclass(frozen=True)
class DifferenceRow:
    """A way to buy then and now, and the difference of its total by cause."""

    title: str
    then: WayToBuy
    now: WayToBuy
    total: TotalChange


def difference_rows(
    then: ComparisonAnswer, now: ComparisonAnswer, difference: Iterable[ScenarioChange]
) -> list[DifferenceRow]:
    return [
        DifferenceRow(
            SCENARIO_TITLES[row.scenario],
            _way_to_buy(then, row.scenario),
            _way_to_buy(now, row.scenario),
            row.total_cost,
        )
        for row in difference
    ]


def _way_to_buy(answer: ComparisonAnswer, key: ScenarioKey) -> WayToBuy:
    best = answer.recommended
    return WayToBuy(answer.by_key[key], best is not None and best.key == key)
