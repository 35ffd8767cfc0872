"""What a team keeps as files: saved plans with their names and approvals, and what was paid."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from planner.contract.amounts import count_months, parse_month
from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.answer.comparison import SavedPlan
from planner.contract.answer.scenario import CostLine, ScenarioRecord
from planner.contract.answer.verdict import Choice
from planner.exports import FORMATS, Format, json_bytes
from planner.exports.csv_export import Context, Step, csv_bytes
from planner.exports.focus import FOCUS_COLUMNS, VERSIONS, Cells, choose_scenario, focus_rows
from planner.exports.portfolio_exports import portfolio_focus_rows
from planner.exports.workbook import as_saved_workbook
from planner.models import (
    ActualLine,
    ActualsUpload,
    Project,
    SavedComparison,
    SavedPortfolio,
    State,
    Team,
)
from pricing.common.invalid_input import InvalidInput


def export_saved(saved: SavedComparison, form: str, scenario: str = "") -> bytes:
    """A saved plan in one of `FORMATS`, from what is saved alone: nothing is computed again."""
    plan, context = saved.read_plan(), context_of(saved, scenario)
    choose_scenario(plan, context)
    if form == "json":
        return json_bytes(saved.answer, context)
    if form == "xlsx":
        return as_saved_workbook(plan, saved.rows, context)
    return FORMATS[form].make(plan, context)


def context_of(saved: SavedComparison, scenario: str = "") -> Context:
    """Names, state and request of `saved`; FOCUS rows are those of `scenario`. The steps are the
    states that it has not left again by being sent back."""
    later = saved.superseded_by
    steps = (
        (State.DRAFT, str(saved.created_by or ""), saved.created_at),
        (State.SUBMITTED, saved.submitter, saved.submitted_at),
        (State.APPROVED, saved.approver, saved.approved_at),
        (State.SUPERSEDED, later.approver if later else None, saved.superseded_at),
    )
    return Context(
        name=saved.name,
        team=saved.team.name,
        project=saved.project.name,
        cost_centre=saved.project.cost_centre,
        created=saved.created_at.date(),
        scenario=scenario,
        saved=str(saved.pk),
        steps=tuple(Step(state.value, by or "", at) for state, by, at in steps if at is not None),
        request=saved.request,
    )


def team_focus(team: Team, since: dt.date | None, version: str = "") -> bytes:
    """FOCUS rows of a team from the month `since` on: the forecasts of approved plans, except of
    archived projects, then what every project paid."""
    columns = FOCUS_COLUMNS.get(version or VERSIONS[0])
    if columns is None:
        allowed = " and ".join(VERSIONS)
        raise InvalidInput("version", f"{version[:20]!r} is not written; allowed are {allowed}")
    first = str(since or "")
    rows = (row for row in _team_rows(team) if row["ChargePeriodStart"] >= first)
    return csv_bytes(columns, rows)


def _team_rows(team: Team) -> Iterator[Cells]:
    """An approved plan for all stands for those of its projects, if every member may see it."""
    joint = SavedPortfolio.objects.filter(team=team, state=State.APPROVED, shown_to_all=True)
    answers = [one.read_answer() for one in joint]
    centres = dict(Project.objects.filter(team=team).values_list("name", "cost_centre"))
    for answer in answers:
        yield from portfolio_focus_rows(answer, team.name, centres)
    planned = [one.name for answer in answers for one in answer.projects]
    plans = SavedComparison.objects.filter(team=team, state=State.APPROVED, project__archived=False)
    plans = plans.exclude(project__name__in=planned)
    for saved in plans.select_related("team", "project", "created_by").order_by("project__name"):
        yield from focus_rows(saved.read_plan(), context_of(saved))
    uploads = ActualsUpload.objects.filter(team=team).order_by("project__name", "created_at")
    for upload in uploads.select_related("project").prefetch_related("lines"):
        whose = {"project": upload.project.name, "cost_centre": upload.project.cost_centre}
        context = Context(team=team.name, **whose, is_forecast=False)
        yield from focus_rows(_as_plan(upload), context)


def _as_plan(upload: ActualsUpload) -> SavedPlan:
    """What was paid in the form that FOCUS rows are made of."""
    rows, key = list(upload.lines.all()), ScenarioKey.HYBRID
    lines = tuple(_paid_line(row, rows[0].month, upload.format) for row in rows)
    return SavedPlan(
        start=rows[0].month,
        horizon_months=lines[-1].month + 1,
        currency=upload.currency,
        scenarios=(ScenarioRecord(key=key, feasible=True, lines=lines),),
        recommendation=Choice.of_values(scenario=key),
    )


def _paid_line(row: ActualLine, start: str, form: str) -> CostLine:
    """Its cost by the hour; by the month where no hours are known."""
    cost, quantity = Decimal(row.cost), row.hours or 1.0
    hours = "node-hours" if form == "focus" else "accelerator-hours"
    return CostLine.of_values(
        month=count_months(parse_month(start), parse_month(row.month)),
        category=Category(row.category) if row.category in set(Category) else Category.OTHER,
        label=row.category,
        provider=row.provider or "not stated",
        region=row.region,
        instance_type=row.instance_type,
        purchase_option=row.purchase_option,
        quantity=quantity,
        unit=hours if row.hours else "month",
        unit_price=cost / Decimal(str(quantity)),
        amount=cost,
        offer_id="",
        source="",
    )


def offer_file(content: bytes, title: str, entry: Format) -> HttpResponse:
    """A file of the form `entry`, offered to be saved under a title."""
    name = f"{slugify(title)[:60] or 'plan'}.{entry.suffix}"
    headers = {
        "Cache-Control": "private, no-store",
        "Content-Disposition": content_disposition_header(True, name) or "",
    }
    return HttpResponse(content, content_type=entry.content_type, headers=headers)
