"""Usage: bills, logs and job files, and the plans that start
from them. Files are read and forgotten.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO, ClassVar
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from planner.contract.labels import TRAITS
from planner.services.teams.teams import rules_of
from planner.usage.demand import list_accelerators
from planner.usage.forecast import MAX_MONTHS
from planner.usage.job_files import read_job_file
from planner.usage.job_files.facts import JobFacts
from planner.usage.projects import ProjectRule
from planner.usage.projects_together import build_portfolio
from planner.usage.question import (
    MAX_GROWTH,
    WAITING_BYTES,
    WAITING_FILES,
    WAITING_ROWS,
    UsageAnswer,
    UsageQuestion,
    answer_usage,
    split_list,
)
from planner.web.common.forms import Form
from planner.web.common.views import current_team, open_page, submit_form
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators


@open_page
def usage(request: HttpRequest) -> HttpResponse:
    is_sent = request.method == "POST"
    form = UsageForm(request.POST, request.FILES) if is_sent else UsageForm()

    def read(values: dict[str, Any]) -> dict[str, Any]:
        upload = Uploads(values["file"])
        question = read_question(values, rules_of(current_team(request)))
        try:
            answer = answer_usage(upload.files, question, timezone.now().date())
        except InvalidInput as refusal:
            facts = upload.job_file() if upload.is_of_no_form(refusal) else None
            if facts is None:
                raise upload.beside_the_box(refusal) from None
            work = facts.request(runs_per_month=1.0)["workload"]
            address = urlencode({f"workload.{name}": value for name, value in work.items()})
            return {"job": {"facts": facts, "address": address}}
        return {"answer": describe_answer(answer), **_together(request, answer, question)}

    context: dict[str, Any] = {
        "form": form,
        "most_mb": MAX_BYTES // 1_000_000,
        "rules_team": current_team(request),
        **((submit_form(form, read) or {}) if is_sent else {}),
    }
    status = 400 if is_sent and form.errors else 200
    return render(request, "web/usage.html", context, status=status)


MEANINGS = "accelerator_meanings"
"""In the session: what a name of an accelerator in files means."""


def _together(request: HttpRequest, answer: UsageAnswer, question: UsageQuestion) -> dict[str, Any]:
    known = request.session.get(MEANINGS, {})
    try:
        built = build_portfolio(answer.usage, question, f"{timezone.now():%Y-%m}", known)
    except InvalidInput:
        return {}
    return {"fleet": built, "portfolio": json.dumps(built.request)}


MAX_BYTES = 64_000_000
"""Most that the page reads at once: about a million lines of a bill, compressed. The command reads
more."""
MAX_JOB_FILE_BYTES = 1_000_000
SHOWN_LINES, SHOWN_PROBLEMS = 200, 10


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files; an empty list where none is sent."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        several = data if isinstance(data, list | tuple) else [data]
        cleaned = (super(FilesField, self).clean(one, initial) for one in several)
        return [file for file in cleaned if file]


def _text(label: str, length: int, hint: str) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=length, help_text=hint)


class UsageForm(Form):
    file = FilesField(
        label="Bills or logs",
        required=False,
        allow_empty_file=True,
        help_text="several are added up, such as a bill for each month",
    )
    months = forms.IntegerField(
        label="Forecast",
        min_value=0,
        max_value=MAX_MONTHS,
        initial=UsageQuestion.forecast_months,
        required=False,
    )
    growth = forms.DecimalField(
        label="Growth",
        required=False,
        min_value=-100,
        max_value=MAX_GROWTH * 100,
        help_text="on the year before, 40 for 40 % more; as forecast if left empty",
    )
    project_by = _text(
        "Project by", 500, "where its name stands, in order: tag:NAME, account, user"
    )
    start = _text("From", 7, "like 2027-01")
    accelerator = _text("Accelerator", 120, "the most used if left empty")
    rules = _text(
        "Rules of projects",
        5_000,
        "tag:team:ml-*=Vision, account:4711=Speech, partition:dev=Trials; before those of the team",
    )
    idle_price = _text(
        "Price of an idle accelerator-hour", 40, "where no bill says it: 2.10, or 1.95 EUR"
    )
    units: ClassVar = {"months": "months", "growth": "%"}

    @property
    def has_folded_errors(self) -> bool:
        return any(field.errors for field in self.visible_fields()[3:])


def read_question(
    values: dict[str, Any], team_rules: tuple[ProjectRule, ...] = ()
) -> UsageQuestion:
    months = values["months"]
    return UsageQuestion(
        by=("month", "provider", "accelerator", "option", "project"),
        project_by=split_list(values["project_by"]) or UsageQuestion.project_by,
        forecast_months=UsageQuestion.forecast_months if months is None else months,
        growth=None if values["growth"] is None else float(values["growth"]) / 100,
        start=values["start"],
        accelerator=values["accelerator"] or None,
        rule=split_list(values["rules"]),
        team_rules=team_rules,
        idle_price=values["idle_price"],
        max_bytes=WAITING_BYTES,
        max_rows=WAITING_ROWS,
    )


class Uploads:
    def __init__(self, files: list[Any]) -> None:
        if not files:
            raise InvalidInput("file", "is missing; choose a bill or a log")
        self._size = sum(file.size for file in files)
        if self._size > MAX_BYTES:
            raise InvalidInput(
                "file",
                f"has {self._size / 1e6:,.1f} MB; at most {MAX_BYTES / 1e6:,.0f} MB are read "
                "here, more by the command usage",
            )
        if len(files) > WAITING_FILES:
            raise InvalidInput("file", f"are {len(files)}; at most {WAITING_FILES} are read here")
        self.files: list[tuple[str, BinaryIO]] = [(f.name or "", f.file) for f in files]

    def job_file(self) -> JobFacts | None:
        """The facts of a job file; None where the file is none."""
        if self._size > MAX_JOB_FILE_BYTES or len(self.files) > 1:
            return None
        try:
            name, stream = self.files[0]
            stream.seek(0)
            return read_job_file(stream.read().decode("utf-8-sig"), name)
        except (InvalidInput, UnicodeDecodeError):
            return None

    def is_of_no_form(self, refusal: InvalidInput) -> bool:
        names = {"file", *(name for name, _ in self.files)}
        return refusal.field in names or refusal.field.endswith("header")

    def beside_the_box(self, refusal: InvalidInput) -> InvalidInput:
        """What refuses a file, beside the box of files."""
        is_of_file = any(name and refusal.field.startswith(name) for name, _ in self.files)
        return InvalidInput("file", str(refusal)) if is_of_file else refusal


def plan_address(answer: UsageAnswer) -> str:
    """The plan form with this demand filled in; empty where the accelerator is not known."""
    demand = answer.demand
    device = None if demand is None else accelerators.find(demand.history.accelerator)
    if demand is None or device is None:
        return ""
    return urlencode(
        {
            "start": demand.start,
            "horizon_months": len(demand.hours_per_month),
            "workload.kind": "accelerator_hours",
            "workload.accelerator": device.slug,
            "workload.hours_per_month": _column(demand.hours_per_month),
            "workload.peak_accelerators": _column(demand.peak_accelerators),
        }
    )


def _column(values: list[float] | list[int]) -> str:
    texts = [f"{value:.8g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else "\n".join(texts)


_OPTIONAL = ("slice_hours", "instance_hours", "billed", "amortised")
"""Columns of use that are left out where no line has a figure."""


def describe_answer(answer: UsageAnswer) -> dict[str, Any]:
    usage, demand = answer.usage, answer.demand
    figures, use = usage.as_dict(answer.by), usage.lines(*answer.by)[:SHOWN_LINES]
    return {
        "figures": figures,
        "files": usage.files,
        "problems": usage.ledger.problems.most_common(SHOWN_PROBLEMS),
        "use": use,
        "option_labels": {name: traits.label for name, traits in TRAITS.items()},
        "has_more": len(figures["use"]) > SHOWN_LINES,
        "shown": {
            "option": any(line.group["option"] for line in use),
            "project": any(line.group["project"] for line in use),
            **{name: any(getattr(line, name) for line in use) for name in _OPTIONAL},
        },
        "accelerators": [name for name in list_accelerators(usage) if name],
        "demand": demand,
        "demand_rows": demand.rows() if demand else [],
        "plan_address": plan_address(answer),
        "idle": answer.idle[:SHOWN_LINES],
        "is_price_missing": any(row["cost"] is None for row in answer.idle),
        "no_demand_because": answer.no_demand_because,
        "notes": [*figures["notes"], *(demand.notes if demand else ())],
    }
