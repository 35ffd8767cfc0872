"""Large Monte Carlo simulations run as a job: a progress bar, then the answer."""

from __future__ import annotations

import uuid
from contextlib import suppress

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.models import Job, JobState
from planner.services.fair_use.addresses import client_address
from planner.services.jobs import jobs
from planner.services.jobs.kinds import kinds_in_queue_of
from planner.services.jobs.limits import TooManyJobsError, place_in_line
from planner.services.jobs.recovery import recover_jobs
from planner.services.projects.comparisons import read_job_outcome
from planner.services.teams.errors import WrongStateError
from planner.web.common.access import open_page
from planner.web.common.current_team import current_team, get_access, my_teams
from planner.web.common.plan_request import read_plan_request
from planner.web.common.query_codec import drop_empty
from planner.web.common.sharing import pinned_revisions
from planner.web.plan.views.plan import answer_context
from pricing.common.invalid_input import InvalidInput

_SESSION_KEY = "samples"
_MAX_JOBS = 10


@open_page
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Starts the job of a plan; one at a time for each visitor."""
    query = drop_empty(QueryDict(request.POST.get("plan", "")), "edit")
    running = _running(request)
    if running is not None:
        return redirect("samples", running.pk)
    try:
        revisions = pinned_revisions(query)
    except InvalidInput:
        return HttpResponseRedirect(f"{reverse('plan')}?{query.urlencode()}")
    arguments = {"request": read_plan_request(query), "address": query.urlencode()}
    if revisions is not None:
        arguments["revisions"] = revisions
    try:
        job = jobs.start(
            get_access(request),
            "comparison",
            arguments,
            current_team(request),
            visitor=client_address(request.META),
        )
    except TooManyJobsError as refusal:
        messages.error(request, str(refusal))
        return HttpResponseRedirect(f"{reverse('plan')}?{query.urlencode()}")
    request.session[_SESSION_KEY] = [*request.session.get(_SESSION_KEY, []), str(job.pk)][
        -_MAX_JOBS:
    ]
    return redirect("samples", job.pk)


def _running(request: HttpRequest) -> Job | None:
    recover_jobs()
    own_jobs = Job.objects.filter(pk__in=request.session.get(_SESSION_KEY, []))
    job: Job | None = own_jobs.filter(state__in=(JobState.QUEUED, JobState.RUNNING)).first()
    return job


def _get_own_job_or_404(request: HttpRequest, pk: uuid.UUID) -> Job:
    """The visitor's own job; any other is as unknown as one that never was."""
    if str(pk) not in request.session.get(_SESSION_KEY, []):
        raise Http404("You have no such job; start it again from the plan.")
    recover_jobs()
    job: Job | None = Job.objects.select_related("team").filter(pk=pk).first()
    is_foreign = job is not None and job.team not in (None, *my_teams(request))
    if job is None or is_foreign:  # who left a team no longer sees what its prices came to
        raise Http404("This job no longer exists; start it again from the plan.")
    return job


@open_page
@require_safe
def show(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The bar, asked for again by itself until it is full; then the answer."""
    job = _get_own_job_or_404(request, pk)
    query = QueryDict(job.arguments["address"])
    if job.state == JobState.SUCCEEDED:
        if getattr(request, "htmx", False):
            done = HttpResponse()
            done["HX-Redirect"] = reverse("samples", args=[job.pk])
            return done
        shown = query.copy()
        if request.GET.get("scenario"):
            shown["scenario"] = request.GET["scenario"]
        context = answer_context(shown, read_job_outcome(job))
        return render(request, "web/plan/answer.html", context)
    place = place_in_line(job, kinds_in_queue_of(job.kind))
    context = {"job": job, "address": query.urlencode(), "place": place}
    is_whole_page = not getattr(request, "htmx", False)
    template = "web/plan/samples.html" if is_whole_page else "web/plan/samples_bar.html"
    return render(request, template, context)


@open_page
@require_POST
def cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    job = _get_own_job_or_404(request, pk)
    with suppress(WrongStateError):  # it ended by itself, which the page says
        jobs.cancel(get_access(request), job)
    return redirect("samples", pk)
