"""Saved comparisons: frozen with all they came from, replayed to the cent, approved."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.comparison import compare, solve
from planner.comparison_steps.build_answer import build_assumptions
from planner.contract.answer.changes import ChangedDefault, ReplayDifference
from planner.contract.answer.comparison import VERSION, AssumptionRow, ComparisonAnswer
from planner.contract.answer.summary import summarize_answer
from planner.contract.months import format_month, next_month
from planner.models import (
    Access,
    Project,
    Role,
    SavedComparison,
    State,
    Team,
    Variant,
    WebhookEvent,
)
from planner.models.project import REASON_LENGTH
from planner.services.projects.comparisons import ComparisonOutcome, compare_for_team
from planner.services.projects.projects import compose
from planner.services.projects.replay_differences import list_answer_differences
from planner.services.teams.audit import edit, record
from planner.services.teams.errors import WrongStateError
from planner.services.teams.permissions import APPROVE, EDIT, require
from planner.services.teams.quotas import require_room_to_save
from planner.services.teams.rights_now import require_still
from planner.services.teams.team_rates import with_sources
from planner.services.webhooks.webhooks import emit
from planner.services.work_budget import replay_meter
from pricing import catalog as catalogs
from pricing.common.bounded import check_text
from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate
from pricing.market.snapshot import Catalog


@dataclass(frozen=True)
class AnswerToSave:
    """A request with its answer, and the market and day of which it is."""

    request: dict[str, Any]
    """As its author wrote it."""
    outcome: ComparisonOutcome
    market: Catalog
    day: dt.date


def save_comparison(access: Access, project: Project, **fields: Any) -> SavedComparison:
    """Answers a request and keeps that as a draft: `prepare_comparison`, and at once the rest."""
    return prepare_comparison(access, project, **fields)()


def prepare_comparison(
    access: Access,
    project: Project,
    *,
    name: str,
    note: str = "",
    variant: Variant | None = None,
    request: dict[str, Any] | None = None,
    pinned: Catalog | None = None,
) -> Callable[[], SavedComparison]:
    """Answers the variant's request (or `request`), at `pinned` prices where they are given, with
    the database free meanwhile. What it gives back keeps the answer as a draft."""
    require(access, project.team_id, EDIT)
    require_room_to_save(project.saved_comparisons.all())
    original_request = compose(project, variant) if request is None else request
    if not original_request.get("workload"):
        raise InvalidInput("request", "the project has no workload yet; give it one")
    answer = answer_to_save(project.team, original_request, pinned)
    labels = {"name": name, "note": note, "follows_project": request is None}
    return lambda: store_answer(access, project, answer, variant=variant, **labels)


def answer_to_save(
    team: Team, request: dict[str, Any], pinned: Catalog | None = None
) -> AnswerToSave:
    """The answer to a request, whose plan begins next month where it names no month."""
    today = timezone.now().date()
    dated_request = {**request, "start": request.get("start") or format_month(next_month(today))}
    market = catalogs.current() if pinned is None else pinned
    return AnswerToSave(request, compare_for_team(dated_request, team, market), market, today)


@transaction.atomic
def store_answer(
    access: Access,
    project: Project,
    answer: AnswerToSave,
    *,
    variant: Variant | None = None,
    **labels: Any,
) -> SavedComparison:
    """Keeps an answer as a draft of the project. Meanwhile the project may have gone, its room may
    have been taken and the caller may have left the team. `labels` are columns beside it."""
    projects, variants = Project.objects.filter(pk=project.pk), project.variants.all()
    if not projects.select_for_update().exists():
        raise WrongStateError("The project was deleted while its answer was computed.")
    if variant is not None and not variants.filter(pk=variant.pk).exists():
        raise WrongStateError("The variant was deleted while its answer was computed.")
    require_still(access, project.team_id, EDIT)
    require_room_to_save(project.saved_comparisons.all())
    outcome, market = answer.outcome, answer.market
    saved = SavedComparison.objects.create(
        team_id=project.team_id,
        project=project,
        variant=variant,
        given=answer.request,
        request=outcome.resolved_request,
        inherited=outcome.inherited,
        revisions={info.provider: info.revision for info in market.revisions},
        rates=[rate_as_row(rate) for rate in market.exchange_rates.latest],
        assumptions=[row.model_dump(mode="json") for row in outcome.answer.assumptions],
        answer=outcome.answer.to_json(),
        summary=summarize_answer(outcome.answer).model_dump(mode="json"),
        answered_on=answer.day,
        created_by_id=access.user_id,
        **labels,
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


@dataclass(frozen=True)
class Replay:
    """A saved comparison computed again, and where that says something else."""

    answer: ComparisonAnswer
    differences: list[ReplayDifference]
    """At most fifty."""
    changed_defaults: list[ChangedDefault]
    """Assumptions that the program would make otherwise now."""

    @property
    def identical(self) -> bool:
        return not self.differences

    def as_dict(self) -> dict[str, Any]:
        """The replay as plain JSON values."""
        return {
            "identical": self.identical,
            "differences": [row.model_dump(mode="json") for row in self.differences],
            "changed_defaults": [row.model_dump(mode="json") for row in self.changed_defaults],
            "answer": self.answer.to_json(),
        }


def replay(saved: SavedComparison) -> Replay:
    """The same request at the same revisions, exchange rates and assumptions, computed again and
    held against what was saved; and which defaults of the program have changed since."""
    catalog = catalogs.at(saved.revisions, map(rate_from_row, saved.rates))
    original = saved.read_answer()
    previous = [AssumptionRow.model_validate(row) for row in saved.assumptions]
    today = saved.answered_on
    result = compare(
        saved.request, catalog, today=today, previous_assumptions=previous, work=replay_meter()
    )
    replayed = with_sources(result, {row.field: row.source for row in original.inherited})
    version = saved.answer.get("version", 1)
    is_current = version == VERSION
    saved_answer = saved.answer if is_current else original.to_json()
    differences = list_answer_differences(saved_answer, replayed.to_json(), version)
    now = build_assumptions(solve(saved.request, catalog, today))
    return Replay(
        answer=replayed,
        differences=list(islice(differences, 50)),
        changed_defaults=list(_changed_defaults(replayed.assumptions, now)),
    )


def _changed_defaults(
    saved: Iterable[AssumptionRow], today: Iterable[AssumptionRow]
) -> Iterator[ChangedDefault]:
    """Assumptions that nobody gave and that the program would make otherwise now."""
    now = {row.field: row.value for row in today}
    for row in saved:
        if not row.given and now.get(row.field, row.value) != row.value:
            yield ChangedDefault(field=row.field, kept=row.value, now=now[row.field])


def rate_as_row(rate: ExchangeRate) -> list[str]:
    """An exchange rate as it is kept with an answer."""
    return [rate.currency, rate.date.isoformat(), f"{rate.units_per_usd:f}", rate.source]


def rate_from_row(row: list[str]) -> ExchangeRate:
    """The exchange rate of such a row."""
    currency, day, units, source = row
    return ExchangeRate(currency, dt.date.fromisoformat(day), Decimal(units), source)


def is_stale(saved: SavedComparison, current: dict[str, int]) -> bool:
    """Whether a price list that the answer used has a later revision now."""
    return saved.read_summary().uses_catalog and any(
        current.get(p, revision) != revision for p, revision in saved.revisions.items()
    )


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
        "submitted_key": "",
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
    _require_second_person(access, saved)
    for other in SavedComparison.objects.filter(project=saved.project_id, state=State.APPROVED):
        ended = {"superseded_by_id": saved.pk, "superseded_at": timezone.now()}
        _move(access, other, State.APPROVED, State.SUPERSEDED, ended, None)
    changes = {
        "approved_by_id": access.user_id,
        "approved_as": access.name,
        "approved_at": timezone.now(),
    }
    approved = _move(access, saved, State.SUBMITTED, State.APPROVED, changes, seen)
    emit(saved.team_id, WebhookEvent.APPROVED, _payload(approved, access))
    return approved


def may_approve(access: Access, saved: SavedComparison) -> bool:
    """Whether this person may approve it once it is submitted: an approver who did not submit it,
    or an owner."""
    if saved.submitted_key == access.person:
        return access.has_role(saved.team_id, Role.OWNER)
    return access.has_role(saved.team_id, Role.APPROVER)


def _require_second_person(access: Access, saved: SavedComparison) -> None:
    current = SavedComparison.objects.select_for_update().get(pk=saved.pk)
    _expect(current, State.SUBMITTED)
    if not may_approve(access, current):
        raise WrongStateError("You submitted it; another approver or an owner must approve it.")


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


def _payload(saved: SavedComparison, access: Access) -> dict[str, Any]:
    return {
        "saved_comparison": str(saved.pk),
        "project": str(saved.project_id),
        "name": saved.name,
        "approved_by": access.name,
        **saved.summary,
    }
