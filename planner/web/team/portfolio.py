"""Team → Portfolio: all projects planned together, kept, approved, exported."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.exports.saved_context import offer_file
from planner.models import Access, Project, Role, SavedPortfolio, State, Team
from planner.services.jobs import jobs
from planner.services.portfolio import portfolios as services
from planner.services.portfolio.team_request import Window, describe_past, portfolio_of_projects
from planner.services.teams.access import EDIT
from planner.web.common.views import (
    describe_refusal,
    get_access,
    get_owned_or_404,
    remember_team,
    run_with_messages,
    signed_in,
    submit_form,
    team_page,
)
from planner.web.team.forms import SavePortfolioForm, WatchForm
from planner.web.team.portfolio_page import (
    PortfolioPage,
    ProjectRow,
    describe_portfolio_refusal,
)
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput

SHARES = ("shapley", "use")


def _projects(access: Access, team: Team) -> list[Project]:
    rows = Project.objects.for_access(access).filter(team=team, archived=False)
    return [project for project in rows.order_by("name", "id") if project.workload]


def _ticked(request: HttpRequest, projects: list[Project]) -> list[str]:
    known = {str(project.pk) for project in projects}
    data = request.POST if request.method == "POST" else request.GET
    if "plan" not in data:
        return [str(project.pk) for project in projects]
    return [pk for pk in data.getlist("project") if pk in known]


def _windows(request: HttpRequest, projects: list[Project]) -> dict[str, Window]:
    data = request.POST if request.method == "POST" else request.GET
    windows = {}
    for project in projects:
        sides = (data.get(f"{side}-{project.pk}", "").strip() for side in ("from", "until"))
        window = Window(*sides)
        if any(window):
            windows[str(project.pk)] = window
    return windows


def _request_of(request: HttpRequest, team: Team) -> tuple[dict[str, Any], dict[str, str]]:
    projects = _projects(get_access(request), team)
    data = request.POST if request.method == "POST" else request.GET
    portfolio, owners = portfolio_of_projects(
        team, projects, _ticked(request, projects), _windows(request, projects)
    )
    shares = data.get("shares", SHARES[0])
    return {**portfolio, "shares": shares if shares in SHARES else SHARES[0]}, owners


@team_page()
@require_safe
def portfolio(request: HttpRequest, team: Team) -> HttpResponse:
    """The projects with a tick each, and the plan for those that are ticked; HTMX asks for the
    plan alone."""
    context = _page_context(request, team)
    if "plan" in request.GET:
        access, portfolio_request = get_access(request), dict[str, Any]()
        try:
            portfolio_request, owners = _request_of(request, team)
            answer = services.plan_for_team(portfolio_request, team).answer
        except InvalidInput as refusal:
            context["refusal"] = describe_portfolio_refusal(refusal, portfolio_request)
        else:
            if not access.has_role(team.pk, Role.APPROVER):
                own = [name for name, person in owners.items() if person == access.person]
                answer = services.show_only(answer, own)
            context["page"] = PortfolioPage.of(answer, portfolio_request)
    is_whole_page = not getattr(request, "htmx", False)
    page = "team/portfolio/page.html" if is_whole_page else "team/portfolio/result.html"
    return render(request, page, context)


def _page_context(request: HttpRequest, team: Team, **more: Any) -> dict[str, Any]:
    access = get_access(request)
    projects = _projects(access, team)
    saved = SavedPortfolio.objects.for_access(access).filter(team=team)
    ticked, windows = _ticked(request, projects), _windows(request, projects)
    return {
        "team": team,
        "rows": [
            ProjectRow(key, project.name, key in ticked, windows.get(key))
            for project in projects
            if (key := str(project.pk))
        ],
        "past": describe_past(projects),
        "shares": request.GET.get("shares", SHARES[0]),
        "saved": saved.defer("request", "answer").select_related("created_by"),
        "may_edit": access.has_role(team.pk, Role.EDITOR),
        "form": SavePortfolioForm(initial={"name": f"Plan of {timezone.now().date()}"}),
        **more,
    }


@team_page(EDIT)
@require_POST
def save(request: HttpRequest, team: Team) -> HttpResponse:
    form = SavePortfolioForm(request.POST)
    access = get_access(request)

    def save_plan(values: dict[str, Any]) -> HttpResponse:
        portfolio_request, owners = _request_of(request, team)
        fields = {
            "name": values["name"],
            "note": values["note"],
            "shown_to_all": values["shown_to_all"],
            "request": portfolio_request,
            "owners": owners,
        }
        if values["shown_to_all"]:  # a job has the rights of an owner
            services.check_may_show(access, team)
        if values["in_background"]:
            return redirect("job", jobs.start(access, "saved_portfolio", fields, team).pk)
        return redirect("saved-portfolio", services.save_portfolio(access, team, **fields).pk)

    done = submit_form(form, save_plan)
    if done is not None:
        return done
    context = _page_context(request, team, form=form)
    return render(request, "team/portfolio/page.html", context, status=400)


def _saved_or_404(request: HttpRequest, pk: uuid.UUID) -> SavedPortfolio:
    saved = get_owned_or_404(request, SavedPortfolio, pk, "team", "created_by")
    remember_team(request, saved.team)
    return saved


@signed_in
@require_safe
def saved_portfolio(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved, access = _saved_or_404(request, pk), get_access(request)
    return _show_saved(request, saved, access, WatchForm(initial=WatchForm.of(saved)))


def _show_saved(
    request: HttpRequest, saved: SavedPortfolio, access: Access, form: WatchForm, status: int = 200
) -> HttpResponse:
    is_own = saved.created_key == access.person
    alerts = saved.alerts.filter(acknowledged_at=None)
    may_approve = access.has_role(saved.team_id, Role.OWNER if is_own else Role.APPROVER)
    context = {
        "team": saved.team,
        "saved": saved,
        "page": PortfolioPage.of(services.visible_answer(access, saved), saved.request),
        "sees_all": services.sees_all(access, saved),
        "formats": [(form, entry.title) for form, entry in PORTFOLIO_FORMATS.items()],
        "is_draft": saved.state == State.DRAFT,
        "may_edit": access.has_role(saved.team_id, Role.EDITOR),
        "may_approve": may_approve,
        "is_approved": saved.state == State.APPROVED,
        "alerts": [services.visible_alert(access, alert) for alert in alerts],
        "repricing": services.visible_repricing(access, saved),
        "form": form,
    }
    return render(request, "team/portfolio/saved.html", context, status=status)


@signed_in
@require_POST
def watch(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved, access = _saved_or_404(request, pk), get_access(request)
    form = WatchForm(request.POST)

    def save_watch(_: dict[str, Any]) -> HttpResponse:
        services.change_watch(access, saved, form.values(), form.cleaned_data["version"])
        return redirect("saved-portfolio", pk)

    return submit_form(form, save_watch) or _show_saved(request, saved, access, form, 400)


@signed_in
@require_safe
def reprice(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved, access = _saved_or_404(request, pk), get_access(request)
    context: dict[str, Any] = {
        "saved": saved,
        "team": saved.team,
        "currency": saved.read_answer().currency,
    }
    try:
        _, changes = services.reprice_portfolio(saved)
        context["changes"] = services.visible_changes(access, saved, changes)
    except InvalidInput as refusal:
        context["refusal"] = describe_refusal(refusal)
    return render(request, "team/portfolio/reprice.html", context)


@signed_in
@require_POST
def approve(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved, seen = _saved_or_404(request, pk), read_position(request.POST.get("version", ""))
    run_with_messages(
        request,
        lambda: services.approve_portfolio(get_access(request), saved, seen),
        "Approved: it is now the team's plan.",
    )
    return redirect("saved-portfolio", pk)


@signed_in
@require_POST
def delete(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved = _saved_or_404(request, pk)
    message = f"The draft {saved.name} is deleted."
    if run_with_messages(
        request, lambda: services.delete_portfolio(get_access(request), saved), message
    ):
        return redirect("portfolio", saved.team.slug)
    return redirect("saved-portfolio", pk)


@signed_in
@require_safe
def export(request: HttpRequest, pk: uuid.UUID, form: str) -> HttpResponse:
    saved = _saved_or_404(request, pk)
    entry = PORTFOLIO_FORMATS[form]
    answer = services.visible_answer(get_access(request), saved)
    return offer_file(entry.make(answer), saved.name, entry)
