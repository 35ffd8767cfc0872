"""Portfolios of a team: planned with its rates, kept, approved."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.comparison import TooMuchWork
from planner.contract.amounts import format_month, next_month
from planner.contract.answer.portfolio import (
    PortfolioAnswer,
    PortfolioChange,
    PortfolioRepricing,
    ProjectShare,
)
from planner.models import Access, Alert, Job, Role, SavedPortfolio, State, Team
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.words import explain_share
from planner.services.jobs.jobs import Progress, access_for_job
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
from planner.services.teams.team_rates import inherit, with_sources
from planner.services.work_budget import current_budget
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog


@dataclass(frozen=True)
class PortfolioOutcome:
    """A portfolio with its answer."""

    request: dict[str, Any]
    """With the team's rates and defaults applied."""
    inherited: dict[str, str]
    answer: PortfolioAnswer


def plan_for_team(
    request: object, team: Team | None = None, catalog: Catalog | None = None
) -> PortfolioOutcome:
    """Plans `request` with the team's rates and defaults applied, at today's prices or those of
    `catalog`, within the budget of the request or job. Raises `InvalidInput`."""
    if not isinstance(request, Mapping):
        raise InvalidInput("", "a request is a JSON object")
    market = catalogs.current() if catalog is None else catalog
    resolved, inherited = dict(request), dict[str, str]()
    if team:
        resolved, inherited = inherit(request, team, market.exchange_rates)
        for field in [name for name in inherited if name.split(".")[0] == "data"]:
            del inherited[field]
        resolved = {name: value for name, value in resolved.items() if name != "data"}
    budget = current_budget()
    try:
        answer = plan_portfolio(resolved, market, work=budget.meter)
    except TooMuchWork as refusal:
        raise TooMuchWork(refusal.field, f"{refusal.message} {budget.hint}".strip()) from None
    return PortfolioOutcome(resolved, inherited, with_sources(answer, inherited))


def portfolio_job(job: Job, progress: Progress) -> dict[str, Any]:
    """The answer to `request`."""
    progress.step(0, None, "Planning all projects together")
    return plan_for_team(job.arguments["request"], job.team).answer.to_json()


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
    owners: Mapping[str, str] | None = None,
    shown_to_all: bool = False,
    pk: uuid.UUID | None = None,
) -> Callable[[], SavedPortfolio]:
    """Answers the request with the database free meanwhile. What it gives back keeps the answer as
    a draft. `owners`: who made each project."""
    require(access, team.pk, EDIT)
    require_room("saved portfolios", SavedPortfolio.objects.filter(team=team))
    if shown_to_all and owners:
        check_may_show(access, team)
    key = pk or uuid.uuid4()
    today = timezone.now().date()
    dated = {**request, "start": request.get("start") or format_month(next_month(today))}
    market = catalogs.current()
    outcome = plan_for_team(dated, team, market)

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
            request=outcome.request,
            inherited=outcome.inherited,
            revisions={info.provider: info.revision for info in market.revisions},
            answer=outcome.answer.to_json(),
            headline=outcome.answer.headline[:1000],
            owners=dict(owners or {}),
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
    changes = {
        "state": State.APPROVED,
        "approved_as": access.name,
        "approved_at": timezone.now(),
    }
    return edit(access, current, changes, seen_version=seen, action="saved_portfolio.approved")


def _expect_draft(saved: SavedPortfolio) -> None:
    if saved.state != State.DRAFT:
        raise WrongStateError(f"It is {saved.state}; only a draft can be changed like that.")


def plan_again(
    saved: SavedPortfolio, catalog: Catalog, changes: Mapping[str, Any]
) -> PortfolioAnswer:
    """The same request, with some changes to it, at the prices of `catalog`."""
    request = {**saved.request, **changes}
    answer = plan_portfolio(request, catalog, work=current_budget().meter)
    return with_sources(answer, saved.inherited)


@transaction.atomic
def change_watch(
    access: Access, saved: SavedPortfolio, changes: Mapping[str, Any], seen: int | None = None
) -> SavedPortfolio:
    """Whether the plan is priced again after each refresh, and which move raises an alert."""
    require(access, saved.team_id, EDIT)
    return edit(access, saved, changes, seen_version=seen, action="saved_portfolio.changed")


_BY_ADDED = ("shapley", "shapley_sampled")
"""Shares by what each project adds to the others."""


def reprice_portfolio(
    saved: SavedPortfolio, catalog: Catalog | None = None
) -> tuple[PortfolioAnswer, list[PortfolioChange]]:
    """The same request at today's prices, or at those of `catalog`, and what that changes: the
    plan's totals, then each project's share, divided as in what is kept. Raises `TooMuchWork`
    where that takes more than is allowed here; a job leaves the shares open then."""
    before, market = saved.read_answer(), catalogs.current() if catalog is None else catalog
    # Where shares follow use for lack of work, or no plan leaves a project out, more work would
    # give others than those of the plan.
    as_saved: dict[str, Any] = {"shares": "use"} if before.shares_method == "use" else {}
    if all(one.without is None for one in before.projects):
        as_saved["what_if"] = False
    answer = plan_again(saved, market, as_saved)
    lacks_shares = before.shares_method in _BY_ADDED and answer.shares_method == "use"
    budget = current_budget()
    if lacks_shares and not budget.is_job:
        message = "take more work than is allowed here, divided as in the plan that is kept."
        raise TooMuchWork("shares", f"{message} {budget.hint}".strip())
    figures: list[tuple[str, str, Decimal | None, Decimal | None]] = [
        (figure, "", getattr(before, figure), getattr(answer, figure))
        for figure in ("net_present_cost", "total_cost", "saving")
    ]
    for one in before.projects:
        now = None if lacks_shares else answer.project(one.name)
        figures.append(("share", one.name, one.share, None if now is None else now.share))
    return answer, [
        PortfolioChange(
            figure=figure,
            project=project,
            before=then,
            after=after,
            difference=None if then is None or after is None else after - then,
        )
        for figure, project, then, after in figures
    ]


