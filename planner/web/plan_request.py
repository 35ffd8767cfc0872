"""From the address of a plan page to its answer: parse, call, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from planner.models import Team
from planner.services.comparing import answer
from planner.web import address
from planner.web import fields as f
from pricing.invalid_input import InvalidInput

_OF_KIND: Mapping[str, frozenset[str]] = {
    "training": frozenset(field.path for field in f.TRAINING),
    "samples": frozenset(field.path for field in f.SAMPLES),
    "accelerator_hours": frozenset(field.path for field in f.HOURS),
}
_SHARED = frozenset(
    {"workload.precision", "workload.goodput", "workload.experiments_factor", "workload.runs"}
)
_NOT_OF_HOURS = frozenset(
    {"workload.experiments_factor", "workload.runs", "workload.precision", "workload.goodput"}
)
PAGE_ONLY = frozenset({"csrfmiddlewaretoken", "scenario", "tab", "edit"})


@dataclass(frozen=True)
class Outcome:
    """What a page has to show: the request, and its answer or the refusals."""

    request: dict[str, Any]
    answer: dict[str, Any] | None = None
    refusals: tuple[InvalidInput, ...] = ()


def of_other_kinds(kind: str) -> frozenset[str]:
    """Fields of the tabs that are not chosen: typed there, they stay in the form but out of
    the request."""
    others = frozenset().union(*(paths for name, paths in _OF_KIND.items() if name != kind))
    hidden = others - _OF_KIND.get(kind, frozenset())
    return hidden | _NOT_OF_HOURS if kind == "accelerator_hours" else hidden - _SHARED


def request_of(query: QueryDict) -> dict[str, Any]:
    """The contract's request that the address of a page holds."""
    elsewhere = of_other_kinds(query.get("workload.kind", ""))

    def ignored(path: str) -> bool:
        root = path.partition(".")[0]
        return (
            root == "rows"
            or path in PAGE_ONLY
            or path in elsewhere
            or any(path.startswith(f"{other}.") for other in elsewhere)
        )

    return address.read(query, f.KINDS, ignored)


def outcome_of(query: QueryDict, team: Team | None = None) -> Outcome:
    """Compares what the address asks, with what the team adds; refusals go to their fields."""
    request = request_of(query)
    if "workload" not in request:
        return Outcome(request)
    try:
        return Outcome(request, answer(request, team).answer)
    except InvalidInput as refusal:
        return Outcome(request, None, refusal.all())
