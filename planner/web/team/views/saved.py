"""A saved comparison: the frozen answer, its state, what changed since, its exports."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from planner.contract.labels import SCENARIO_TITLES
from planner.exports import FORMATS
from planner.exports import export as export_answer
from planner.exports.saved_context import context_of
from planner.models import Access, Role, SavedComparison, State
from planner.services.alerts.project_summaries import changes_since, current_revisions
from planner.services.projects import saved_comparisons as services
from planner.services.projects.reprice import reprice
from planner.web.answer.board_pack import PackFacts, board_pack
from planner.web.common.current_team import get_access, remember_team
from planner.web.common.view_helpers import (
    describe_refusal,
    get_owned_or_404,
    run_with_messages,
    signed_in,
    submit_form,
)
from planner.web.plan.views.pack import as_download, author_of
from planner.web.team import saved_plans
from planner.web.team.forms import NoteForm, SendBackForm
from pricing import catalog
from pricing.common.bounded import read_position
from pricing.common.invalid_input import InvalidInput

_RELATED = ("team", "project", "project__team", "variant", "created_by")
_PEOPLE = ("superseded_by",)


def get_saved_or_404(request: HttpRequest, pk: uuid.UUID) -> SavedComparison:
    saved = get_owned_or_404(request, SavedComparison, pk, *_RELATED, *_PEOPLE)
    remember_team(request, saved.team)
    return saved


@signed_in
@require_safe
def comparison(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    return _render_comparison(request, get_saved_or_404(request, pk))


def _render_comparison(request: HttpRequest, saved: SavedComparison, **more: Any) -> HttpResponse:
    access = get_access(request)
    page = saved_plans.SavedPage(saved, request.GET.get("scenario", ""))
    context = {
        "team": saved.team,
        "saved": saved,
        "page": page,
        "titles": SCENARIO_TITLES,
        "moved": changes_since(saved, current_revisions()),
        "formats": [(form, entry.title) for form, entry in FORMATS.items()],
        "states": list(State),
        "may_edit": access.has_role(saved.team_id, Role.EDITOR),
        "may_approve": services.may_approve(access, saved),
        "plan_address": saved_plans.address_of(saved.given),
        "form": NoteForm(initial={n: getattr(saved, n) for n in ("name", "note", "version")}),
    }
    return render(request, "team/comparison.html", context | more, status=more.get("status", 200))


@signed_in
@require_safe
def pack(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The board pack of the frozen answer, with its approvals."""
    saved = get_saved_or_404(request, pk)
    facts = PackFacts(
        printed=timezone.now().date(),
        author=author_of(request),
        address=request.build_absolute_uri(reverse("comparison", args=[pk])),
        context=context_of(saved),
    )
    return as_download(board_pack(saved_plans.SavedPage(saved), facts), facts)


@signed_in
@require_safe
def since(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The same question at today's prices, and the difference by cause."""
    saved = get_saved_or_404(request, pk)
    context: dict[str, Any] = {"saved": saved, "team": saved.team}
    try:
        repriced = reprice(saved, catalog.current())
    except InvalidInput as refusal:
        context["refusal"] = describe_refusal(refusal)
    else:
        then = saved.read_answer()
        context |= {
            "then": then,
            "now": repriced.answer,
            "rows": saved_plans.difference_rows(then, repriced.answer, repriced.difference),
            "prices": saved_plans.moved_offers(saved, repriced),
            "changes": repriced.request_changes,
            "currency": saved.read_summary().currency,
        }
    return render(request, _page(request, "since"), context)


@signed_in
@require_safe
def replay(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Computes the answer again from its own revisions and holds it against what was kept."""
    saved = get_saved_or_404(request, pk)
    context: dict[str, Any] = {"saved": saved, "team": saved.team}
    try:
        context["replayed"] = services.replay(saved)
    except InvalidInput as refusal:
        context["refusal"] = describe_refusal(refusal)
    return render(request, _page(request, "replay"), context)


def _page(request: HttpRequest, name: str) -> str:
    """The fragment alone for HTMX, the whole page for a browser without it."""
    return f"team/parts/{name}.html" if getattr(request, "htmx", False) else f"team/{name}.html"


@signed_in
@require_POST
def edit(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Name and note of a draft."""
    saved = get_saved_or_404(request, pk)
    form = NoteForm(request.POST)
    done = submit_form(
        form,
        lambda v: services.change_saved(
            get_access(request), saved, {"name": v["name"], "note": v["note"]}, v["version"]
        ),
    )
    if done is not None:
        return redirect("comparison", pk)
    return _render_comparison(request, saved, form=form, status=400)


Move = Callable[[Access, SavedComparison, int | None], SavedComparison]


def _move(request: HttpRequest, pk: uuid.UUID, move: Move, message: str) -> HttpResponse:
    saved = get_saved_or_404(request, pk)
    version = request.POST.get("version", "")
    seen = read_position(version)
    run_with_messages(request, lambda: move(get_access(request), saved, seen), message)
    return redirect("comparison", pk)


@signed_in
@require_POST
def submit(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    return _move(request, pk, services.submit, "Submitted for approval.")


@signed_in
@require_POST
def send_back(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """What was typed stays where it is refused, such as when somebody changed the plan since."""
    form = SendBackForm(request.POST, auto_id=f"back-{pk}-%s")
    saved = get_saved_or_404(request, pk)
    if form.is_valid():
        seen, reason = read_position(request.POST.get("version", "")), form.cleaned_data["reason"]
        send = partial(services.send_back, get_access(request), saved, seen, reason)
        if run_with_messages(request, send, "Returned to draft."):
            return redirect("comparison", pk)
    return _render_comparison(request, saved, sending_back=form, status=400)


@signed_in
@require_POST
def approve(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    return _move(request, pk, services.approve, "Approved: it is now the project's plan.")


@signed_in
@require_POST
def delete(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    saved = get_saved_or_404(request, pk)
    message = f"The draft {saved.name} is deleted."
    if run_with_messages(
        request, lambda: services.delete_saved(get_access(request), saved), message
    ):
        return redirect("project", saved.team.slug, saved.project_id)
    return redirect("comparison", pk)


@signed_in
@require_safe
def export(request: HttpRequest, pk: uuid.UUID, form: str) -> HttpResponse:
    """The answer as a file to save."""
    saved = get_saved_or_404(request, pk)
    entry = FORMATS[form]
    raw = export_answer(saved.read_answer(), context_of(saved), form)
    response = HttpResponse(raw, content_type=entry.content_type)
    name = f"{slugify(saved.name)[:60] or 'comparison'}.{entry.suffix}"
    response["Content-Disposition"] = content_disposition_header(True, name) or ""
    return response