def store_repricing(saved: SavedPortfolio, catalog: Catalog | None = None) -> None:
    """Reprices a plan and writes what that changes beside it. The plan itself stays as it is, its
    version too, so that a page that somebody has open can still be sent."""
    _, changes = reprice_portfolio(saved, catalog)
    repriced = PortfolioRepricing(on=timezone.now().date(), changes=tuple(changes)).model_dump(
        mode="json"
    )
    SavedPortfolio.objects.filter(pk=saved.pk).update(repriced=repriced)
    saved.repriced = repriced


def reprice_job(job: Job, progress: Progress) -> dict[str, Any]:
    """Reprices a plan in the background. The result, which every member can read, names the plan
    alone: its page shows to each what they may see."""
    saved = SavedPortfolio.objects.filter(
        pk=job.arguments["saved_portfolio"], team=job.team
    ).first()
    if saved is None:
        raise InvalidInput("saved_portfolio", "was deleted before it could be repriced")
    progress.step(0, None, f"Repricing {saved.name}"[:200])
    store_repricing(saved)
    return {"saved_portfolio": str(saved.pk)}


def check_may_show(access: Access, team: Team) -> None:
    """Refuses to show all shares to every member where somebody may not see them themselves."""
    if not access.has_role(team.pk, Role.APPROVER):
        raise InvalidInput(
            "shown_to_all", "shows members what others pay; an approver or an owner may tick it"
        )


def sees_all(access: Access, saved: SavedPortfolio) -> bool:
    """Whether somebody sees the shares of all projects: approvers and owners of the team, who
    wrote the request themselves, and everybody where it is shown to all."""
    is_approver = access.has_role(saved.team_id, Role.APPROVER)
    is_author = saved.created_key == access.person and not saved.owners
    return is_approver or saved.shown_to_all or is_author


def visible_answer(
    access: Access, saved: SavedPortfolio, answer: PortfolioAnswer | None = None
) -> PortfolioAnswer:
    """The saved answer, or another one to its request, as somebody may see it: all of it, or the
    shares of their own projects alone."""
    shown = saved.read_answer() if answer is None else answer
    if sees_all(access, saved):
        return shown
    return show_only(shown, own_projects(access, saved))


def show_only(answer: PortfolioAnswer, names: Iterable[str]) -> PortfolioAnswer:
    """What the projects of these names may know: their own shares, uses and lines, and nothing
    from which the figures of others could be worked out."""
    own = set(names)
    projects = tuple(_only_own(answer, one) for one in answer.projects if one.name in own)
    used = {use.source for use in answer.uses if use.project in own}
    return answer.model_copy(
        update={
            "headline": "You see the shares of your own projects."
            if projects
            else "None of these projects is yours, so that you see no share.",
            "why_not": (),
            "why_no_range": answer.why_no_range if answer.range is None else _RANGE_OF_ALL,
            "warnings": (),
            "projects": projects,
            "uses": tuple(use for use in answer.uses if use.project in own),
            "write_off": tuple(row for row in answer.write_off if row.project in own),
            "lines": tuple(line for line in answer.lines if line.project in own),
            "machines": tuple(machine for machine in answer.machines if machine.source in used),
            "offers": {key: offer for key, offer in answer.offers.items() if key in used},
            "servers": tuple(server for server in answer.servers if server.key in used),
            "cash_per_month": (),
            "cost_by_category": {},
            "purchases": (),
            "in_service": (),
            "better_apart": (),
            **dict.fromkeys(_TOTALS),
        }
    )


_RANGE_OF_ALL = "It is shown with the total, to those who see the shares of all projects."
_TOTALS = (
    *("net_present_cost", "total_cost", "range", "apart", "apart_total", "saving"),
    *("saving_fraction", "next_order", "capital_to_approve", "resale", "utilisation"),
    *("cost_of_waiting", "gap"),
)


_OF_ALL = ("without", "adds", "fraction", "shared_fraction")
"""Of a project's own figures those from which the plan of all could be worked out."""


def _only_own(answer: PortfolioAnswer, one: ProjectShare) -> ProjectShare:
    own = one.model_copy(update=dict.fromkeys(_OF_ALL))
    return own.model_copy(update={"explanation": explain_share(answer, own)})


def visible_changes(
    access: Access, saved: SavedPortfolio, changes: Iterable[PortfolioChange]
) -> list[PortfolioChange]:
    """Those that somebody may see: all, or those of their own projects."""
    everything = sees_all(access, saved)
    return [one for one in changes if everything or one.project in own_projects(access, saved)]


def own_projects(access: Access, saved: SavedPortfolio) -> set[str]:
    """Names of the projects that somebody made."""
    return {name for name, person in saved.owners.items() if person == access.person}


def visible_repricing(access: Access, saved: SavedPortfolio) -> PortfolioRepricing | None:
    """What later prices changed, of what somebody may see; None before it was first repriced."""
    if saved.repriced is None:
        return None
    repriced = PortfolioRepricing.model_validate(saved.repriced)
    changes = tuple(visible_changes(access, saved, repriced.changes))
    return repriced.model_copy(update={"changes": changes})


def visible_alert(access: Access, alert: Alert) -> Alert:
    """An alert as somebody may see it: of a portfolio that they do not see all of, that something
    moved, and no total and no offer of other projects."""
    if alert.saved_portfolio is not None and not sees_all(access, alert.saved_portfolio):
        alert.before = alert.after = ""
        alert.causes = []
    return alert
