"""From the address of a plan page to its answer: parse, call, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict

from planner.comparison import PlanTotal
from planner.comparison_steps.work_limits import TooLarge, TooMuchWork
from planner.contract.request.comparison import with_rules
from planner.models import Team
from planner.services.projects.comparisons import (
    ComparisonOutcome,
    compare_for_team,
    find_total_for_team,
)
from planner.web.common import form_fields as f
from planner.web.common import query_codec
from planner.web.common.plan_fields.sized_work import SAMPLES, TRAINING
from planner.web.common.sharing import PRICES, RATES, pinned_catalog
from pricing.common.invalid_input import InvalidInput

_KIND_FIELDS: Mapping[str, frozenset[str]] = {
    "training": frozenset(field.path for field in TRAINING),
    "samples": frozenset(field.path for field in SAMPLES),
    "accelerator_hours": frozenset(field.path for field in f.HOURS),
}
_SHARED_FIELDS = frozenset(
    {
        *("workload.precision", "workload.goodput", "workload.experiments_factor"),
        *("workload.runs", "workload.sweep.trials", "workload.sweep.share"),
    }
)
_FIELDS_WITHOUT_HOURS = frozenset(
    {
        *("workload.experiments_factor", "workload.runs", "workload.precision"),
        *("workload.goodput", "workload.sweep.trials", "workload.sweep.share"),
    }
)
PAGE_ONLY = frozenset({"csrfmiddlewaretoken", "scenario", "edit", PRICES, RATES})
"""Names of the address that are about the page, not part of the request."""
FIRST_RULES = 1
"""Edition of the rules that shared links were made under before they named it."""
MAX_SAMPLES_AT_ONCE = 100_000
"""Most Monte Carlo samples that a page computes while a visitor waits; more run as a job."""


def unselected_tab_fields(kind: str) -> frozenset[str]:
    """Fields of the tabs that are not chosen: typed there, they stay in the form but out of
    the request."""
    others = frozenset().union(*(paths for name, paths in _KIND_FIELDS.items() if name != kind))
    hidden = others - _KIND_FIELDS.get(kind, frozenset())
    return (
        hidden | _FIELDS_WITHOUT_HOURS if kind == "accelerator_hours" else hidden - _SHARED_FIELDS
    )


def is_page_only(name: str) -> bool:
    """Whether a name of the query string is about the page, not part of the request."""
    path = name.partition("~")[0]
    return path.partition(".")[0] == "rows" or path in PAGE_ONLY


def read_plan_request(query: QueryDict) -> dict[str, Any]:
    """The comparison request of a page's query string."""
    unselected = unselected_tab_fields(query.get("workload.kind", ""))
    unused = [name for name in query if is_page_only(name) or _is_under(name, unselected)]
    request = query_codec.read(query_codec.drop_empty(query, *unused), f.FIELD_TYPES)
    return with_rules(request, FIRST_RULES) if PRICES in query and request else request


def _is_under(name: str, paths: frozenset[str]) -> bool:
    """Whether a name of the query string is one of `paths` or lies below one."""
    path = name.partition("~")[0]
    return path in paths or any(path.startswith(f"{parent}.") for parent in paths)


def answer_plan(
    query: QueryDict, team: Team | None = None, *, brief: bool = False
) -> ComparisonOutcome:
    """Compares the request of a query string with the team's rates; errors name their field.

    A query string that names price revisions is a shared link: it holds every rate already and
    is answered at those prices. `brief` leaves out risk and sensitivity.
    """
    request = read_plan_request(query)
    if "workload" not in request:
        return ComparisonOutcome(request)
    if brief:
        compared = {**request, "sensitivity": False}
        compared.pop("risk", None)
    elif _sample_count(request) > MAX_SAMPLES_AT_ONCE:
        return ComparisonOutcome(request, needs_job=True)
    else:
        compared = request
    try:
        catalog = pinned_catalog(query)
        outcome = compare_for_team(compared, team if catalog is None else None, catalog)
    except InvalidInput as refusal:
        may_be_job = isinstance(refusal, TooMuchWork) and not isinstance(refusal, TooLarge)
        needs_job = may_be_job and not brief
        return ComparisonOutcome(request, errors=refusal.all(), needs_job=needs_job)
    return replace(outcome, request=request)


@dataclass(frozen=True)
class TotalOutcome:
    """The total of a plan, or the reasons why there is none; neither where only the whole page
    can say what to do."""

    plan: PlanTotal | None = None
    errors: tuple[InvalidInput, ...] = ()


def find_plan_total(query: QueryDict, team: Team | None = None) -> TotalOutcome:
    """The total that `answer_plan` comes to, in a quarter of its time."""
    request = read_plan_request(query)
    if "workload" not in request or _sample_count(request) > MAX_SAMPLES_AT_ONCE:
        return TotalOutcome()
    try:
        catalog = pinned_catalog(query)
        return TotalOutcome(
            find_total_for_team(request, team if catalog is None else None, catalog)
        )
    except InvalidInput as refusal:
        return TotalOutcome(errors=refusal.all())


def _sample_count(request: Mapping[str, Any]) -> float:
    risk = request.get("risk")
    samples = risk.get("samples") if isinstance(risk, Mapping) else None
    return samples if isinstance(samples, int | float) else 0
