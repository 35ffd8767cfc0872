"""Projects, and comparisons saved in them: frozen as shown, submitted, approved, priced anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Case, When
from django.utils import timezone

from planner.comparison.shown_rows import list_changed_rows, shown_rows
from planner.contract.amounts import format_month, next_month
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.comparison import (
    CatalogRevision,
    ComparisonAnswer,
    PriceMove,
    RowChange,
    SavedPlan,
    ScenarioChange,
    summarize_answer,
)
from planner.contract.request.comparison import read_request
from planner.models import (
    Access,
    Project,
    Role,
    SavedComparison,
    SavedPortfolio,
    State,
    Team,
    WebhookEvent,
)
from planner.models.project import REASON_LENGTH
from planner.services.projects.comparisons import compare_for_team
from planner.services.teams.access import (
    APPROVE,
    EDIT,
    WrongStateError,
    edit,
    record,
    remove,
    require,
    require_place,
    require_room,
)
from planner.services.webhooks.webhooks import emit, link_to
from pricing import catalog as catalogs
from pricing.common.bounded import check_text, read_decimal, shorten
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

MIN_BUDGET = Decimal("0.01")
MAX_BUDGET = Decimal(10) ** 13
_PROJECT_FIELDS = ("workload", "name")
_ANY_WORKLOAD = {"kind": "accelerator_hours", "accelerator": "any", "hours_per_month": 1}
"""Stands in where a project has no workload yet, so that its assumptions can be judged."""

Values = Mapping[str, Any]


def compose(project: Project) -> dict[str, Any]:
    """The comparison request of a project."""
    return {"name": project.name, **project.assumptions, "workload": project.workload}


def project_currency(project: Project) -> str:
    """The currency of a project's plans, budget and actuals."""
    return str(project.assumptions.get("currency") or project.team.currency)


def _check_project(project: Project) -> None:
    for name in _PROJECT_FIELDS:
        if name in project.assumptions:
            raise InvalidInput(f"assumptions.{name}", "belongs to the project itself")
    try:  # A project without a workload yet is judged with any.
        read_request(compose(project) | {"workload": project.workload or _ANY_WORKLOAD})
    except InvalidInput as refusal:
        renamed = [_name_field(each) for each in refusal.all()]
        raise InvalidInput.together(renamed, len(renamed)) from None
    if project.budget:
        value = read_decimal(project.budget, "budget")
        if not MIN_BUDGET <= value <= MAX_BUDGET:
            problem = f"{shorten(project.budget)} is not an amount from 0.01 to 1e13"
            raise InvalidInput("budget", problem)
        project.budget = f"{value:f}"


def _name_field(refusal: InvalidInput) -> InvalidInput:
    alone = InvalidInput(refusal.field, refusal.message)
    return alone if refusal.field.split(".")[0] in _PROJECT_FIELDS else alone.under("assumptions")


def require_free_name(
    team: Team, name: str, field: str = "name", but: Project | None = None
) -> None:
    """Refuses the name of another project of a team, in capitals or not."""
    others = Project.objects.filter(team=team, name__iexact=name.strip())
    taken = others.exclude(pk=but.pk).first() if but else others.first()
    if taken is not None:
        kind = "an archived project" if taken.archived else "another project"
        raise InvalidInput(field, f"{shorten(taken.name)} is the name of {kind} of this team")


def build_project(access: Access, team: Team, values: Values) -> Project:
    """A project that may be created, not stored yet. Raises `InvalidInput`."""
    require(access, team.pk, EDIT)
    require_room("projects", Project.objects.filter(team=team))
    require_free_name(team, values.get("name", ""))
    project = Project(team=team, created_by_id=access.user_id, **values)
    _check_project(project)
    return project


@transaction.atomic
def create_project(access: Access, team: Team, values: Values) -> Project:
    project = build_project(access, team, values)
    project.save()
    record(access, "project.created", project, after=values)
    return project


@transaction.atomic
def change_project(
    access: Access, project: Project, changes: Values, seen_version: int | None = None
) -> Project:
    """Workload, assumptions, budget, watch; what is approved keeps its own frozen copy."""
    require(access, project.team_id, EDIT)
    if changes.get("name", project.name) != project.name:
        require_free_name(project.team, changes["name"], but=project)
    for name, value in changes.items():
        setattr(project, name, value)
    _check_project(project)
    checked = {name: getattr(project, name) for name in changes}
    return edit(access, project, checked, seen_version=seen_version)


