"""A saved comparison: the frozen answer, its state, what changed since, its exports."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from planner.contract.labels import SCENARIO_TITLES
from planner.exports import FORMATS, context_of
from planner.exports import export as exported
from planner.models import Access, Role, SavedComparison, State
from planner.services.alerts.project_summaries import current_revisions, moved_since
from planner.services.projects import saved_comparisons as services
from planner.services.projects.reprice import reprice
from planner.web.answer.answer_page import AnswerPage
from planner.web.common.current_team import access_to, choose
from planner.web.common.view_helpers import attempt, own, sent, sentence, signed_in
from planner.web.team import saved_plans
from planner.web.team.forms import NoteForm
from pricing import catalog
from pricing.common.invalid_input import InvalidInput

_RELATED = ("team", "project", "project__team", "scenario", "created_by")
_PEOPLE = ("superseded_by",)


def saved_at(request: HttpRequest, pk: uuid.UUID) -> SavedComparison:
    found = own(request, SavedComparison, pk, *_RELATED, *_PEOPLE)
    choose(request, found.team)
    return found


@signed_in
@require_safe
def comparison(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    return _shown(request, saved_at(request, pk))


def _shown(request: HttpRequest, saved: SavedComparison, **more: Any) -> HttpResponse:
    access = access_to(request)
    page = AnswerPage(saved.answer, request.GET.get("scenario", ""))
    context = {
        "team": saved.team,
        "saved": saved,
        "page": page,
        "titles": SCENARIO_TITLES,
        "moved": moved_since(saved, current_revisions()),
        "formats": list(FORMATS),
        "states": list(State),
        "may_edit": access.has_role(saved.team_id, Role.EDITOR),
        "may_approve": services.may_approve(access, saved),
        "plan_address": saved_plans.address_of(saved.given),
        "form": NoteForm(initial={n: getattr(saved, n) for n in ("name", "note", "version")}),
    }
    return render(request, "team/comparison.html", context | more, status=more.get("status", 200))


@signed_in
@require_safe
def since(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The same question at today's prices, and the difference by cause."""
    saved = saved_at(request, pk)
    context: dict[str, Any] = {"saved": saved, "team": saved.team}
    try:
        repriced = reprice(saved, catalog.current())
    except InvalidInput as refusal:
        context["refusal"] = sentence(refusal)
    else:
        context |= {
            "rows": saved_plans.difference_rows(repriced),
            "prices": saved_plans.moved_offers(saved, repriced),
            "changes": repriced.request_changes,
            "currency": saved.summary["currency"],
        }
    return render(request, _page(request, "since"), context)


@signed_in
@require_safe
def replay(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Computes the answer again from its own revisions and holds it against what was kept."""
    saved = saved_at(request, pk)
    context: dict[str, Any] = {"saved": saved, "team": saved.team}
    try:
        context["replayed"] = services.replay(saved)
    except InvalidInput as refusal:
        context["refusal"] = sentence(refusal)
    return render(request, _page(request, "replay"), context)


def _page(request: HttpRequest, name: str) -> str:
    """The fragment alone for HTMX, the whole page for a browser without it."""
    return f"team/parts/{name}.html" if getattr(request, "htmx", False) else f"team/{name}.html"


@signed_in
@require_POST
def edit(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Name and note of a draft."""
    saved = saved_at(request, pk)
    form = NoteForm(request.POST)
    done = sent(
        form,
        lambda v: services.change_saved(
            access_to(request), saved, {"name": v["name"], "note": v["note"]}, v["version"]
        ),
    )
    if done is not None:
        return redirect("comparison", pk)
    return _shown(request, saved, form=form, status=400)


Move = Callable[[Access, SavedComparison, int | None], SavedComparison]


def _move(request: HttpRequest, pk: uuid.UUID, move: Move, said: str) -> HttpResponse:
    saved = saved_at(request, pk)
    version = request.POST.get("version", "")
    seen = int(version) if version.isdigit() else None
    attempt(request, lambda: move(access_to(request), saved, seen), said)
    return redirect("comparison", pk)


@signed_in
@require_POST
def submit(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    return _move(request, pk, services.submit, "Submitted: an approver can decide on it now.")


@signed_in
@require_POST
def send_back(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    return _move(request, pk, services.send_back, "Sent back: it is a draft again.")


@signed_in
@require_POST
def approve(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    return _move(request, pk, services.approve, "Approved: it is the project's plan now.")


@signed_in
@require_POST
def delete(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved = saved_at(request, pk)
    said = f"The draft {saved.name} is deleted."
    if attempt(request, lambda: services.delete_saved(access_to(request), saved), said):
        return redirect("project", saved.team.slug, saved.project_id)
    return redirect("comparison", pk)


@signed_in
@require_safe
def export(request: HttpRequest, pk: uuid.UUID, form: str) -> HttpResponse:
    """The answer as a file to save."""
    saved = saved_at(request, pk)
    entry = FORMATS[form]
    raw = exported(saved.answer, context_of(saved), form)
    response = HttpResponse(raw, content_type=entry.content_type)
    name = f"{slugify(saved.name)[:60] or 'comparison'}.{entry.suffix}"
    response["Content-Disposition"] = content_disposition_header(True, name) or ""
    return response
