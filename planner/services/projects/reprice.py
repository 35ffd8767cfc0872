"""A saved plan recalculated with today's rules and prices, and why it differs from then.

Two comparisons stand between the saved plan and the new one, each changing one thing more: the
saved request at the new prices, then with the new assumptions, then with the new demand. Each
difference of totals is the share of that cause, so that the shares sum to the whole.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Case, When
from django.utils import timezone

from planner.contract.answer.comparison import (
    Cause,
    ComparisonAnswer,
    PriceMove,
    RequestChange,
    RowChange,
    SavedPlan,
    ScenarioChange,
    TotalChange,
)
from planner.models import Job, Project, SavedComparison, State
from planner.services.jobs.jobs import Progress
from planner.services.projects.comparisons import compare_for_team
from planner.services.projects.projects import compose
from planner.services.projects.saved_comparisons import list_changed_rows, shown_rows
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput, check_known_day
from pricing.common.problems import list_errors
from pricing.market.snapshot import Catalog

CAUSES: tuple[Cause, ...] = ("prices", "assumptions", "demand")
_STATE_FIRST = Case(
    When(state=State.APPROVED, then=0), When(state=State.SUBMITTED, then=1), default=2
)
PLAN_FIRST = (_STATE_FIRST, "-created_at")
"""Order of a project's comparisons: the approved one, those submitted, then the latest."""
_DEMAND = ("workload", "start", "horizon_months")
_TOTALS_ALONE = {"sensitivity": False, "cheaper_if": False, "explain": False}
"""What a comparison of which only the totals are read leaves out."""

Request = dict[str, Any]


@dataclass(frozen=True)
class Repriced:
    """A new answer beside the old one, and what lies between them."""

    request: Request
    answer: ComparisonAnswer
    difference: list[ScenarioChange]
    """Per scenario: totals before and after, and the share of each cause."""
    prices_moved: list[PriceMove]
    """Offers of the old plan whose price moved or that are gone."""
    request_changes: list[RequestChange]
    """Request fields that differ, with their cause."""
    changed_rows: list[RowChange]
    """Figures and assumptions that the page of the saved plan tells otherwise today."""

    def as_dict(self) -> dict[str, Any]:
        """The repricing as plain JSON values."""
        answer = self.answer.to_json()
        names = ("difference", "prices_moved", "request_changes", "changed_rows")
        rows = {
            name: [row.model_dump(mode="json") for row in getattr(self, name)] for name in names
        }
        return {"catalog": answer["catalog"], **rows, "answer": answer}


def catalog_on_date(as_of: dt.date | None) -> Catalog:
    """Today's prices, or those that were published on a day."""
    if as_of is None:
        return catalogs.current()
    check_known_day("as_of", as_of, timezone.now().date())
    return catalogs.as_of(as_of)


def reprice(
    saved: SavedComparison, catalog: Catalog, request: Mapping[str, Any] | None = None
) -> Repriced:
    """`saved` at the prices of `catalog`, with the variant's request of today (or `request`)."""
    if request is None:
        now = compose(saved.project, saved.variant)
        request = now if saved.follows_project and now["workload"] else saved.given
    new_request = dict(request)
    new_request.setdefault("start", saved.request["start"])
    final = compare_for_team(new_request, saved.team, catalog)
    original = saved.read_plan()
    old, new = saved.request, final.resolved_request
    mixed = {k: v for k, v in new.items() if k not in _DEMAND}
    mixed |= {k: old[k] for k in _DEMAND if k in old}
    between = (compare_for_team(one | _TOTALS_ALONE, None, catalog).answer for one in (old, mixed))
    steps: list[SavedPlan] = [original, *between, final.answer]
    used = {line.offer_id for s in original.scenarios for line in s.lines if line.offer_id}
    return Repriced(
        request=new,
        answer=final.answer,
        difference=[
            ScenarioChange(
                scenario=key,
                total_cost=_total_change([s.total_cost if s else None for s in scenarios]),
                net_present_cost=_total_change(
                    [s.net_present_cost if s else None for s in scenarios]
                ),
            )
            for key in final.answer.by_key
            if key in original.by_key
            for scenarios in [[step.by_key.get(key) for step in steps]]
        ],
        prices_moved=list(
            list_price_moves(
                used, {row.provider: row.revision for row in original.catalog}, catalog
            )
        ),
        request_changes=list(_request_changes(old, new)),
        changed_rows=list_changed_rows(saved.rows, shown_rows(final.answer)),
    )


def _total_change(totals: list[Decimal | None]) -> TotalChange:
    return TotalChange(
        before=totals[0],
        after=totals[-1],
        change=_minus(totals[-1], totals[0]),
        causes=dict(zip(CAUSES, map(_minus, totals[1:], totals), strict=True)),
    )


def _minus(left: Decimal | None, right: Decimal | None) -> Decimal | None:
    return None if left is None or right is None else left - right


def list_price_moves(
    used: set[str], revisions: Mapping[str, int], catalog: Catalog
) -> Iterator[PriceMove]:
    """Of some offers those whose price at old revisions is another one in the new catalog."""
    if not used:
        return
    before, after = _prices(catalogs.at(revisions), used), _prices(catalog, used)
    for offer_id in sorted(before):
        was, now = before[offer_id], after.get(offer_id)
        if was != now:
            yield PriceMove(offer_id=offer_id, before=was, after=now)


def _prices(catalog: Catalog, offer_ids: set[str]) -> dict[str, Decimal]:
    table = catalog.offers
    offers = (table.offer(index) for index in range(len(table)))
    return {o.id: o.effective_price_per_hour for o in offers if o.id in offer_ids}


def _request_changes(old: Request, new: Request) -> Iterator[RequestChange]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield RequestChange(
                field=name,
                cause="demand" if name in _DEMAND else "assumptions",
                before=old.get(name),
                after=new.get(name),
            )


def current_plan(project: Project) -> SavedComparison | None:
    """What the project goes by: its approved comparison, else the latest one submitted, else the
    latest one saved."""
    saved_comparisons = project.saved_comparisons.select_related("team", "project", "variant")
    return saved_comparisons.order_by(*PLAN_FIRST).first()


def project_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Reprices every saved comparison of a project that is not superseded."""
    saved_comparisons = SavedComparison.objects.filter(
        project=job.arguments["project"], team=job.team
    ).exclude(state=State.SUPERSEDED)
    ids = list(saved_comparisons.values_list("pk", flat=True))
    day = job.arguments.get("as_of")
    catalog = catalog_on_date(dt.date.fromisoformat(day) if day else None)
    results: list[dict[str, Any]] = []
    related = saved_comparisons.select_related("team", "project", "variant")
    for pk in ids:  # One at a time: a project may keep a thousand answers.
        saved = related.filter(pk=pk).first()
        if saved is None:
            continue  # Deleted or superseded meanwhile.
        progress.step(len(results), len(ids), f"Repricing {saved.name}")
        current_budget().renew()
        named = {"saved_comparison": str(saved.pk), "name": saved.name}
        named["currency"] = saved.read_summary().currency
        try:
            result = reprice(saved, catalog).as_dict()
            del result["answer"]
        except InvalidInput as refusal:
            result = {"errors": list_errors(refusal)}
        results.append({**named, **result})
    return {"results": results}