@transaction.atomic
def delete_project(access: Access, project: Project) -> None:
    """Only what was never submitted can go; else archive it."""
    require(access, project.team_id, EDIT)
    if project.saved_comparisons.exclude(state=State.DRAFT).exists():
        raise WrongStateError("It has submitted or approved comparisons; archive it instead.")
    uploads = project.uploads.order_by("created_at").values_list("file_name", "rows", "currency")
    saved = project.saved_comparisons.values_list("name", "summary")
    before = {
        "name": project.name,
        "saved_comparisons": [{"name": name, **summary} for name, summary in saved],
        "uploads": [dict(zip(("file", "rows", "currency"), row, strict=True)) for row in uploads],
    }
    remove(access, project, "project.deleted", before)


# Saved comparisons: frozen as they were shown ---------------------------------------------

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
    """Keeps an answer as a draft of the project."""
    require_place(access, project, "saved comparisons", project.saved_comparisons.all())
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
    expect_state(saved, State.DRAFT)
    return edit(
        access, saved, changes, seen_version=seen_version, action="saved_comparison.changed"
    )


def delete_saved(access: Access, saved: SavedComparison) -> None:
    require(access, saved.team_id, EDIT)
    expect_state(saved, State.DRAFT)
    remove(access, saved, "saved_comparison.deleted", saved.summary)


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
    expect_state(current, State.SUBMITTED)
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
        expect_state(current, before)
        return edit(
            access,
            current,
            {"state": after, **changes},
            seen_version=seen,
            action=f"saved_comparison.{after.value}",
        )


def expect_state(saved: SavedComparison | SavedPortfolio, state: State) -> None:
    if saved.state != state:
        one = "a draft" if state == State.DRAFT else f"one that is {state.value}"
        raise WrongStateError(f"It is {saved.state}; only {one} can be changed like that.")


# Plans at the prices of today -------------------------------------------------------------

_STATE_FIRST = Case(
    When(state=State.APPROVED, then=0), When(state=State.SUBMITTED, then=1), default=2
)
PLAN_FIRST = (_STATE_FIRST, "-created_at")
"""Order of a project's comparisons: the approved one, those submitted, then the latest."""


class Repriced(AnswerModel):
    """A saved plan at other prices, beside the one that was saved."""

    tables = ("catalog", "difference", "prices_moved", "changed_rows")
    catalog: tuple[CatalogRevision, ...]
    difference: list[ScenarioChange]
    """Per scenario: the total before and after."""
    prices_moved: list[PriceMove]
    """Offers of the old plan whose price moved or that are gone."""
    changed_rows: list[RowChange]
    """Figures and assumptions that the page of the saved plan tells otherwise today."""
    answer: ComparisonAnswer


def reprice(
    saved: SavedComparison, catalog: Catalog, changes: Mapping[str, Any] | None = None
) -> Repriced:
    """`saved` at the prices of `catalog`: what its author asked, with the team's rates of today and
    with `changes`, from the month in which it began."""
    request = {"start": saved.request["start"], **saved.given, **(changes or {})}
    answer = compare_for_team(request, saved.team, catalog, runs_already=True).answer
    original = saved.read_plan()
    shared = [key for key in answer.by_key if key in original.by_key]
    return Repriced.of_values(
        catalog=answer.catalog,
        answer=answer,
        difference=[_compare_totals(original, answer, key) for key in shared],
        prices_moved=list(_list_price_moves(original, catalog)),
        changed_rows=list_changed_rows(saved.rows, shown_rows(answer)),
    )


def _compare_totals(then: SavedPlan, now: SavedPlan, key: Any) -> ScenarioChange:
    before, after = then.by_key[key].total_cost, now.by_key[key].total_cost
    change = None if before is None or after is None else after - before
    return ScenarioChange(scenario=key, before=before, after=after, change=change)


def _list_price_moves(plan: SavedPlan, catalog: Catalog) -> Iterator[PriceMove]:
    used = {line.offer_id for one in plan.scenarios for line in one.lines if line.offer_id}
    revisions = {row.provider: row.revision for row in plan.catalog}
    before = catalogs.at(revisions).offers if used else catalog.offers
    for offer_id in sorted(used):
        was, now = before.find(offer_id), catalog.offers.find(offer_id)
        price = now.effective_price_per_hour if now else None
        if was and was.effective_price_per_hour != price:
            yield PriceMove(offer_id=offer_id, before=was.effective_price_per_hour, after=price)


def current_plan(project: Project) -> SavedComparison | None:
    """What the project goes by: its approved comparison, else the latest one submitted, else the
    latest one saved."""
    saved_comparisons = project.saved_comparisons.select_related("team", "project")
    return saved_comparisons.order_by(*PLAN_FIRST).first()
