"""The dashboard of a team, and the way to a first team."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from planner.models import Alert, Project, Role, Team
from planner.services.actuals import actuals
from planner.services.actuals.actuals import estimate_completion
from planner.services.alerts.alerts import (
    changes_since,
    current_revisions,
    project_summaries,
    read_inbox,
)
from planner.services.projects import projects
from planner.services.projects import projects as comparison_service
from planner.services.teams import teams
from planner.services.teams.access import EDIT
from planner.web.common.views import (
    clear_cached_access,
    current_team,
    form_sent,
    get_access,
    get_owned_or_404,
    my_teams,
    remember_team,
    signed_in,
    submit_form,
    team_page,
)
from planner.web.team.forms import NoteForm, ProjectForm, TeamForm, UploadForm
from planner.web.team.rates_form import address_of
from planner.web.team.sentences import budget_of_project, headroom_sentence

MAX_ALERTS = 20


@signed_in
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    wanted = request.GET.get("team")
    team = next((t for t in my_teams(request) if t.slug == wanted), current_team(request))
    if team is None:
        return redirect("team-new")
    return redirect("dashboard", slug=team.slug)


@signed_in
def new_team(request: HttpRequest) -> HttpResponse:
    form = TeamForm(request.POST or None)
    access = get_access(request)
    team = submit_form(form, lambda v: teams.create_team(access, v["name"], currency=v["currency"]))
    if team is not None:
        clear_cached_access(request)
        remember_team(request, team)
        return redirect("dashboard", slug=team.slug)
    context = {"form": form, "teams": my_teams(request)}
    return render(request, "team/new.html", context, status=400 if form.errors else 200)


@team_page()
@require_safe
def dashboard(request: HttpRequest, team: Team) -> HttpResponse:
    access = get_access(request)
    archived = request.GET.get("archived") == "1"
    alerts = Alert.objects.for_access(access).filter(team=team, acknowledged_at=None)
    context = {
        "team": team,
        "rows": project_summaries(access, team, archived=archived),
        "inbox": read_inbox(access, team),
        "archived": archived,
        "alerts": alerts.select_related("project")[:MAX_ALERTS],
        "may_edit": access.has_role(team.pk, Role.EDITOR),
    }
    return render(request, "team/dashboard.html", context)


_UNREAD = ("answer", "rows", "given", "request")


def get_project_or_404(request: HttpRequest, team: Team, pk: uuid.UUID) -> Project:
    return get_owned_or_404(request, Project, pk, "team", team=team)


@team_page(EDIT)
def new(request: HttpRequest, team: Team) -> HttpResponse:
    initial = {"watch_threshold": 5, "watched": True}
    form = ProjectForm(request.POST or None, initial=initial, currency=team.currency)
    access = get_access(request)
    created = submit_form(form, lambda _: projects.create_project(access, team, form.values()))
    if created is not None:
        return redirect("project", team.slug, created.pk)
    context = {"team": team, "form": form, "title": "New project"}
    return render(request, "team/project/form.html", context, status=400 if form.errors else 200)


@team_page()
def project(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    row, access = get_project_or_404(request, team, pk), get_access(request)
    form_name = form_sent(request)
    save_form = NoteForm(request.POST if form_name == "save" else None)
    upload_form = UploadForm(*(request.POST, request.FILES) if form_name == "upload" else ())
    created = submit_form(
        save_form,
        lambda v: comparison_service.save_comparison(access, row, name=v["name"], note=v["note"]),
    )
    if created is not None:
        return redirect("comparison", created.pk)
    loaded = submit_form(
        upload_form, lambda v: actuals.load_actuals(access, row, v["file"], v["file"].name)
    )
    if loaded is not None:
        for warning in actuals.upload_warnings(loaded):
            messages.warning(request, warning)
        return redirect(f"{reverse('project', args=[team.slug, pk])}#actuals")
    context = project_context(request, row) | {"save_form": save_form, "upload_form": upload_form}
    status = 400 if save_form.errors or upload_form.errors else 200
    return render(request, "team/project/page.html", context, status=status)


@team_page()
@require_safe
def completion(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    """The cell of the dashboard that is loaded after its page."""
    row = get_project_or_404(request, team, pk)
    if not getattr(request, "htmx", False):
        return redirect(f"{reverse('project', args=[team.slug, pk])}#completion")
    return render(request, "team/parts/completion.html", {"completion": estimate_completion(row)})


def project_context(request: HttpRequest, project: Project) -> dict[str, Any]:
    access, team = get_access(request), project.team
    saved = project.saved_comparisons.defer(*_UNREAD).select_related("created_by")
    current = current_revisions()
    variance = actuals.variance(project)
    completion = estimate_completion(project, variance)
    currency = variance.currency
    spent = variance.as_dict()
    headroom = budget_of_project(variance.plan) if variance.plan else ""
    if completion and completion.estimate_at_completion is not None:
        estimate = completion.estimate_at_completion
        headroom = headroom_sentence("At completion", estimate, completion.budget, currency)
    return {
        "team": team,
        "project": project,
        "kept": [
            {
                "saved": one,
                "moved": changes_since(one, current),
                "may_approve": comparison_service.may_approve(access, one),
            }
            for one in saved
        ],
        "variance": spent if spent["months"] else None,
        "warnings": spent["warnings"],
        "completion": completion,
        "headroom": headroom,
        "uploads": project.uploads.select_related("uploaded_by"),
        "alerts": project.alerts.filter(acknowledged_at=None),
        "may_edit": access.has_role(team.pk, Role.EDITOR),
        "currency": currency,
        "plan_address": address_of(projects.compose(project)),
    }


@team_page(EDIT)
def edit(request: HttpRequest, team: Team, pk: uuid.UUID) -> HttpResponse:
    project = get_project_or_404(request, team, pk)
    currency = projects.project_currency(project)
    form = ProjectForm(
        request.POST or None, initial=ProjectForm.of_project(project), currency=currency
    )
    access = get_access(request)
    done = submit_form(
        form,
        lambda values: projects.change_project(access, project, form.values(), values["version"]),
    )
    if done is not None:
        return redirect("project", team.slug, pk)
    context = {"team": team, "project": project, "form": form, "title": f"Change {project.name}"}
    return render(request, "team/project/form.html", context, status=400 if form.errors else 200)
