"""Projects: the comparison request that each stands for."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction

from planner.contract.request.comparison import read_request
from planner.models import Access, Project, State, Team
from planner.services.teams.access import EDIT, WrongStateError, edit, record, require, require_room
from pricing.common.bounded import read_decimal, shorten
from pricing.common.invalid_input import InvalidInput

MIN_BUDGET = Decimal("0.01")
MAX_BUDGET = Decimal(10) ** 13
_PROJECT_FIELDS = ("workload", "name")
_ANY_WORKLOAD = {"kind": "accelerator_hours", "accelerator": "any", "hours_per_month": 1}
"""Stands in where a project has no workload yet, so that its assumptions can be judged."""

Values = Mapping[str, Any]


def compose(project: Project) -> dict[str, Any]:
    """The comparison request of a project."""
    return {"name": project.name, **project.assumptions, "workload": project.workload}


def project_currency(project: Project) -> str:
    """The currency of a project's plans, budget and actuals."""
    return str(project.assumptions.get("currency") or project.team.currency)


def _check_project(project: Project) -> None:
    for name in _PROJECT_FIELDS:
        if name in project.assumptions:
            raise InvalidInput(f"assumptions.{name}", "belongs to the project itself")
    try:  # A project without a workload yet is judged with any.
        read_request(compose(project) | {"workload": project.workload or _ANY_WORKLOAD})
    except InvalidInput as refusal:
        renamed = [_name_field(each) for each in refusal.all()]
        raise InvalidInput.together(renamed, len(renamed)) from None
    if project.budget:
        value = read_decimal(project.budget, "budget")
        if not MIN_BUDGET <= value <= MAX_BUDGET:
            problem = f"{shorten(project.budget)} is not an amount from 0.01 to 1e13"
            raise InvalidInput("budget", problem)
        project.budget = f"{value:f}"


def _name_field(refusal: InvalidInput) -> InvalidInput:
    alone = InvalidInput(refusal.field, refusal.message)
    return alone if refusal.field.split(".")[0] in _PROJECT_FIELDS else alone.under("assumptions")


def require_free_name(
    team: Team, name: str, field: str = "name", but: Project | None = None
) -> None:
    """Refuses the name of another project of a team, in capitals or not."""
    others = Project.objects.filter(team=team, name__iexact=name.strip())
    taken = others.exclude(pk=but.pk).first() if but else others.first()
    if taken is not None:
        kind = "an archived project" if taken.archived else "another project"
        raise InvalidInput(field, f"{shorten(taken.name)} is the name of {kind} of this team")


def build_project(access: Access, team: Team, values: Values) -> Project:
    """A project that may be created, not stored yet. Raises `InvalidInput`."""
    require(access, team.pk, EDIT)
    require_room("projects", Project.objects.filter(team=team))
    require_free_name(team, values.get("name", ""))
    project = Project(team=team, created_by_id=access.user_id, **values)
    _check_project(project)
    return project


@transaction.atomic
def create_project(access: Access, team: Team, values: Values) -> Project:
    project = build_project(access, team, values)
    project.save()
    record(access, "project.created", project, after=values)
    return project


@transaction.atomic
def change_project(
    access: Access, project: Project, changes: Values, seen_version: int | None = None
) -> Project:
    """Workload, assumptions, budget, watch; what is approved keeps its own frozen copy."""
    require(access, project.team_id, EDIT)
    if changes.get("name", project.name) != project.name:
        require_free_name(project.team, changes["name"], but=project)
    for name, value in changes.items():
        setattr(project, name, value)
    _check_project(project)
    checked = {name: getattr(project, name) for name in changes}
    return edit(access, project, checked, seen_version=seen_version)


@transaction.atomic
def delete_project(access: Access, project: Project) -> None:
    """Only what was never submitted can go; else archive it."""
    require(access, project.team_id, EDIT)
    if project.saved_comparisons.exclude(state=State.DRAFT).exists():
        raise WrongStateError("It has submitted or approved comparisons; archive it instead.")
    uploads = project.uploads.order_by("created_at").values_list("file_name", "rows", "currency")
    record(
        access,
        "project.deleted",
        project,
        before={
            "name": project.name,
            "saved_comparisons": [
                {"name": name, **summary}
                for name, summary in project.saved_comparisons.values_list("name", "summary")
            ],
            "uploads": [
                dict(zip(("file", "rows", "currency"), row, strict=True)) for row in uploads
            ],
        },
    )
    project.delete()
