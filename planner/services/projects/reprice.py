"""A saved plan recalculated with today's rules and prices, and what differs from then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Case, When

from planner.comparison.shown_rows import list_changed_rows, shown_rows
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import (
    CatalogRevision,
    ComparisonAnswer,
    PriceMove,
    RowChange,
    SavedPlan,
    ScenarioChange,
)
from planner.models import Project, SavedComparison, State
from planner.services.projects.comparisons import compare_for_team
from pricing import catalog as catalogs
from pricing.market.snapshot import Catalog

_STATE_FIRST = Case(
    When(state=State.APPROVED, then=0), When(state=State.SUBMITTED, then=1), default=2
)
PLAN_FIRST = (_STATE_FIRST, "-created_at")
"""Order of a project's comparisons: the approved one, those submitted, then the latest."""


class Repriced(AnswerModel):
    """A saved plan at other prices, beside the one that was saved."""

    tables = ("catalog", "difference", "prices_moved", "changed_rows")
    catalog: tuple[CatalogRevision, ...]
    difference: list[ScenarioChange]
    """Per scenario: the total before and after."""
    prices_moved: list[PriceMove]
    """Offers of the old plan whose price moved or that are gone."""
    changed_rows: list[RowChange]
    """Figures and assumptions that the page of the saved plan tells otherwise today."""
    answer: ComparisonAnswer


def reprice(
    saved: SavedComparison, catalog: Catalog, changes: Mapping[str, Any] | None = None
) -> Repriced:
    """`saved` at the prices of `catalog`: what its author asked, with the team's rates of today and
    with `changes`, from the month in which it began."""
    request = {"start": saved.request["start"], **saved.given, **(changes or {})}
    answer = compare_for_team(request, saved.team, catalog, runs_already=True).answer
    original = saved.read_plan()
    shared = [key for key in answer.by_key if key in original.by_key]
    return Repriced.of_values(
        catalog=answer.catalog,
        answer=answer,
        difference=[_compare_totals(original, answer, key) for key in shared],
        prices_moved=list(_list_price_moves(original, catalog)),
        changed_rows=list_changed_rows(saved.rows, shown_rows(answer)),
    )


def _compare_totals(then: SavedPlan, now: SavedPlan, key: Any) -> ScenarioChange:
    before, after = then.by_key[key].total_cost, now.by_key[key].total_cost
    change = None if before is None or after is None else after - before
    return ScenarioChange(scenario=key, before=before, after=after, change=change)


def _list_price_moves(plan: SavedPlan, catalog: Catalog) -> Iterator[PriceMove]:
    used = {line.offer_id for one in plan.scenarios for line in one.lines if line.offer_id}
    if not used:
        return
    revisions = {row.provider: row.revision for row in plan.catalog}
    before, after = _prices(catalogs.at(revisions), used), _prices(catalog, used)
    for offer_id in sorted(before):
        was, now = before[offer_id], after.get(offer_id)
        if was != now:
            yield PriceMove(offer_id=offer_id, before=was, after=now)


def _prices(catalog: Catalog, offer_ids: set[str]) -> dict[str, Decimal]:
    table = catalog.offers
    offers = (table.offer(index) for index in range(len(table)))
    return {o.id: o.effective_price_per_hour for o in offers if o.id in offer_ids}


def current_plan(project: Project) -> SavedComparison | None:
    """What the project goes by: its approved comparison, else the latest one submitted, else the
    latest one saved."""
    saved_comparisons = project.saved_comparisons.select_related("team", "project")
    return saved_comparisons.order_by(*PLAN_FIRST).first()
