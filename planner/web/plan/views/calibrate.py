"""What a real run's nvidia-smi log says, and how it gets into the plan."""

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


@open_page
def calibrate(request: HttpRequest) -> HttpResponse:
    """The log is read and forgotten; nothing of it is kept."""
    form = LogForm(request.POST, request.FILES) if request.method == "POST" else LogForm()
    calibration = submit_form(form, lambda values: calibrate_log(read_log_text(values["log"])))
    context = {
        "form": form,
        "found": calibration,
        "carried": suggest_plans(calibration) if calibration else [],
        "log_command": LOG_COMMAND,
        "most_mb": MAX_LOG_BYTES // 1_000_000,
    }
    return render(request, "web/calibrate.html", context, status=400 if form.errors else 200)
