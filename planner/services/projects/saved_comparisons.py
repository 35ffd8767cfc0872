"""Saved comparisons: frozen as they were shown, submitted, approved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from planner.contract.amounts import format_money, format_month, name_day, name_month, next_month
from planner.contract.answer.comparison import ComparisonAnswer, RowChange, summarize_answer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.figures import verdict_facts
from planner.contract.labels import (
    SCENARIO_TITLES,
    accelerator_name,
    category_title,
    choice_name,
    field_name,
    join_reasons,
)
from planner.models import (
    Access,
    Project,
    Role,
    SavedComparison,
    State,
    Team,
    WebhookEvent,
)
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
from planner.services.webhooks.webhooks import emit
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
    is set, and its first saved comparison."""
    assumptions = {k: v for k, v in request.items() if k not in ("workload", "name")}
    values = {
        "name": project,
        "workload": request.get("workload") or {},
        "assumptions": assumptions,
        "budget": budget,
    }
    require(access, team.pk, EDIT)
    require_free_name(team, project, "new_project")
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
    emit(
        saved.team_id,
        WebhookEvent.APPROVED,
        {
            "saved_comparison": str(approved.pk),
            "project": str(approved.project_id),
            "name": approved.name,
            "approved_by": access.name,
            **approved.summary,
        },
    )
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


FIGURES, ASSUMPTIONS = "Figures", "Assumptions"
Row = Sequence[str]
"""Label, value and unit; any of them may be empty."""
Section = dict[str, Any]
"""A `title` and its `rows`."""
_VERBS = {"server": "buy", "commitment": "commit to", "capacity_block": "reserve"}


def shown_rows(answer: ComparisonAnswer) -> list[Section]:
    """What the page of a saved plan shows, section by section; empty sections are left out."""
    best = answer.recommended
    sections: list[tuple[str, Iterable[Row]]] = [
        ("Advice", _advice(answer)),
        (FIGURES, _figures(answer)),
        ("Ways to buy", _ways(answer)),
        ("What to buy or sign", _purchases(answer, best)),
        ("What is paid for", _costs(answer, best)),
        (
            "Due by month",
            (
                (name_month(_month(answer, month)), *_money(amount, answer.currency))
                for month, amount in enumerate(best.cash_per_month if best else ())
                if amount
            ),
        ),
        ("Fiscal years", _fiscal_years(answer, best)),
        ("Work", _work(answer)),
        ("Energy and carbon", _energy(best)),
        (ASSUMPTIONS, _assumptions(answer)),
        ("To be aware of", (("", one, "") for one in answer.warnings)),
    ]
    return [
        {"title": title, "rows": rows}
        for title, values in sections
        if (rows := [list(row) for row in values])
    ]


def _advice(answer: ComparisonAnswer) -> Iterator[Row]:
    verdict = answer.verdict
    yield "What to do", answer.headline, ""
    if verdict is None:
        return
    for part in verdict.decision:
        yield part.sentence[:1].upper() + part.sentence[1:], *_money(part.amount, answer.currency)
    for reason in verdict.reasons:
        yield "Why", reason, ""
    for sentence in verdict.ask_first:
        yield "Ask first", sentence, ""
    for sentence in verdict.turns:
        yield "What would change it", sentence, ""


def _figures(answer: ComparisonAnswer) -> Iterator[Row]:
    verdict, currency = answer.verdict, answer.currency
    if verdict is None:
        return
    totals = ("Total", verdict.total, "money"), ("In today's money", verdict.present_value, "money")
    for title, value, kind in (*totals, *verdict_facts(answer)):
        yield title, *_write(value, kind, currency)
    for row in answer.catalog:
        day = f" of {name_day(row.as_of)}" if row.as_of else ""
        yield f"Price list of {row.provider}", f"revision {row.revision}{day}", ""
    if answer.exchange_rate:
        yield "Exchange rate", answer.exchange_rate.units_per_usd, f"{currency} per USD"


def _write(value: Any, kind: str, currency: str) -> tuple[str, str]:
    if kind == "money":
        return _money(value, currency)
    if kind == "share":
        return f"{value:.0%}", "of cases"
    if kind == "month":
        return f"{value:%B %Y}", ""
    return (name_day(value) if kind == "day" else str(value)), ""


