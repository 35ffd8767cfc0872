"""A project: its variants side by side, what is kept of it, plan against actual."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.models import Access, ActualsUpload, Project, Role, Scenario, Team
from planner.services.actuals import actuals
from planner.services.actuals.overlaps import overlaps
from planner.services.actuals.uploads import AT_ONCE_BYTES, start_upload
from planner.services.alerts.project_summaries import current_revisions, moved_since
from planner.services.jobs import jobs
from planner.services.projects import projects
from planner.services.projects import saved_comparisons as keeping
from planner.services.teams.permissions import EDIT
from planner.web.common.current_team import access_to
from planner.web.common.view_helpers import attempt, own, sent, team_page
from planner.web.team import saved_plans
from planner.web.team.forms import NewProjectForm, ProjectForm, SaveProjectForm, UploadForm

_UNREAD = ("answer", "assumptions", "given", "inherited", "request")


def project_at(request: HttpRequest, team: Team, pk: uuid.UUID) -> Project:
    return own(request, Project, pk, "team", team=team)


@team_page(EDIT)
def new(request: HttpRequest, team: Team) -> HttpResponse:
    form = NewProjectForm(request.POST or None, currency=team.currency)
    access = access_to(request)
    made = sent(form, lambda _: projects.create_project(access, team, form.values()))
    if made is not None:
        return redirect("project", team.slug, made.pk)
    context = {"team": team, "form": form, "title": "New project"}
    return render(request, "team/project_form.html", context, status=400 if form.errors else 200)


@team_page()
@require_safe
def project(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    found = project_at(request, team, pk)
    return render(request, "team/project.html", project_context(request, found))


def project_context(request: HttpRequest, project: Project, **forms: Any) -> dict[str, Any]:
    """All that the page of a project shows; `forms` are those that were refused."""
    access, team = access_to(request), project.team
    kept, current = _kept(access, project), current_revisions()
    variance = actuals.variance(project)
    spent = variance.as_dict()
    return {
        "team": team,
        "project": project,
        "scenarios": list(project.scenarios.all()),
        "kept": [
            {
                "saved": one,
                "moved": moved_since(one, current),
                "may_approve": keeping.may_approve(access, one),
            }
            for one in kept
        ],
        "variance": spent if spent["months"] else None,
        "causes": saved_plans.causes_of(spent["total"]),
        "chart": saved_plans.spend_chart(variance),
        "uploads": project.uploads.select_related("uploaded_by"),
        "alerts": project.alerts.filter(acknowledged_at=None),
        "may_edit": access.has_role(team.pk, Role.EDITOR),
        "currency": projects.currency_of(project),
        "plan_address": saved_plans.address_of(projects.compose(project)),
        "most": saved_plans.MOST_COMPARED,
        "at_once": AT_ONCE_BYTES,
        "keep_form": SaveProjectForm(project=project),
        "upload_form": UploadForm(),
        **forms,
    }


def _kept(access: Access, project: Project) -> Any:
    people = ("created_by", "scenario")
    return project.saved_comparisons.defer(*_UNREAD).select_related(*people)


@team_page()
@require_safe
def side_by_side(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """Up to four variants answered at today's prices; the first ones where none is ticked."""
    found = project_at(request, team, pk)
    scenarios = {str(one.pk): one for one in found.scenarios.all()}
    ticked = [name for name in request.GET.getlist("variant") if name in scenarios or not name]
    wanted = (ticked or ["", *scenarios])[: saved_plans.MOST_COMPARED]
    columns = [saved_plans.column(found, scenarios.get(name), team) for name in wanted]
    context = {
        "team": team,
        "project": found,
        "columns": columns,
        "rows": saved_plans.totals(columns),
        "most": saved_plans.MOST_COMPARED,
    }
    whole = not getattr(request, "htmx", False)
    page = "team/side_by_side.html" if whole else "team/parts/side_by_side.html"
    return render(request, page, context)


