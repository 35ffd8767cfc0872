"""From the address of a plan page to its answer: parse, call, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from planner.models import Team
from planner.services.projects.comparisons import Answered, answer
from planner.web.common import form_fields as f
from planner.web.common import query_codec
from planner.web.common.sharing import PRICES, pinned_catalog
from pricing.common.invalid_input import InvalidInput

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
PAGE_ONLY = frozenset({"csrfmiddlewaretoken", "scenario", "edit", PRICES})
"""Names of the address that are about the page, not part of the request."""
MAX_FUTURES_AT_ONCE = 100_000
"""Most futures that a page tries while somebody waits; more run as a job with its progress."""


@dataclass(frozen=True)
class Outcome:
    """What a page has to show: the request, and its answer or the refusals."""

    request: dict[str, Any]
    answered: Answered | None = None
    refusals: tuple[InvalidInput, ...] = ()
    is_long: bool = False
    """Whether the request asks for more than a page answers while somebody waits."""

    @property
    def answer(self) -> dict[str, Any] | None:
        return self.answered.answer if self.answered else None


def of_other_kinds(kind: str) -> frozenset[str]:
    """Fields of the tabs that are not chosen: typed there, they stay in the form but out of
    the request."""
    others = frozenset().union(*(paths for name, paths in _OF_KIND.items() if name != kind))
    hidden = others - _OF_KIND.get(kind, frozenset())
    return hidden | _NOT_OF_HOURS if kind == "accelerator_hours" else hidden - _SHARED


def is_page_only(name: str) -> bool:
    """Whether a name of the address belongs to the page: how it looks, not what it asks."""
    return name.partition(".")[0] == "rows" or name in PAGE_ONLY


def request_of(query: QueryDict) -> dict[str, Any]:
    """The contract's request that the address of a page holds."""
    elsewhere = of_other_kinds(query.get("workload.kind", ""))

    def ignored(path: str) -> bool:
        return (
            is_page_only(path)
            or path in elsewhere
            or any(path.startswith(f"{other}.") for other in elsewhere)
        )

    return query_codec.read(query, f.KINDS, ignored)


def outcome_of(query: QueryDict, team: Team | None = None, *, in_short: bool = False) -> Outcome:
    """Compares what the address asks, with what the team adds; refusals go to their fields.

    An address that names its prices was made to be shared: it holds everything already, and is
    answered at those prices. `in_short` leaves out risk and sensitivity.
    """
    request = request_of(query)
    if "workload" not in request:
        return Outcome(request)
    if in_short:
        asked = {**request, "sensitivity": False}
        asked.pop("risk", None)
    elif _futures(request) > MAX_FUTURES_AT_ONCE:
        return Outcome(request, is_long=True)
    else:
        asked = request
    try:
        catalog = pinned_catalog(query)
        return Outcome(request, answer(asked, team if catalog is None else None, catalog))
    except InvalidInput as refusal:
        return Outcome(request, None, refusal.all())


def _futures(request: Mapping[str, Any]) -> float:
    risk = request.get("risk")
    samples = risk.get("samples") if isinstance(risk, Mapping) else None
    return samples if isinstance(samples, int | float) else 0