def _ways(answer: ComparisonAnswer) -> Iterator[Row]:
    for scenario in answer.scenarios:
        title = SCENARIO_TITLES[scenario.key]
        if scenario.total_cost is None:
            yield title, f"not possible: {join_reasons(scenario.why_not)}", ""
            continue
        if scenario.key == answer.recommendation.scenario:
            title = f"{title} (advised)"
        elif not scenario.allowed:
            title = f"{title} (not advised: {scenario.why_not_allowed})"
        yield title, *_money(scenario.total_cost, answer.currency)


def _purchases(answer: ComparisonAnswer, best: ScenarioAnswer | None) -> Iterator[Row]:
    for one in best.purchases if best else ():
        first, last = (name_month(_month(answer, at)) for at in (one.first, one.last))
        label = f"{name_month(_month(answer, one.month))}: {_VERBS[one.kind]} {one.label}"
        yield f"{label}, in service {first} to {last}", f"{one.units:,.6g}", one.unit
        if one.due_at_start:
            yield "due at its start", *_money(one.due_at_start, answer.currency)
        if one.due_per_month:
            amount, currency = _money(one.due_per_month, answer.currency)
            yield "due every month", amount, f"{currency} a month"


def _costs(answer: ComparisonAnswer, best: ScenarioAnswer | None) -> Iterator[Row]:
    if best is None:
        return
    for row in best.costs_by_source:
        yield f"{row.label}, {row.quantity:,.6g} {row.unit}", *_money(row.amount, answer.currency)
    for category, amount in best.cost_by_category.items():
        yield f"All {category_title(category)}", *_money(amount, answer.currency)


def _fiscal_years(answer: ComparisonAnswer, best: ScenarioAnswer | None) -> Iterator[Row]:
    for year in best.finance.fiscal_years if best and best.finance else ():
        for label, amount in (("cost", year.cost), ("paid", year.cash), ("capital", year.capital)):
            yield f"Fiscal year {year.fiscal_year}: {label}", *_money(amount, answer.currency)


def _work(answer: ComparisonAnswer) -> Iterator[Row]:
    work = answer.demand
    name = accelerator_name(work.accelerator)
    unit = f"{name} hours"
    yield "Hours", f"{work.total_hours:,.0f}", unit
    if work.range.holds:
        yield "In 8 of 10 cases", f"{work.total_hours_p10:,.0f} – {work.total_hours_p90:,.0f}", unit
    yield f"{name} at work at once, at most", f"{work.highest_peak:,.6g}", "accelerators"
    yield "How the hours were worked out", work.method, ""


def _energy(best: ScenarioAnswer | None) -> Iterator[Row]:
    energy = best.energy if best else None
    if energy and energy.kwh is not None:
        yield "Energy", f"{energy.kwh:,.0f}", "kWh"
    if energy and energy.kg_co2e_of_known_grid is not None:
        yield "Carbon of known grids", f"{energy.kg_co2e_of_known_grid:,.0f}", "kg CO2e"


def _assumptions(answer: ComparisonAnswer) -> Iterator[Row]:
    for row in answer.assumptions:
        value = choice_name(row.value)
        yield field_name(row.field), "none" if value is None else str(value), row.unit


def _month(answer: ComparisonAnswer, index: int) -> str:
    return format_month(answer.month(index))


def _money(amount: Decimal, currency: str) -> tuple[str, str]:
    text = format_money(amount, currency).removesuffix(f" {currency}") if amount else "0"
    return text, currency


def list_changed_rows(then: list[Section], now: list[Section]) -> list[RowChange]:
    """Figures and assumptions that are told otherwise now, told newly or told no more."""
    before, after = _by_label(then), _by_label(now)
    return [
        RowChange(label=label, before=before.get(label, ""), after=after.get(label, ""))
        for label in {**before, **after}
        if before.get(label) != after.get(label)
    ]


def _by_label(sections: list[Section]) -> dict[str, str]:
    return {
        label: f"{value} {unit}".strip()
        for section in sections
        if section["title"] in (FIGURES, ASSUMPTIONS)
        for label, value, unit in section["rows"]
    }
