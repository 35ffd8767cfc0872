"""A team's plans as pages show them: side by side, against what was paid, since they were made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import (
    ComparisonAnswer,
    OfferUsed,
    PriceMove,
    SavedPlan,
    ScenarioChange,
    TotalChange,
)
from planner.contract.answer.scenario import ScenarioAnswer, ScenarioRecord
from planner.contract.labels import SCENARIO_TITLES
from planner.models import BudgetPeriod, Project, SavedComparison, Team, Variant
from planner.services.alerts.budget_watch import budget_over_horizon
from planner.services.projects.comparisons import compare_for_team
from planner.services.projects.projects import compose, project_currency
from planner.services.projects.reprice import Repriced
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


@dataclass(frozen=True)
class MovedOffer:
    """An offer of a plan whose price is another one today; `after` is None where it is gone."""

    label: str
    currency: str
    before: Decimal
    after: Decimal | None


def moved_offers(saved: SavedComparison, repriced: Repriced) -> list[MovedOffer]:
    offers = saved.read_plan().offers
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

    scenario: ScenarioRecord
    is_advised: bool


@dataclass(frozen=True)
class DifferenceRow:
    """A way to buy then and now, and the difference of its total by cause."""

    title: str
    then: WayToBuy
    now: WayToBuy
    total: TotalChange


def difference_rows(
    then: SavedPlan, now: SavedPlan, difference: Iterable[ScenarioChange]
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


def _way_to_buy(answer: SavedPlan, key: ScenarioKey) -> WayToBuy:
    best = answer.recommended
    return WayToBuy(answer.by_key[key], best is not None and best.key == key)
