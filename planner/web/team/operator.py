"""What operators see of refreshes, and decide on the parts that wait."""

from __future__ import annotations

import uuid
from itertools import groupby

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from planner.contract.typed_numbers import read_row_id
from planner.models import Access, AuditEntry, Job
from planner.services.jobs import jobs
from planner.services.jobs import price_refreshes as quarantine
from planner.services.jobs.jobs import recover_jobs
from planner.services.jobs.price_refreshes import require_operator, start_refresh
from planner.web.common import views
from planner.web.common.choices import provider_title
from planner.web.team.forms import RefreshForm
from pricing.common.words import pluralize
from pricing.freshness import freshness
from pricing.models import QuarantinedPart, RefreshRun
from pricing.revisions import list_unread, newest_revisions

MAX_RUNS = 50
MAX_DECISIONS = 500
"""Parts decided at once."""


@views.signed_in
def refreshes(request: HttpRequest) -> HttpResponse:
    access, form_name = views.get_access(request), views.form_sent(request)
    require_operator(access)
    form = RefreshForm(request.POST if form_name == "refresh" else None)
    started = views.submit_form(form, lambda values: start_refresh(access, values["providers"]))
    if started is not None:
        return redirect("job", started.pk)
    if form_name == "decide":
        _decide(request, access)
        return redirect("operator")
    waiting = QuarantinedPart.objects.filter(state=QuarantinedPart.State.WAITING).defer("payload")
    by_provider = groupby(waiting.order_by("provider", "reason"), lambda part: part.provider)
    running = Job.objects.filter(kind="price_refresh", state__in=("queued", "running")).first()
    context = {
        "team": views.current_team(request),
        "form": form,
        "providers": [(provider_title(one.provider), one) for one in freshness()],
        "quarantined": [(provider, list(parts)) for provider, parts in by_provider],
        "unread": [(one.provider, list_unread(one)) for one in newest_revisions()],
        "runs": RefreshRun.objects.select_related("revision")[:MAX_RUNS],
        "job": running,
        "entries": AuditEntry.objects.filter(team=None)[:MAX_RUNS],
    }
    return render(request, "team/operator.html", context, status=400 if form.errors else 200)


def _decide(request: HttpRequest, access: Access) -> None:
    ids = [pk for text in request.POST.getlist("part") if (pk := read_row_id(text)) is not None]
    parts = list(QuarantinedPart.objects.filter(pk__in=ids[:MAX_DECISIONS]))
    count = pluralize(len(parts), "part")
    if not parts:
        messages.error(request, "Tick the parts to release or reject.")
    elif request.POST.get("decision") == "release":
        message = f"Released: {count}, published now."
        views.run_with_messages(request, lambda: quarantine.release(access, parts), message)
    else:
        message = f"Rejected: {count}. What was published before stays in force."
        views.run_with_messages(request, lambda: quarantine.reject(access, parts), message)


def _get_job_or_404(request: HttpRequest, pk: uuid.UUID) -> Job:
    recover_jobs()
    return views.get_owned_or_404(request, Job, pk, "team")


@views.signed_in
@require_safe
def job(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    current = _get_job_or_404(request, pk)
    is_whole_page = not getattr(request, "htmx", False)
    template = "team/job.html" if is_whole_page else "team/parts/job.html"
    context = {"job": current, "team": current.team or views.current_team(request)}
    return render(request, template, context)


@views.signed_in
@require_POST
def cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    job = _get_job_or_404(request, pk)
    message = "The job will stop at its next step."
    views.run_with_messages(request, lambda: jobs.cancel(views.get_access(request), job), message)
    return redirect("job", pk)
