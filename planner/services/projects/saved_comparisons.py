"""Saved comparisons: frozen as they were shown, submitted, approved."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel

from planner.contract.amounts import format_money, format_month, name_day, name_month, next_month
from planner.contract.answer.comparison import ComparisonAnswer, RowChange, summarize_answer
from planner.contract.answer.scenario import ScenarioAnswer
from planner.contract.answer.verdict import Verdict
from planner.contract.labels import (
    SCENARIO_TITLES,
    accelerator_name,
    budget_title,
    category_title,
    choice_name,
    field_name,
    join_reasons,
)
from planner.contract.request.comparison import read_request
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
from planner.services.projects.projects import (
    build_project,
    build_variant,
    compose,
    create_project,
    create_variant,
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
    require_room("saved comparisons", project.saved_comparisons.all())
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
    require_room("saved comparisons", project.saved_comparisons.all())
    outcome, market = answer.outcome, answer.market
    saved = SavedComparison.objects.create(
        team_id=project.team_id,
        project=project,
        variant=variant,
        given=answer.request,
        request=outcome.resolved_request,
        inherited=outcome.inherited,
        revisions={info.provider: info.revision for info in market.revisions},
        answer=outcome.answer.to_json(),
        rows=shown_rows(outcome.answer),
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
    if verdict.late_delivery:
        yield "If servers come late", verdict.late_delivery.sentence, ""
    for unknown in verdict.ask_first:
        yield "Ask first", unknown.sentence, ""
    for turn in verdict.switch_points:
        yield "What would change it", turn.sentence, ""


def _figures(answer: ComparisonAnswer) -> Iterator[Row]:
    verdict, currency = answer.verdict, answer.currency
    if verdict is None:
        return
    amounts = (
        ("Expected cost", verdict.expected),
        ("Total", verdict.total),
        ("In today's money", verdict.present_value),
        ("Capital to approve now", verdict.capital_to_approve),
        ("Contracts to sign now", verdict.obligation_to_sign),
        ("Due within the plan", verdict.within_horizon),
        ("Owed afterwards", verdict.owed_after),
        ("Resale counted at the end", verdict.resale),
    )
    for label, amount in amounts:
        if amount is not None:
            yield label, *_money(amount, currency)
    yield from _certainty(verdict, currency)
    for use in verdict.budget:
        title = budget_title(use.kind, use.fiscal_year)
        yield (
            f"{title}, left of {format_money(use.budget, currency)}",
            *_money(use.headroom, currency),
        )
    if verdict.payback:
        yield "Pays back", name_month(verdict.payback), ""
    if verdict.oldest_price:
        yield "Oldest rental price paid", name_day(verdict.oldest_price), ""
    for row in answer.catalog:
        day = f" of {name_day(row.as_of)}" if row.as_of else ""
        yield f"Price list of {row.provider}", f"revision {row.revision}{day}", ""
    if answer.exchange_rate:
        yield "Exchange rate", answer.exchange_rate.units_per_usd, f"{currency} per USD"


def _certainty(verdict: Verdict, currency: str) -> Iterator[Row]:
    if verdict.range:
        label = "In 8 of 10 cases" if verdict.range.holds else "Range of published runs"
        low, unit = _money(verdict.range.p10, currency)
        yield label, f"{low} – {_money(verdict.range.p90, currency)[0]}", unit
    if verdict.confidence is not None:
        yield "Stays the cheapest", f"{verdict.confidence:.0%}", "of cases"


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


Request = Mapping[str, Any]


def save_in_new_project(
    access: Access,
    team: Team,
    request: Request,
    *,
    project: str,
    name: str,
    note: str = "",
    budget: str = "",
    pinned: Catalog | None = None,
) -> SavedComparison:
    """A project with the request's workload and assumptions, a budget for the whole plan where one
    is set, and its first saved comparison."""
    _expect_workload(request)
    assumptions = {k: v for k, v in request.items() if k not in ("workload", "name")}
    values = {
        "name": project,
        "workload": request["workload"],
        "assumptions": assumptions,
        "budget": budget,
    }
    require(access, team.pk, EDIT)
    require_free_name(team, project, "new_project")
    planned = build_project(access, team, values)
    answer = answer_to_save(team, compose(planned), pinned)
    with transaction.atomic():
        created = create_project(access, team, values)
        return store_answer(access, created, answer, name=name, note=note)


def save_as_variant(
    access: Access,
    project: Project,
    request: Request,
    *,
    name: str,
    note: str = "",
    pinned: Catalog | None = None,
) -> SavedComparison:
    """A variant of the project with what the request changes, and its saved comparison."""
    _expect_workload(request)
    changes = changes_between(compose(project), request)
    values = {"name": name, "changes": changes}
    planned = build_variant(access, project, values)
    require_room("saved comparisons", project.saved_comparisons.all())
    answer = answer_to_save(project.team, compose(project, planned), pinned)
    with transaction.atomic():
        variant = create_variant(access, project, values)
        return store_answer(access, project, answer, variant=variant, name=name, note=note)


def changes_between(base: Request, wanted: Request) -> dict[str, Any]:
    """What laid over `base` section by section gives `wanted`; the name belongs to the project.

    A field that `wanted` leaves out takes its default, so that the base's does not show through.

    >>> work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 100}
    >>> base = {"workload": work, "horizon_months": 24, "finance": {"tax_rate": 0.2}}
    >>> changes_between(base, {"workload": work, "finance": {"discount_rate_per_year": 0.1}})
    {'horizon_months': 36, 'finance': {'tax_rate': None, 'discount_rate_per_year': 0.1}}
    """
    defaults = read_request(wanted)
    return {
        name: _change(base.get(name), wanted.get(name), getattr(defaults, name, None))
        for name in {**base, **wanted}
        if name != "name" and base.get(name) != wanted.get(name)
    }


def _change(base: Any, wanted: Any, default: Any) -> Any:
    if isinstance(base, Mapping) and isinstance(wanted, Mapping):
        if base.get("kind") != wanted.get("kind"):
            return dict(wanted)
        changed = [name for name in {**base, **wanted} if base.get(name) != wanted.get(name)]
        return {n: wanted.get(n, _to_json(getattr(default, n, None))) for n in changed}
    return _to_json(default) if wanted is None else wanted


def _to_json(value: Any) -> Any:
    """A default as JSON: a whole section that is left out is None, a tuple is a list."""
    if isinstance(value, BaseModel):
        return None
    return list(value) if isinstance(value, tuple) else value


def _expect_workload(request: Request) -> None:
    if not request.get("workload"):
        raise InvalidInput("workload", "is not described yet; describe the work first")
