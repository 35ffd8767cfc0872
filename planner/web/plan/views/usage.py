"""Bills and cluster logs: what they say, and the plan that starts from them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from planner.services.teams.team_rates import rules_of
from planner.usage.reading import UnmappedColumns
from planner.web.common.access import open_page
from planner.web.common.current_team import current_team
from planner.web.common.view_helpers import submit_form
from planner.web.plan.usage import (
    MAX_BYTES,
    Uploads,
    UsageForm,
    column_choices,
    describe_answer,
    describe_job,
    read_question,
)
from pricing.common.invalid_input import InvalidInput

SMI = "nvidia-smi"
"""Names the logs that state no hours and that another page reads."""
MAX_MAPPED = 50
"""Most columns that may be mapped."""


@open_page
def usage(request: HttpRequest) -> HttpResponse:
    """The files are read and forgotten. Columns that are close are proposed, and read once they are
    ticked; a small file is carried along meanwhile."""
    team = current_team(request)
    context: dict[str, Any] = {"most_mb": MAX_BYTES // 1_000_000, "rules_team": team}
    if request.method != "POST":
        return render(request, "web/usage.html", context | {"form": UsageForm()})
    form = UsageForm(request.POST, request.FILES)
    mapping = request.POST.getlist("mapping")[:MAX_MAPPED]

    def read(values: dict[str, Any]) -> dict[str, Any]:
        upload = Uploads(values)
        question = read_question(values, mapping, rules_of(team))
        try:
            answer = upload.answer(question, timezone.now().date())
        except UnmappedColumns as refusal:
            return {
                "columns": column_choices(refusal),
                "carried": upload.carry(),
                "carried_name": upload.name[:200],
            }
        except InvalidInput as refusal:
            facts = upload.job_file() if refusal.field.endswith(("file", "header")) else None
            if facts is None:
                context["is_of_calibrate"] = SMI in refusal.message
                raise upload.beside_the_box(refusal) from None
            return {"job": describe_job(facts)}
        return {"answer": describe_answer(answer)}

    context |= submit_form(form, read) or {}
    if context.get("carried"):
        carried = {name: context[name] for name in ("carried", "carried_name")}
        form.data = {**request.POST.dict(), **carried}
    status = 400 if form.errors else 200
    return render(request, "web/usage.html", context | {"form": form}, status=status)
