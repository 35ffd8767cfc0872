"""Saved comparisons: frozen as they were shown, submitted, approved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.comparison.shown_rows import shown_rows
from planner.contract.amounts import format_month, next_month
from planner.contract.answer.comparison import summarize_answer
from planner.models import Access, Project, Role, SavedComparison, State, Team, WebhookEvent
from planner.models.project import REASON_LENGTH
from planner.services.projects.comparisons import compare_for_team
from planner.services.projects.projects import (
    build_project,
    compose,
    create_project,
    require_free_name,
)
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
from planner.services.webhooks.webhooks import emit, link_to
from pricing import catalog as catalogs
from pricing.common.bounded import check_text
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

Request = Mapping[str, Any]


def save_comparison(access: Access, project: Project, **fields: Any) -> SavedComparison:
    """Answers a request and keeps that as a draft: `prepare_comparison`, and at once the rest."""
    return prepare_comparison(access, project, **fields)()


def prepare_comparison(
    access: Access,
    project: Project,
    *,
    request: Request | None = None,
    pinned: Catalog | None = None,
    **labels: Any,
) -> Callable[[], SavedComparison]:
    """Answers the project's request (or `request`), at `pinned` prices where they are given. What
    it gives back keeps the answer as a draft."""
    require(access, project.team_id, EDIT)
    require_room("saved comparisons", project.saved_comparisons.all())
    wanted = compose(project) if request is None else request
    columns = _answer(project.team, wanted, pinned)
    return lambda: _store(access, project, **columns, **labels)


def save_in_new_project(
    access: Access,
    team: Team,
    request: Request,
    *,
    project: str,
    budget: str = "",
    pinned: Catalog | None = None,
    **labels: Any,
) -> SavedComparison:
    """A project with the request's workload and assumptions, a budget for the whole plan where one
    is set, and its first saved comparison; an alert tells where prices move it."""
    assumptions = {k: v for k, v in request.items() if k not in ("workload", "name")}
    values = {
        "name": project,
        "workload": request.get("workload") or {},
        "assumptions": assumptions,
        "budget": budget,
        "watched": True,
    }
    require(access, team.pk, EDIT)
    require_free_name(team, project, "project")
    columns = _answer(team, compose(build_project(access, team, values)), pinned)
    with transaction.atomic():
        return _store(access, create_project(access, team, values), **columns, **labels)


def _answer(team: Team, request: Request, pinned: Catalog | None) -> dict[str, Any]:
    """The columns of the answer to a request, with the database free while it is computed; a plan
    begins next month where it names no month."""
    if not request.get("workload"):
        raise InvalidInput("workload", "is not described yet; describe the work first")
    today = timezone.now().date()
    dated_request = {**request, "start": request.get("start") or format_month(next_month(today))}
    market = catalogs.current() if pinned is None else pinned
    outcome = compare_for_team(dated_request, team, market, runs_already=pinned is not None)
    return {
        "given": request,
        "request": outcome.resolved_request,
        "revisions": {info.provider: info.revision for info in market.revisions},
        "answer": outcome.answer.to_json(),
        "rows": shown_rows(outcome.answer),
        "summary": summarize_answer(outcome.answer).model_dump(mode="json"),
        "answered_on": today,
    }


@transaction.atomic
def _store(access: Access, project: Project, **columns: Any) -> SavedComparison:
    """Keeps an answer as a draft of the project. Meanwhile the project may have gone, its room may
    have been taken and the caller may have left the team."""
    if not Project.objects.filter(pk=project.pk).select_for_update().exists():
        raise WrongStateError("The project was deleted while its answer was computed.")
    require_still(access, project.team_id, EDIT)
    require_room("saved comparisons", project.saved_comparisons.all())
    saved = SavedComparison.objects.create(
        team_id=project.team_id, project=project, created_by_id=access.user_id, **columns
    )
    record(access, "saved_comparison.created", saved, after=saved.summary)
    return saved


def change_saved(
    access: Access, saved: SavedComparison, changes: dict[str, Any], seen_version: int | None = None
) -> SavedComparison:
    """Name and note of a draft; an answer is never edited."""
    require(access, saved.team_id, EDIT)
    _expect(saved, State.DRAFT)
    return edit(
        access, saved, changes, seen_version=seen_version, action="saved_comparison.changed"
    )


@transaction.atomic
def delete_saved(access: Access, saved: SavedComparison) -> None:
    require(access, saved.team_id, EDIT)
    _expect(saved, State.DRAFT)
    record(access, "saved_comparison.deleted", saved, before=saved.summary)
    saved.delete()


# States -----------------------------------------------------------------------------------


def submit(access: Access, saved: SavedComparison, seen: int | None = None) -> SavedComparison:
    require(access, saved.team_id, EDIT)
    changes = {
        "submitted_by_id": access.user_id,
        "submitted_as": access.name,
        "submitted_key": access.person,
        "submitted_at": timezone.now(),
        "sent_back_as": "",
        "sent_back_at": None,
        "sent_back_reason": "",
    }
    return _move(access, saved, State.DRAFT, State.SUBMITTED, changes, seen)


def send_back(
    access: Access, saved: SavedComparison, seen: int | None = None, reason: str = ""
) -> SavedComparison:
    """From submitted to draft again, with the reason for whoever submitted it."""
    require(access, saved.team_id, EDIT)
    if len(reason) > REASON_LENGTH:
        raise InvalidInput(
            "reason", f"has {len(reason):,} characters; at most {REASON_LENGTH} are allowed"
        )
    changes = {
        "submitted_by_id": None,
        "submitted_as": "",
        "submitted_at": None,
        "sent_back_as": access.name,
        "sent_back_at": timezone.now(),
        "sent_back_reason": check_text("reason", reason).strip(),
    }
    return _move(access, saved, State.SUBMITTED, State.DRAFT, changes, seen)


@transaction.atomic
def approve(access: Access, saved: SavedComparison, seen: int | None = None) -> SavedComparison:
    """Makes it the project's plan; the one approved before is superseded.

    Two people take part in it: nobody but an owner approves what they submitted themselves.
    """
    require(access, saved.team_id, APPROVE)
    Project.objects.select_for_update().get(pk=saved.project_id)  # one approval at a time
    current = SavedComparison.objects.select_for_update().get(pk=saved.pk)
    _expect(current, State.SUBMITTED)
    if not may_approve(access, current):
        raise WrongStateError("You submitted it; another approver or an owner must approve it.")
    for other in SavedComparison.objects.filter(project=saved.project_id, state=State.APPROVED):
        ended = {"superseded_by_id": saved.pk, "superseded_at": timezone.now()}
        _move(access, other, State.APPROVED, State.SUPERSEDED, ended, None)
    changes = {
        "approved_by_id": access.user_id,
        "approved_as": access.name,
        "approved_at": timezone.now(),
    }
    approved = _move(access, saved, State.SUBMITTED, State.APPROVED, changes, seen)
    advice = next((row[1] for section in approved.rows for row in section["rows"]), "")
    link = link_to("comparison", approved.pk)
    text = f"{access.name} approved the plan.\n\n{advice}\n\n{link}"
    title = f"{approved.project.name}: {approved.name or 'the plan'} is approved"
    emit(saved.team_id, WebhookEvent.APPROVED, title, text)
    return approved


def may_approve(access: Access, saved: SavedComparison) -> bool:
    """Whether this person may approve it once it is submitted: an approver who did not submit it,
    or an owner."""
    if saved.submitted_key == access.person:
        return access.has_role(saved.team_id, Role.OWNER)
    return access.has_role(saved.team_id, Role.APPROVER)


def _move(
    access: Access,
    saved: SavedComparison,
    before: State,
    after: State,
    changes: dict[str, Any],
    seen: int | None,
) -> SavedComparison:
    with transaction.atomic():
        current: SavedComparison = SavedComparison.objects.select_for_update().get(pk=saved.pk)
        _expect(current, before)
        return edit(
            access,
            current,
            {"state": after, **changes},
            seen_version=seen,
            action=f"saved_comparison.{after.value}",
        )


def _expect(saved: SavedComparison, state: State) -> None:
    if saved.state != state:
        one = "a draft" if state == State.DRAFT else f"one that is {state.value}"
        raise WrongStateError(f"It is {saved.state}; only {one} can be changed like that.")
