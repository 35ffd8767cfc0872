"""What a real run's log or the rate of a pilot says, and how it gets into the plan."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from planner.sizing.calibration.calibration import calibrate as calibrate_log
from planner.web.common.access import open_page
from planner.web.common.view_helpers import submit_form
from planner.web.plan.calibration import (
    LOG_COMMAND,
    MAX_LOG_BYTES,
    LogForm,
    read_log_text,
    suggest_plans,
)
from planner.web.plan.pilot import PilotForm, measure_pilot

_LIMITS = {"log_command": LOG_COMMAND, "most_mb": MAX_LOG_BYTES // 1_000_000}


@open_page
def calibrate(request: HttpRequest) -> HttpResponse:
    """The log is read and forgotten; nothing of it is kept."""
    if request.method == "POST" and "per_second" in request.POST:
        return _pilot(request)
    form = LogForm(request.POST, request.FILES) if request.method == "POST" else LogForm()
    calibration = submit_form(form, lambda values: calibrate_log(read_log_text(values["log"])))
    context = {
        "form": form,
        "pilot_form": PilotForm(plan=request.GET),
        "found": calibration,
        "carried": suggest_plans(calibration) if calibration else [],
        **_LIMITS,
    }
    return render(request, "web/calibrate.html", context, status=400 if form.errors else 200)


def _pilot(request: HttpRequest) -> HttpResponse:
    """The rate of a short run, of the plan in the address or of the model in the form."""
    form = PilotForm(request.POST, plan=request.GET)
    measured = submit_form(form, lambda values: measure_pilot(values, request.GET))
    context = {"form": LogForm(), "pilot_form": form, "pilot": measured, **_LIMITS}
    return render(request, "web/calibrate.html", context, status=400 if form.errors else 200)
