"""Many futures run as a job: a bar while they are tried, then the answer."""

from __future__ import annotations

import uuid
from contextlib import suppress

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from planner.models import Job, JobState
from planner.services.jobs import jobs
from planner.services.projects.comparisons import answered_by
from planner.services.teams.errors import WrongStateError
from planner.web.common.access import open_page
from planner.web.common.current_team import access_to, current_team
from planner.web.common.plan_request import Outcome, request_of
from planner.web.common.query_codec import tidied
from planner.web.common.sharing import pinned
from planner.web.plan.views.plan import answer_context
from pricing.common.invalid_input import InvalidInput

_MINE = "futures"
_KEPT_AT_MOST = 10


@open_page
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    """Starts the job of a plan; one at a time for each visitor."""
    query = tidied(QueryDict(request.POST.get("plan", "")), "edit")
    running = _running(request)
    if running is not None:
        return redirect("futures", running.pk)
    try:
        revisions = pinned(query)
    except InvalidInput:
        return HttpResponseRedirect(f"{reverse('plan')}?{query.urlencode()}")
    arguments = {"request": request_of(query), "address": query.urlencode()}
    if revisions is not None:
        arguments["revisions"] = revisions
    job = jobs.start(access_to(request), "comparison", arguments, current_team(request))
    request.session[_MINE] = [*request.session.get(_MINE, []), str(job.pk)][-_KEPT_AT_MOST:]
    return redirect("futures", job.pk)


def _running(request: HttpRequest) -> Job | None:
    jobs.mark_lost()
    mine = Job.objects.filter(pk__in=request.session.get(_MINE, []))
    found: Job | None = mine.filter(state__in=(JobState.QUEUED, JobState.RUNNING)).first()
    return found


def _mine(request: HttpRequest, pk: uuid.UUID) -> Job:
    """The visitor's own job; any other is as unknown as one that never was."""
    if str(pk) not in request.session.get(_MINE, []):
        raise Http404("There is no such job of yours; start it again from the plan.")
    jobs.mark_lost()
    found: Job | None = Job.objects.select_related("team").filter(pk=pk).first()
    if found is None:
        raise Http404("This job is gone; start it again from the plan.")
    return found


@open_page
@require_safe
def show(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """The bar, asked for again by itself until it is full; then the answer."""
    job = _mine(request, pk)
    query = QueryDict(job.arguments["address"])
    if job.state == JobState.SUCCEEDED:
        if getattr(request, "htmx", False):
            done = HttpResponse()
            done["HX-Redirect"] = reverse("futures", args=[job.pk])
            return done
        shown = query.copy()
        if request.GET.get("scenario"):
            shown["scenario"] = request.GET["scenario"]
        outcome = Outcome(job.arguments["request"], answered_by(job))
        return render(request, "web/plan/answer.html", answer_context(shown, outcome))
    context = {"job": job, "address": query.urlencode()}
    whole = not getattr(request, "htmx", False)
    template = "web/plan/futures.html" if whole else "web/plan/futures_bar.html"
    return render(request, template, context)


@open_page
@require_POST
def cancel(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    job = _mine(request, pk)
    with suppress(WrongStateError):  # it ended by itself, which the page says
        jobs.cancel(access_to(request), job)
    return redirect("futures", pk)