@team_page(EDIT)
def edit(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """Name, budget and watch."""
    found = project_at(request, team, pk)
    currency = projects.currency_of(found)
    form = ProjectForm(request.POST or None, initial=ProjectForm.of(found), currency=currency)
    access = access_to(request)
    done = sent(
        form,
        lambda values: projects.change_project(access, found, form.values(), values["version"]),
    )
    if done is not None:
        return redirect("project", team.slug, pk)
    context = {"team": team, "project": found, "form": form, "title": f"Change {found.name}"}
    return render(request, "team/project_form.html", context, status=400 if form.errors else 200)


@team_page(EDIT)
@require_POST
def archive(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """Archives it, or takes it out of the archive."""
    found = project_at(request, team, pk)
    changes = {"archived": not found.archived}
    said = "The project is active again." if found.archived else "The project is archived."
    attempt(request, lambda: projects.change_project(access_to(request), found, changes), said)
    return redirect("project", team.slug, pk)


@team_page(EDIT)
@require_POST
def delete(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    found = project_at(request, team, pk)
    said = f"The project {found.name} is deleted."
    if attempt(request, lambda: projects.delete_project(access_to(request), found), said):
        return redirect("dashboard", team.slug)
    return redirect("project", team.slug, pk)


@team_page(EDIT)
@require_POST
def delete_scenario(
    request: HttpRequest, team: Team, pk: uuid.UUID, scenario: uuid.UUID
) -> HttpResponse:
    found = own(request, Scenario, scenario, "team", project=pk, team=team)
    said = f"The scenario {found.name} is deleted."
    attempt(request, lambda: projects.delete_scenario(access_to(request), found), said)
    return redirect("project", team.slug, pk)


@team_page(EDIT)
@require_POST
def keep(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """Answers the project, or a scenario of it, at today's prices and keeps the answer."""
    found = project_at(request, team, pk)
    form = SaveProjectForm(request.POST, project=found)
    scenarios = {str(one.pk): one for one in found.scenarios.all()}
    made = sent(
        form,
        lambda v: keeping.save_comparison(
            access_to(request),
            found,
            name=v["name"],
            note=v["note"],
            scenario=scenarios.get(v["scenario"]),
        ),
    )
    if made is not None:
        return redirect("comparison", made.pk)
    context = project_context(request, found, keep_form=form)
    return render(request, "team/project.html", context, status=400)


@team_page(EDIT)
@require_POST
def reprice(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """Answers everything that is kept of the project at today's prices, as a job."""
    found = project_at(request, team, pk)
    arguments = {"project": str(found.pk), "as_of": None}
    job = jobs.start(access_to(request), "project_reprice", arguments, team)
    return redirect("job", job.pk)


@team_page(EDIT)
@require_POST
def upload(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """Reads a small file at once and a large one as a job that shows its progress."""
    found = project_at(request, team, pk)
    form = UploadForm(request.POST, request.FILES)
    address = sent(form, lambda values: _take(request, found, values["file"]))
    if address is not None:
        return redirect(address)
    context = project_context(request, found, upload_form=form)
    return render(request, "team/project.html", context, status=400)


def _take(request: HttpRequest, project: Project, file: Any) -> str:
    access = access_to(request)
    if file.size > AT_ONCE_BYTES:
        return reverse("job", args=[start_upload(access, project, file).pk])
    for warning in overlaps(actuals.load_actuals(access, project, file, file.name)):
        messages.warning(request, warning)
    return reverse("project", args=[project.team.slug, project.pk]) + "#actuals"


@team_page(EDIT)
@require_POST
def delete_upload(
    request: HttpRequest, team: Team, pk: uuid.UUID, upload: uuid.UUID
) -> HttpResponse:
    found = own(request, ActualsUpload, upload, "team", project=pk, team=team)
    said = f"{found} was taken out."
    attempt(request, lambda: actuals.delete_upload(access_to(request), found), said)
    return redirect("project", team.slug, pk)
