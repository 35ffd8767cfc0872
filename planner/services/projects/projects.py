"""Projects and their scenarios: the request that each stands for."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import IntegrityError, transaction

from planner.contract.request.comparison import read_request
from planner.models import Access, Project, Scenario, State, Team
from planner.services.teams.audit import edit, record
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import EDIT, require
from pricing.common.invalid_input import InvalidInput

MAX_BUDGET = Decimal(10) ** 13
_OF_PROJECT = ("workload", "name")
_ANY_WORKLOAD = {"kind": "accelerator_hours", "accelerator": "any", "hours_per_month": 1}
"""Stands in where a project has no workload yet, so that its assumptions can be judged."""

Values = Mapping[str, Any]


def compose(project: Project, scenario: Scenario | None = None) -> dict[str, Any]:
    """The comparison request of a project, or of one of its scenarios."""
    request = {"name": project.name, **project.assumptions, "workload": project.workload}
    return _overlaid(request, scenario.changes) if scenario else request


def currency_of(project: Project) -> str:
    """The currency of a project's plans, budget and actuals."""
    return str(project.assumptions.get("currency") or project.team.currency)


def _overlaid(request: Values, changes: Values) -> dict[str, Any]:
    """`changes` over `request`, section by section; another kind of workload replaces it."""
    merged = dict(request)
    for name, value in changes.items():
        own = merged.get(name)
        if isinstance(own, Mapping) and isinstance(value, Mapping):
            merged[name] = _section(own, value)
        else:
            merged[name] = value
    return merged


def _section(own: Values, changes: Values) -> Values:
    is_other_kind = changes.get("kind", own.get("kind")) != own.get("kind")
    return changes if is_other_kind else {**own, **changes}


def _check_request(request: Values, prefix: str) -> None:
    """Refuses what a comparison would refuse, naming the field as the caller wrote it."""
    probe = {**request, "workload": request.get("workload") or _ANY_WORKLOAD}
    try:
        read_request(probe)
    except InvalidInput as refusal:
        named = [_renamed(r, prefix) for r in refusal.all()]
        raise InvalidInput(named[0].field, named[0].message, tuple(named[1:])) from None


def _renamed(refusal: InvalidInput, prefix: str) -> InvalidInput:
    is_own = refusal.field.split(".")[0] in _OF_PROJECT and prefix == "assumptions"
    alone = InvalidInput(refusal.field, refusal.message)
    return alone if is_own else alone.under(prefix)


def _check_project(project: Project) -> None:
    for name in _OF_PROJECT:
        if name in project.assumptions:
            raise InvalidInput(f"assumptions.{name}", "belongs to the project itself")
    _check_request(compose(project), "assumptions")
    if project.budget:
        project.budget = _budget(project.budget)


def _budget(text: str) -> str:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not (value.is_finite() and 0 < value <= MAX_BUDGET):
        raise InvalidInput("budget", f"{text[:60]!r} is not an amount above 0 up to 1e13")
    return f"{value:f}"


@transaction.atomic
def create_project(access: Access, team: Team, values: Values) -> Project:
    require(access, team.pk, EDIT)
    project = Project(team=team, created_by_id=access.user_id, **values)
    _check_project(project)
    project.save()
    record(access, "project.created", project, after=values)
    return project


@transaction.atomic
def change_project(
    access: Access, project: Project, changes: Values, seen_version: int | None = None
) -> Project:
    """Workload, assumptions, budget, watch; what is approved keeps its own frozen copy."""
    require(access, project.team_id, EDIT)
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
        raise WrongStateError("It holds submitted or approved comparisons; archive it instead.")
    record(access, "project.deleted", project, before=_all_of(project))
    project.delete()


def _all_of(project: Project) -> dict[str, Any]:
    """What goes with a project, by name."""
    uploads = project.uploads.order_by("created_at").values_list("file_name", "rows", "currency")
    return {
        "name": project.name,
        "scenarios": list(project.scenarios.values_list("name", flat=True)),
        "saved_comparisons": [
            {"name": name, **summary}
            for name, summary in project.saved_comparisons.values_list("name", "summary")
        ],
        "uploads": [dict(zip(("file", "rows", "currency"), row, strict=True)) for row in uploads],
    }


@transaction.atomic
def create_scenario(access: Access, project: Project, values: Values) -> Scenario:
    require(access, project.team_id, EDIT)
    scenario = Scenario(
        team_id=project.team_id, project=project, created_by_id=access.user_id, **values
    )
    _check_request(compose(project, scenario), "changes")
    _save_named(scenario)
    record(access, "scenario.created", scenario, after=values)
    return scenario


@transaction.atomic
def change_scenario(
    access: Access, scenario: Scenario, changes: Values, seen_version: int | None = None
) -> Scenario:
    require(access, scenario.team_id, EDIT)
    for name, value in changes.items():
        setattr(scenario, name, value)
    _check_request(compose(scenario.project, scenario), "changes")
    try:
        with transaction.atomic():
            return edit(access, scenario, changes, seen_version=seen_version)
    except IntegrityError:
        raise _name_taken(scenario) from None


@transaction.atomic
def delete_scenario(access: Access, scenario: Scenario) -> None:
    require(access, scenario.team_id, EDIT)
    record(access, "scenario.deleted", scenario, before={"changes": scenario.changes})
    scenario.delete()


def _save_named(scenario: Scenario) -> None:
    try:
        with transaction.atomic():
            scenario.save()
    except IntegrityError:
        raise _name_taken(scenario) from None


def _name_taken(scenario: Scenario) -> InvalidInput:
    return InvalidInput("name", f"{scenario.name[:60]!r} is taken in this project")
