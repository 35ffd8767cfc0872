"""Saved plans as files: what is saved, what it is called and how far it is approved."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify

from planner.exports import FORMATS, Format, json_bytes
from planner.exports.csv_export import Context, Step, as_csv
from planner.exports.focus import as_commitments, as_focus, choose_scenario
from planner.exports.workbook import as_saved_workbook
from planner.models import SavedComparison, State

_OF_PLANS = {"csv": as_csv, "focus": as_focus, "commitments": as_commitments}


def export_saved(saved: SavedComparison, form: str, scenario: str = "") -> bytes:
    """A saved plan in one of `FORMATS`, from what is saved alone: nothing is computed again."""
    assert form in FORMATS
    plan, context = saved.read_plan(), context_of(saved, scenario)
    choose_scenario(plan, context)
    if form == "json":
        return json_bytes(saved.answer, context)
    if form == "xlsx":
        return as_saved_workbook(plan, saved.rows, context)
    return _OF_PLANS[form](plan, context)


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
        created=saved.created_at.date(),
        scenario=scenario,
        saved=str(saved.pk),
        steps=tuple(Step(state.value, by or "", at) for state, by, at in steps if at is not None),
        request=saved.request,
    )


def offer_file(content: bytes, title: str, entry: Format) -> HttpResponse:
    """A file of the form `entry`, offered to be saved under a title."""
    name = f"{slugify(title)[:60] or 'plan'}.{entry.suffix}"
    headers = {
        "Cache-Control": "private, no-store",
        "Content-Disposition": content_disposition_header(True, name) or "",
    }
    return HttpResponse(content, content_type=entry.content_type, headers=headers)
