"""What a real run's nvidia-smi log says, and how it gets into the plan."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from planner.sizing.calibration.calibration import calibrate as read_log_text
from planner.web.common.access import open_page
from planner.web.common.view_helpers import sent
from planner.web.plan.calibration import LOG_COMMAND, MAX_LOG_BYTES, LogForm, carried, text_of


@open_page
def calibrate(request: HttpRequest) -> HttpResponse:
    """The log is read and forgotten; nothing of it is kept."""
    form = LogForm(request.POST, request.FILES) if request.method == "POST" else LogForm()
    found = sent(form, lambda values: read_log_text(text_of(values["log"])))
    context = {
        "form": form,
        "found": found,
        "carried": carried(found) if found else [],
        "log_command": LOG_COMMAND,
        "most_mb": MAX_LOG_BYTES // 1_000_000,
    }
    return render(request, "web/calibrate.html", context, status=400 if form.errors else 200)
