"""Portfolios of a team: planned with its rates, kept, approved."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.contract.amounts import format_month, next_month
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.models import Access, Job, Role, SavedPortfolio, State, Team
from planner.portfolio.portfolio import plan_portfolio
from planner.services.jobs.jobs import Progress, access_for_job
from planner.services.projects.comparisons import answer_at_rates
from planner.services.teams.access import (
    APPROVE,
    EDIT,
    WrongStateError,
    edit,
    record,
    require,
    require_room,
    require_still,
)
from planner.services.teams.team_rates import with_sources
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput


def plan_for_team(
    request: object, team: Team | None = None
) -> tuple[dict[str, Any], PortfolioAnswer]:
    """Plans `request` with the team's rates and defaults applied, at today's prices and within the
    budget of the request or job: the request then, and the answer. Raises `InvalidInput`."""
    market = catalogs.current()

    def answer(resolved: dict[str, Any]) -> PortfolioAnswer:
        return plan_portfolio(resolved, market, work=current_budget().meter)

    resolved, inherited, planned = answer_at_rates(request, team, market, answer, "data")
    return resolved, with_sources(planned, inherited)


def portfolio_job(job: Job, progress: Progress) -> dict[str, Any]:
    """The answer to `request`."""
    progress.step(0, None, "Planning all projects together")
    return plan_for_team(job.arguments["request"], job.team)[-1].to_json()


def save_portfolio(access: Access, team: Team, **fields: Any) -> SavedPortfolio:
    """Answers a request and keeps that as a draft: `prepare_portfolio`, and at once the rest."""
    return prepare_portfolio(access, team, **fields)()


def prepare_portfolio(
    access: Access,
    team: Team,
    *,
    name: str,
    request: Mapping[str, Any],
    note: str = "",
    shown_to_all: bool = False,
    pk: uuid.UUID | None = None,
) -> Callable[[], SavedPortfolio]:
    """Answers the request with the database free meanwhile. What it gives back keeps the answer as
    a draft."""
    require(access, team.pk, EDIT)
    require_room("saved portfolios", SavedPortfolio.objects.filter(team=team))
    key = pk or uuid.uuid4()
    today = timezone.now().date()
    dated = {**request, "start": request.get("start") or format_month(next_month(today))}
    resolved, answer = plan_for_team(dated, team)

    @transaction.atomic
    def store() -> SavedPortfolio:
        if not Team.objects.select_for_update().filter(pk=team.pk).exists():  # one save at a time
            raise WrongStateError("The team was deleted while its answer was computed.")
        require_still(access, team.pk, EDIT)
        require_room("saved portfolios", SavedPortfolio.objects.filter(team=team))
        earlier: SavedPortfolio | None = SavedPortfolio.objects.filter(pk=key, team=team).first()
        if earlier is not None:
            return earlier
        saved = SavedPortfolio.objects.create(
            pk=key,
            team=team,
            name=name,
            note=note,
            request=resolved,
            answer=answer.to_json(),
            shown_to_all=shown_to_all,
            answered_on=today,
            created_by_id=access.user_id,
            created_key=access.person,
        )
        record(access, "saved_portfolio.created", saved, after=_logged(saved))
        return saved

    return store


def _logged(saved: SavedPortfolio) -> dict[str, Any]:
    """What the audit log, which every member reads, tells of a portfolio: no amount."""
    return {"name": saved.name, "projects": [one["name"] for one in saved.request["projects"]]}


def save_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Keeps a portfolio that takes longer than a page waits: `save_portfolio` with the arguments of
    the job, in the name of whoever started it. Its id is the job's, so that it is kept once."""
    progress.step(0, None, "Planning all projects together")
    if job.team is None:
        raise InvalidInput("team", "a portfolio belongs to a team; name one")
    saved = save_portfolio(access_for_job(job), job.team, pk=job.pk, **job.arguments)
    return {"saved_portfolio": str(saved.pk)}


@transaction.atomic
def delete_portfolio(access: Access, saved: SavedPortfolio) -> None:
    require(access, saved.team_id, EDIT)
    _expect_draft(saved)
    record(access, "saved_portfolio.deleted", saved, before=_logged(saved))
    saved.delete()


@transaction.atomic
def approve_portfolio(
    access: Access, saved: SavedPortfolio, seen: int | None = None
) -> SavedPortfolio:
    """Makes it the team's plan; the one approved before is superseded. Two people take part in
    it: nobody but an owner approves what they saved themselves."""
    require(access, saved.team_id, APPROVE)
    Team.objects.select_for_update().get(pk=saved.team_id)  # one approval at a time
    current: SavedPortfolio = SavedPortfolio.objects.select_for_update().get(pk=saved.pk)
    _expect_draft(current)
    if current.created_key == access.person and not access.has_role(saved.team_id, Role.OWNER):
        raise WrongStateError("You saved it; another approver or an owner must approve it.")
    for other in SavedPortfolio.objects.filter(team=saved.team_id, state=State.APPROVED):
        edit(access, other, {"state": State.SUPERSEDED}, action="saved_portfolio.superseded")
    changes = {"state": State.APPROVED, "approved_as": access.name, "approved_at": timezone.now()}
    return edit(access, current, changes, seen_version=seen, action="saved_portfolio.approved")


def _expect_draft(saved: SavedPortfolio) -> None:
    if saved.state != State.DRAFT:
        raise WrongStateError(f"It is {saved.state}; only a draft can be changed like that.")
