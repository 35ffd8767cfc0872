"""Portfolios of a team: planned with its rates, kept, replayed to the cent, approved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from planner.comparison_steps.work_limits import TooMuchWork
from planner.contract.answer.changes import ReplayDifference
from planner.contract.answer.comparison import AssumptionRow
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.months import format_month, next_month
from planner.contract.request.comparison import with_rules
from planner.models import Access, Job, Role, SavedPortfolio, State, Team
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.processes import open_in_processes
from planner.portfolio.sampling import OpenLanes
from planner.services.jobs.jobs import Progress, access_for_job
from planner.services.portfolio.visibility import check_may_show
from planner.services.projects.replay_differences import list_differences
from planner.services.projects.saved_comparisons import rate_as_row, rate_from_row
from planner.services.teams.audit import edit, record
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import APPROVE, EDIT, require
from planner.services.teams.quotas import require_room_for_portfolio
from planner.services.teams.rights_now import require_still
from planner.services.teams.team_rates import inherit, with_sources
from planner.services.work_budget import current_budget, replay_meter
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

_PASSING = frozenset({"age_days", "headline", "explanation", "warnings", "why_not", "why_no_range"})
"""Fields of an answer that may differ in a replay: how old a price is, and sentences."""
MOST_DIFFERENCES = 50


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
        resolved = _without_data(resolved, inherited)
    resolved = with_rules(resolved)
    budget = current_budget()
    try:
        answer = plan_portfolio(resolved, market, work=budget.meter, open_lanes=_lanes())
    except TooMuchWork as refusal:
        raise TooMuchWork(refusal.field, f"{refusal.message} {budget.hint}".strip()) from None
    return PortfolioOutcome(resolved, inherited, with_sources(answer, inherited))


def _lanes() -> OpenLanes:
    """Where shares are sampled: in the process of a page or request, and a job on several."""
    return open_in_processes(settings.PORTFOLIO_PROCESSES if current_budget().is_job else 1)


def _without_data(request: dict[str, Any], inherited: dict[str, str]) -> dict[str, Any]:
    """Data belongs to a project; a team's default for it does not make a portfolio's."""
    for field in [name for name in inherited if name.split(".")[0] == "data"]:
        del inherited[field]
    return {name: value for name, value in request.items() if name != "data"}


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
) -> Callable[[], SavedPortfolio]:
    """Answers the request with the database free meanwhile. What it gives back keeps the answer as
    a draft. `owners`: who made each project."""
    require(access, team.pk, EDIT)
    require_room_for_portfolio(SavedPortfolio.objects.filter(team=team))
    if shown_to_all and owners:
        check_may_show(access, team)
    today = timezone.now().date()
    dated = {**request, "start": request.get("start") or format_month(next_month(today))}
    market = catalogs.current()
    outcome = plan_for_team(dated, team, market)

    @transaction.atomic
    def store() -> SavedPortfolio:
        if not Team.objects.select_for_update().filter(pk=team.pk).exists():  # one save at a time
            raise WrongStateError("The team was deleted while its answer was computed.")
        require_still(access, team.pk, EDIT)
        require_room_for_portfolio(SavedPortfolio.objects.filter(team=team))
        saved = SavedPortfolio.objects.create(
            team=team,
            name=name,
            note=note,
            request=outcome.request,
            inherited=outcome.inherited,
            revisions={info.provider: info.revision for info in market.revisions},
            rates=[rate_as_row(rate) for rate in market.exchange_rates.latest],
            assumptions=[row.model_dump(mode="json") for row in outcome.answer.assumptions],
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
    the job, in the name of whoever started it."""
    progress.step(0, None, "Planning all projects together")
    if job.team is None:
        raise InvalidInput("team", "a portfolio belongs to a team; name one")
    saved = save_portfolio(access_for_job(job), job.team, **job.arguments)
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


def replay_portfolio(saved: SavedPortfolio) -> tuple[PortfolioAnswer, list[ReplayDifference]]:
    """The same request at the same revisions, exchange rates and assumptions, computed again, and
    where that says something else."""
    catalog = catalogs.at(saved.revisions, map(rate_from_row, saved.rates))
    previous = [AssumptionRow.model_validate(row) for row in saved.assumptions]
    answer = plan_portfolio(
        {**saved.request, **shares_as_kept(saved.read_answer())},
        catalog,
        today=saved.answered_on,
        previous_assumptions=previous,
        work=replay_meter(),
        open_lanes=_lanes(),
    )
    answer = with_sources(answer, saved.inherited)
    differences = list_differences("", _lasting(saved.answer), _lasting(answer.to_json()))
    return answer, list(islice(differences, MOST_DIFFERENCES))


def shares_as_kept(answer: PortfolioAnswer) -> dict[str, Any]:
    """What a request asks for that wants its shares as they are kept: where those follow use for
    lack of work, or the plans without each project are missing, more work would give others."""
    changes: dict[str, Any] = {}
    if answer.shares_method == "use":
        changes["shares"] = "use"
    if all(one.without is None for one in answer.projects):
        changes["what_if"] = False
    return changes


def plan_again(
    saved: SavedPortfolio, catalog: Catalog, changes: Mapping[str, Any] | None = None
) -> PortfolioAnswer:
    """The same request, with some changes to it, at the prices of `catalog`."""
    request = {**saved.request, **(changes or {})}
    work = current_budget().meter
    answer = plan_portfolio(request, catalog, work=work, open_lanes=_lanes())
    return with_sources(answer, saved.inherited)


@transaction.atomic
def change_watch(
    access: Access, saved: SavedPortfolio, changes: Mapping[str, Any], seen: int | None = None
) -> SavedPortfolio:
    """Whether the plan is priced again after each refresh, and which move raises an alert."""
    require(access, saved.team_id, EDIT)
    return edit(access, saved, changes, seen_version=seen, action="saved_portfolio.changed")


def _lasting(value: Any) -> Any:
    """JSON without what says how old it is, and without sentences, whose wording is today's."""
    if isinstance(value, dict):
        return {name: _lasting(part) for name, part in value.items() if name not in _PASSING}
    return [_lasting(part) for part in value] if isinstance(value, list) else value
