"""For operators: refreshes of the prices, what the checks held; and jobs, for everybody."""

from __future__ import annotations

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from planner.models import Job
from planner.services.jobs import jobs
from planner.services.jobs import quarantine as deciding
from planner.services.jobs.price_refreshes import require_operator, start_refresh
from planner.web.common.current_team import access_to, current_team
from planner.web.common.view_helpers import NOT_FOUND, attempt, sent, signed_in
from planner.web.team.forms import RefreshForm
from pricing.freshness import freshness
from pricing.models import HeldBatch, RefreshRun

MAX_RUNS = 50


@signed_in
@require_safe
def refreshes(request: HttpRequest) -> HttpResponse:
    """How fresh each provider is, what is held, what the last runs did."""
    require_operator(access_to(request))
    return _page(request, RefreshForm())


def _page(request: HttpRequest, form: RefreshForm) -> HttpResponse:
    waiting = HeldBatch.objects.filter(state=HeldBatch.State.WAITING).defer("payload")
    running = Job.objects.filter(kind="price_refresh", state__in=("queued", "running"))
    context = {
        "team": current_team(request),
        "form": form,
        "providers": freshness(),
        "held": waiting,
        "runs": RefreshRun.objects.select_related("revision")[:MAX_RUNS],
        "job": running.first(),
    }
    return render(request, "team/operator.html", context, status=400 if form.errors else 200)


@signed_in
@require_POST
def refresh(request: HttpRequest) -> HttpResponse:
    """Reads the providers now, as a job."""
    access = access_to(request)
    require_operator(access)
    form = RefreshForm(request.POST)
    job = sent(form, lambda values: start_refresh(access, values["providers"]))
    return redirect("job", job.pk) if job else _page(request, form)


def _held(request: HttpRequest, pk: int) -> HeldBatch:
    require_operator(access_to(request))
    found = HeldBatch.objects.filter(pk=pk).first()
    if found is None:
        raise Http404(NOT_FOUND)
    return found


@signed_in
@require_POST
def release(request: HttpRequest, pk: int) -> HttpResponse:
    """Publishes a held batch as it was fetched."""
    found = _held(request, pk)
    said = f"The held prices of {found.provider} are published."
    attempt(request, lambda: deciding.release(access_to(request), found), said)
    return redirect("operator")


@signed_in
@require_POST
def reject(request: HttpRequest, pk: int) -> HttpResponse:
    found = _held(request, pk)
    said = f"The held prices of {found.provider} are rejected; those in force stay."
    attempt(request, lambda: deciding.reject(access_to(request), found), said)
    return redirect("operator")


def _job(request: HttpRequest, pk: uuid.UUID) -> Job:
    jobs.mark_lost()
    mine = Job.objects.for_access(access_to(request))
    found: Job | None = mine.filter(pk=pk).select_related("team").first()
    if found is None:
        raise Http404(NOT_FOUND)
    return found


@signed_in
@require_safe
def job(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """How far it is; HTMX asks for the bar alone until it is over."""
    found = _job(request, pk)
    whole = not getattr(request, "htmx", False)
    template = "team/job.html" if whole else "team/parts/job.html"
    return render(request, template, {"job": found, "team": found.team or current_team(request)})


@signed_in
@require_POST
def cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    found = _job(request, pk)
    said = "It stops at its next step."
    attempt(request, lambda: jobs.cancel(access_to(request), found), said)
    return redirect("job", pk)
