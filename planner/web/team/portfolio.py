"""Team → Portfolio: all projects planned together, kept, approved, exported."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from planner.contract.amounts import name_day
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.exports.saved_context import offer_file
from planner.models import Access, Project, Role, SavedPortfolio, State, Team
from planner.services.actuals.actuals import list_charges
from planner.services.jobs import jobs
from planner.services.portfolio import portfolios as services
from planner.services.portfolio.portfolios import Window, describe_past, portfolio_of_projects
from planner.services.teams.access import EDIT, require
from planner.usage.projects_together import read_meaning, settle
from planner.web.common import views
from planner.web.plan.usage import MEANINGS
from planner.web.team.forms import SavePortfolioForm
from planner.web.team.portfolio_page import PortfolioPage, ProjectRow, describe_portfolio_refusal
from pricing.common import bounded
from pricing.common.invalid_input import InvalidInput

SHARES = ("shapley", "use")


def _projects(access: Access, team: Team) -> list[Project]:
    rows = Project.objects.for_access(access).filter(team=team, archived=False)
    return [project for project in rows.order_by("name", "id") if project.workload]


def _typed(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _ticked(request: HttpRequest, projects: list[Project]) -> list[str]:
    known = {str(project.pk) for project in projects}
    data = _typed(request)
    if "plan" not in data:
        return [str(project.pk) for project in projects]
    return [pk for pk in data.getlist("project") if pk in known]


def _windows(request: HttpRequest, projects: list[Project]) -> dict[str, Window]:
    data = _typed(request)
    windows = {}
    for project in projects:
        sides = (data.get(f"{side}-{project.pk}", "").strip() for side in ("from", "until"))
        window = Window(*sides)
        if any(window):
            windows[str(project.pk)] = window
    return windows


def _request_of(request: HttpRequest, team: Team) -> dict[str, Any]:
    projects = _projects(views.get_access(request), team)
    data = _typed(request)
    portfolio = portfolio_of_projects(
        team,
        projects,
        _ticked(request, projects),
        _windows(request, projects),
        data.getlist("at-once"),
    )
    shares = data.get("shares", SHARES[0])
    return {**portfolio, "shares": shares if shares in SHARES else SHARES[0]}


@views.team_page()
def portfolio(request: HttpRequest, team: Team) -> HttpResponse:
    """The projects with a tick each, and the plan for those that are ticked; HTMX asks for the
    plan alone. Sent as a form, it is saved."""
    typed = request.POST if request.method == "POST" else None
    form = SavePortfolioForm(typed, initial={"name": f"Plan of {name_day(timezone.now().date())}"})
    done = views.submit_form(form, lambda values: _save(request, team, values))
    if done is not None:
        return done
    context = _page_context(request, team) | {"form": form}
    if "plan" in request.GET:
        portfolio_request = dict[str, Any]()
        try:
            portfolio_request = _request_of(request, team)
            answer = services.plan_for_team(portfolio_request, team)[-1]
        except InvalidInput as refusal:
            context["refusal"] = describe_portfolio_refusal(refusal, portfolio_request)
        else:
            context["page"] = PortfolioPage.of(answer, portfolio_request)
    is_whole_page = not getattr(request, "htmx", False)
    page = "team/portfolio/page.html" if is_whole_page else "team/portfolio/result.html"
    return render(request, page, context, status=400 if form.errors else 200)


def _save(request: HttpRequest, team: Team, values: dict[str, Any]) -> HttpResponse:
    access, in_background = views.get_access(request), values.pop("in_background")
    require(access, team.pk, EDIT)
    fields = {**values, "request": _request_of(request, team)}
    if in_background:
        return redirect("job", jobs.start(access, "saved_portfolio", fields, team).pk)
    return redirect("saved-portfolio", services.save_portfolio(access, team, **fields).pk)


def _page_context(request: HttpRequest, team: Team) -> dict[str, Any]:
    access = views.get_access(request)
    projects = _projects(access, team)
    saved = SavedPortfolio.objects.for_access(access).filter(team=team)
    ticked, windows = _ticked(request, projects), _windows(request, projects)
    typed = _typed(request)
    return {
        "team": team,
        "rows": [
            ProjectRow(
                key, project.name, key in ticked, windows.get(key), key in typed.getlist("at-once")
            )
            for project in projects
            if (key := str(project.pk))
        ],
        "past": describe_past(projects),
        "shares": request.GET.get("shares", SHARES[0]),
        "saved": saved.defer("request", "answer").select_related("created_by"),
        "may_edit": access.has_role(team.pk, Role.EDITOR),
    }


def _saved_or_404(request: HttpRequest, pk: uuid.UUID) -> SavedPortfolio:
    saved = views.get_owned_or_404(request, SavedPortfolio, pk, "team", "created_by")
    views.remember_team(request, saved.team)
    return saved


@views.signed_in
@require_safe
def saved_portfolio(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved, access = _saved_or_404(request, pk), views.get_access(request)
    is_own, answer = saved.created_key == access.person, saved.read_answer()
    context = {
        "charges": list_charges(saved.team, answer),
        "team": saved.team,
        "saved": saved,
        "page": PortfolioPage.of(answer, saved.request),
        "formats": [(form, entry.title) for form, entry in PORTFOLIO_FORMATS.items()],
        "is_draft": saved.state == State.DRAFT,
        "may_edit": access.has_role(saved.team_id, Role.EDITOR),
        "may_approve": access.has_role(saved.team_id, Role.OWNER if is_own else Role.APPROVER),
    }
    return render(request, "team/portfolio/saved.html", context)


@views.signed_in
@require_safe
def export(request: HttpRequest, pk: uuid.UUID, form: str) -> HttpResponse:
    saved = _saved_or_404(request, pk)
    entry = PORTFOLIO_FORMATS[form]
    return offer_file(entry.make(saved.read_answer()), saved.name, entry)


@views.open_page
@require_POST
def plan_usage(request: HttpRequest) -> HttpResponse:
    """The plan of a portfolio that came out of files, as a page or a file; what a name means is
    remembered in the session."""
    portfolio, known = dict[str, Any](), dict(request.session.get(MEANINGS, {}))
    try:
        for name, text in zip(*map(request.POST.getlist, ("name", "meaning")), strict=False):
            known[name[:100]] = read_meaning(name, text[:100])
        request.session[MEANINGS] = dict(list(known.items())[-50:])
        try:
            parsed = bounded.loads(request.POST.get("portfolio", ""))
        except ValueError as error:
            raise InvalidInput("projects", f"are no JSON: {error}") from None
        portfolio = settle(parsed, known)
        answer = services.plan_for_team(portfolio, views.current_team(request))[-1]
    except InvalidInput as refusal:
        refused = {"refusal": describe_portfolio_refusal(refusal, portfolio)}
        return render(request, "web/usage_plan.html", refused, status=400)
    if entry := PORTFOLIO_FORMATS.get(request.POST.get("form", "")):
        return offer_file(entry.make(answer), answer.name, entry)
    context = {
        "page": PortfolioPage.of(answer, portfolio),
        "answer": answer,
        "portfolio": json.dumps(portfolio),
        "formats": [(name, entry.title) for name, entry in PORTFOLIO_FORMATS.items()],
    }
    return render(request, "web/usage_plan.html", context)
