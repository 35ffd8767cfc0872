"""The hardware chooser: every accelerator with why it fits or not, ranked for one workload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from planner.comparison.lowest_rents import LowestRents, price_estimate
from planner.contract.answer.estimate import EstimateAnswer, EstimateCandidate
from planner.contract.labels import comes_first
from planner.sizing.estimate import estimate
from planner.web.common.choices import value_words
from planner.web.common.fields import with_labels
from planner.web.common.plan_request import read_plan_request
from planner.web.common.query_codec import drop_empty, write
from planner.web.common.views import open_page
from planner.web.market.offers import cheapest_of, name_place
from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from pricing.market.snapshot import Catalog

OPEN_ROWS = 8
"""Accelerators whose figures stand open beside those of money and time."""


@open_page
@require_safe
def accelerators(request: HttpRequest) -> HttpResponse:
    query = drop_empty(request.GET)
    plan_request = read_plan_request(query)
    context: dict[str, Any] = {
        "back": write(query, edit="1"),
        "open_address": write(query, **{"workload.accelerator": None, "edit": "1"}),
    }
    workload = plan_request.get("workload")
    if isinstance(workload, dict) and len(workload) > 1:
        open_workload = {k: v for k, v in workload.items() if k != "accelerator"}
        open_request, market = {**plan_request, "workload": open_workload}, catalog.current()
        try:
            sized = _estimate(plan_request, open_workload)
            estimate, rents = price_estimate(sized, open_request, market)
        except InvalidInput as refusal:
            context["refusals"] = refusal.all()
        else:
            rows = [_row(one, rents, market, query) for one in estimate.candidates]
            chosen = str(workload.get("accelerator", ""))
            context |= {
                "first_warnings": [
                    with_labels(one) for one in estimate.warnings if comes_first(one)
                ],
                "cpu": estimate.cpu,
                "other_chips": estimate.other_chips,
                "tier": _words("tier", estimate.tier),
                "tier_cards": estimate.tier_cards,
                "weights_gb": estimate.weights_gb,
                "neighbours": estimate.neighbours,
                **_sort_out(rows, chosen),
                "front": sorted(
                    (row for row in rows if row.choice and row.candidate.rent_usd is not None),
                    key=lambda row: row.candidate.rent_usd or 0.0,
                ),
                "chosen": chosen,
                "is_hours": workload.get("kind") == "accelerator_hours",
            }
    return render(request, "web/plan/accelerators.html", context)


def _estimate(plan_request: dict[str, Any], open_workload: dict[str, Any]) -> EstimateAnswer:
    try:
        return estimate({"workload": open_workload}).answer
    except InvalidInput:
        return estimate({"workload": plan_request["workload"]}).answer


def _sort_out(rows: Sequence[Row], chosen: str) -> dict[str, Any]:
    """The rows that stand open, those folded away, and those of what does not fit. Open are what
    is chosen, what is on the front of money and time, and of what a plan may rent, else of all
    that fits, those ranked first."""
    fitting = [row for row in rows if row.candidate.fits]
    rented = [row for row in fitting if row.usd_per_hour is not None]
    first = {row.candidate.accelerator for row in (rented or fitting)[:OPEN_ROWS]}
    first |= {row.candidate.accelerator for row in fitting if row.candidate.choice} | {chosen}
    return {
        "rows": rows,
        "fitting": len(fitting),
        "first_rows": [row for row in fitting if row.candidate.accelerator in first],
        "more_rows": [row for row in fitting if row.candidate.accelerator not in first],
        "unfit_rows": [row for row in rows if not row.candidate.fits],
    }


@dataclass(frozen=True)
class Row:
    candidate: EstimateCandidate
    name: str
    usd_per_hour: float | None
    place: str
    """Where it is rented at that price; empty where a plan may rent none."""
    address: str

    @property
    def serves(self) -> str:
        if self.candidate.market_status in ("retired", "inference_only"):
            return _words("market_status", self.candidate.market_status)
        return f"serves {_words('tier', self.candidate.serves_tier).lower()}"

    @property
    def choice(self) -> str:
        return _words("money_and_time", self.candidate.choice)


def _words(field: str, value: str | None) -> str:
    return value_words(field, value) if value else ""


def _row(
    candidate: EstimateCandidate, rents: LowestRents, market: Catalog, query: QueryDict
) -> Row:
    slug = candidate.accelerator
    offer, usd = cheapest_of(rents.offers, rents.rows(slug))
    return Row(
        candidate=candidate,
        name=get(slug).name,
        usd_per_hour=usd,
        place=name_place(offer, market),
        address=write(query, **{"workload.accelerator": slug, "edit": "1"}),
    )
