"""Buttons that do something to one row of a team: one address and one rule for all of them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST

from planner import models
from planner.models import Access, Role, Team
from planner.models.team import TeamOwned
from planner.services.actuals import actuals
from planner.services.alerts import alerts
from planner.services.portfolio import portfolios
from planner.services.projects import projects
from planner.services.teams import teams
from planner.services.teams.access import APPROVE, WrongStateError, require
from planner.services.webhooks import webhooks
from planner.web.common import views
from planner.web.team.sentences import over_budget
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize

Act = Callable[[Access, Any, QueryDict], object]


@dataclass(frozen=True)
class Action:
    act: Act
    """Does it, or refuses; a text that it returns is a warning."""
    message: str
    """What is said once it is done; it may name the `{row}`."""


@dataclass(frozen=True)
class Rows:
    model: type[TeamOwned]
    related: tuple[str, ...]
    page: Callable[[Any], str]
    """Where to go on from a form that names no `next`, such as that of a page that goes."""
    actions: Mapping[str, Action]


@views.team_page()
@require_POST
def act(request: HttpRequest, team: Team, rows: str, pk: uuid.UUID, action: str) -> HttpResponse:
    kind = ROWS.get(rows)
    chosen = kind.actions.get(action) if kind else None
    if kind is None or chosen is None:
        raise Http404(views.NOT_FOUND)
    row = views.get_owned_or_404(request, kind.model, pk, "team", *kind.related, team=team)
    page, words, warnings = kind.page(row), chosen.message.format(row=row), list[str]()

    def done() -> None:
        warning = chosen.act(views.get_access(request), row, request.POST)
        warnings.extend([warning] if isinstance(warning, str) else [])

    views.run_with_messages(request, done, words)
    for warning in warnings:
        messages.warning(request, warning)
    return views.back_within(request, team, page)


def _approve(access: Access, saved: models.SavedComparison, typed: QueryDict) -> None:
    """A plan over the budget of its project is approved by who says that they know."""
    require(access, saved.team_id, APPROVE)
    over = over_budget(saved)
    if over and "over_budget" not in typed:
        raise WrongStateError(f"Not approved: it is {over}. Tick that to approve it.")
    projects.approve(access, saved, _seen(typed))


def _seen(typed: QueryDict) -> int | None:
    return read_position(typed.get("version", ""))


def _change_role(access: Access, member: models.Membership, typed: QueryDict) -> None:
    wanted = typed.get("role", "")
    if wanted not in Role.values:
        raise InvalidInput("role", f"{wanted!r} is no role; roles are {', '.join(Role.values)}")
    teams.change_role(access, member, Role(wanted))


def _remove_member(access: Access, member: models.Membership, _: QueryDict) -> str | None:
    person, team = member.user, member.team
    teams.remove_member(access, member)
    count = teams.count_service_tokens(team, person)
    if not count or person.pk == access.user_id:
        return None
    return (
        f"Still working: {pluralize(count, 'service token')} that {person} made. Revoke what they "
        "may know."
    )


def _plain(service: Callable[[Access, Any], object]) -> Act:
    return lambda access, row, _: service(access, row)


def _archive(is_archived: bool) -> Act:
    changes = {"archived": is_archived}
    return lambda access, row, _: projects.change_project(access, row, changes)


def _page(name: str, anchor: str = "") -> Callable[[Any], str]:
    return lambda row: reverse(name, args=[row.team.slug]) + anchor


def _project(row: Any) -> str:
    return reverse("project", args=[row.team.slug, row.project_id])


ROWS: Mapping[str, Rows] = {
    "projects": Rows(models.Project, (), _page("dashboard"), {
        "archive": Action(_archive(True), "The project is archived."),
        "unarchive": Action(_archive(False), "The project is active again."),
        "delete": Action(_plain(projects.delete_project), "The project {row} is deleted."),
    }),
    "comparisons": Rows(models.SavedComparison, ("project",), _project, {
        "submit": Action(
            lambda access, row, typed: projects.submit(access, row, _seen(typed)),
            "Submitted for approval.",
        ),
        "approve": Action(_approve, "Approved: it is now the project's plan."),
        "delete": Action(_plain(projects.delete_saved), "The draft {row} is deleted."),
    }),
    "portfolios": Rows(models.SavedPortfolio, (), _page("portfolio"), {
        "approve": Action(
            lambda access, row, typed: portfolios.approve_portfolio(access, row, _seen(typed)),
            "Approved: it is now the team's plan.",
        ),
        "delete": Action(_plain(portfolios.delete_portfolio), "The draft {row} is deleted."),
    }),
    "uploads": Rows(models.ActualsUpload, ("project",), _project, {
        "delete": Action(_plain(actuals.delete_upload), "{row} was removed."),
    }),
    "alerts": Rows(models.Alert, (), _page("dashboard"), {
        "acknowledge": Action(_plain(alerts.acknowledge), "Alert marked as seen."),
    }),
    "quotes": Rows(models.ServerQuote, (), _page("team-prices", "#quotes"), {
        "remove": Action(_plain(teams.remove_quote), "{row} is removed."),
    }),
    "members": Rows(models.Membership, ("user",), _page("team-settings", "#members"), {
        "role": Action(_change_role, "The role of {row.user} is changed."),
        "remove": Action(_remove_member, "{row.user} is no longer a member."),
    }),
    "invitations": Rows(models.Invitation, (), _page("team-settings", "#members"), {
        "revoke": Action(_plain(teams.revoke_invitation), "The link no longer works."),
    }),
    "tokens": Rows(models.ApiToken, (), _page("team-settings", "#tokens"), {
        "revoke": Action(_plain(teams.revoke_token), "The token {row.name} no longer works."),
    }),
    "webhooks": Rows(models.WebhookEndpoint, (), _page("team-settings", "#alerts"), {
        "test": Action(_plain(webhooks.send_test), "A test is on its way to {row}."),
        "remove": Action(_plain(webhooks.remove_endpoint), "No more alerts go to {row}."),
    }),
}  # fmt: skip
