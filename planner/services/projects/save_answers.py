"""What becomes of an answer that somebody wants to keep: a comparison, a variant, a project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from pydantic import BaseModel

from planner.contract.request.comparison import read_request
from planner.models import Access, Project, SavedComparison, Team
from planner.services.projects.projects import (
    build_project,
    build_variant,
    compose,
    create_project,
    create_variant,
    require_free_name,
)
from planner.services.projects.saved_comparisons import answer_to_save, store_answer
from planner.services.teams.permissions import EDIT, require
from planner.services.teams.quotas import require_room_to_save
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

Request = Mapping[str, Any]


def save_in_new_project(
    access: Access,
    team: Team,
    request: Request,
    *,
    project: str,
    name: str,
    note: str = "",
    budget: str = "",
    pinned: Catalog | None = None,
) -> SavedComparison:
    """A project with the request's workload and assumptions, a budget for the whole plan where one
    is set, and its first saved comparison."""
    _expect_workload(request)
    assumptions = {k: v for k, v in request.items() if k not in ("workload", "name")}
    values = {
        "name": project,
        "workload": request["workload"],
        "assumptions": assumptions,
        "budget": budget,
    }
    require(access, team.pk, EDIT)
    require_free_name(team, project, "new_project")
    planned = build_project(access, team, values)
    answer = answer_to_save(team, compose(planned), pinned)
    with transaction.atomic():
        created = create_project(access, team, values)
        return store_answer(access, created, answer, name=name, note=note)


def save_as_variant(
    access: Access,
    project: Project,
    request: Request,
    *,
    name: str,
    note: str = "",
    pinned: Catalog | None = None,
) -> SavedComparison:
    """A variant of the project with what the request changes, and its saved comparison."""
    _expect_workload(request)
    changes = changes_between(compose(project), request)
    values = {"name": name, "changes": changes}
    planned = build_variant(access, project, values)
    require_room_to_save(project.saved_comparisons.all())
    answer = answer_to_save(project.team, compose(project, planned), pinned)
    with transaction.atomic():
        variant = create_variant(access, project, values)
        return store_answer(access, project, answer, variant=variant, name=name, note=note)


def changes_between(base: Request, wanted: Request) -> dict[str, Any]:
    """What laid over `base` section by section gives `wanted`; the name belongs to the project.

    A field that `wanted` leaves out takes its default, so that the base's does not show through.

    >>> work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 100}
    >>> base = {"workload": work, "horizon_months": 24, "finance": {"tax_rate": 0.2}}
    >>> changes_between(base, {"workload": work, "finance": {"discount_rate_per_year": 0.1}})
    {'horizon_months': 36, 'finance': {'tax_rate': None, 'discount_rate_per_year': 0.1}}
    """
    defaults = read_request(wanted)
    return {
        name: _change(base.get(name), wanted.get(name), getattr(defaults, name, None))
        for name in {**base, **wanted}
        if name != "name" and base.get(name) != wanted.get(name)
    }


def _change(base: Any, wanted: Any, default: Any) -> Any:
    if isinstance(base, Mapping) and isinstance(wanted, Mapping):
        if base.get("kind") != wanted.get("kind"):
            return dict(wanted)
        changed = [name for name in {**base, **wanted} if base.get(name) != wanted.get(name)]
        return {n: wanted.get(n, _to_json(getattr(default, n, None))) for n in changed}
    return _to_json(default) if wanted is None else wanted


def _to_json(value: Any) -> Any:
    """A default as JSON: a whole section that is left out is None, a tuple is a list."""
    if isinstance(value, BaseModel):
        return None
    return list(value) if isinstance(value, tuple) else value


def _expect_workload(request: Request) -> None:
    if not request.get("workload"):
        raise InvalidInput("workload", "is not described yet; describe the work first")
