"""The form for files of usage, and the way from their demand to the plan form."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import io
from typing import Any, BinaryIO
from urllib.parse import urlencode

from django import forms

from planner.contract.months import shift_month
from planner.contract.purchase_options import TRAITS
from planner.services.work_budget import stop_where_nobody_waits
from planner.usage.demand.forecast import MAX_MONTHS
from planner.usage.demand.history import list_accelerators
from planner.usage.demand.plan import Demand
from planner.usage.job_files.facts import JobFacts
from planner.usage.job_files.reading import read_job_file
from planner.usage.projects import ProjectRule
from planner.usage.question import (
    WAITING_BYTES,
    WAITING_FILES,
    WAITING_ROWS,
    UsageAnswer,
    UsageQuestion,
    answer_usage,
    split_list,
)
from planner.usage.reading import UnmappedColumns
from planner.web.common.base_form import Form
from planner.web.common.formatting import words
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators

MAX_BYTES = 64_000_000
"""Most that the page reads at once: about a million lines of a bill, compressed. The command reads
more."""
MAX_CARRIED_BYTES = 600_000
"""Largest file that the page carries along while its columns are settled; a larger one has to be
chosen again."""
MAX_JOB_FILE_BYTES = 1_000_000
SHOWN_LINES, SHOWN_PROBLEMS = 200, 10
MAX_TAKEN_OVER = 20
"""Most commitments that the address of a plan takes along."""


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Any number of files; an empty list where none is sent."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        several = data if isinstance(data, list | tuple) else [data]
        cleaned = (super(FilesField, self).clean(one, initial) for one in several)
        return [file for file in cleaned if file]


class UsageForm(Form):
    """A bill or a log, and what its reader says about it."""

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
    project_by = forms.CharField(
        label="Project by",
        required=False,
        max_length=500,
        help_text="where its name stands, in order: tag:NAME, account, user",
    )
    start = forms.CharField(label="From", required=False, max_length=7, help_text="like 2027-01")
    accelerator = forms.CharField(
        label="Accelerator", required=False, max_length=120, help_text="the most used if left empty"
    )
    past_run = forms.CharField(
        label="Past runs that will not come again",
        required=False,
        max_length=2_000,
        help_text="2026-03=8000:Pretraining, separated by commas",
    )
    add_run = forms.CharField(
        label="Known runs to come",
        required=False,
        max_length=2_000,
        help_text="2027-05=20000:Next model, separated by commas",
    )
    rules = forms.CharField(
        label="Rules of projects",
        required=False,
        max_length=5_000,
        help_text="tag:team:ml-*=Vision, account:4711=Speech, partition:dev=Trials; before those "
        "of the team",
    )
    idle_price = forms.CharField(
        label="Price of an idle accelerator-hour",
        required=False,
        max_length=40,
        help_text="where no bill says it: 2.10, or 1.95 EUR",
    )
    commitment_ends = forms.CharField(
        label="Ends of commitments",
        required=False,
        max_length=2_000,
        help_text="which bills do not say: ri-1=2028-06, separated by commas",
    )
    report_month = forms.CharField(
        label="Month of the report", required=False, max_length=7, help_text="if it states none"
    )
    report_unit = forms.ChoiceField(
        label="Unit of the report",
        required=False,
        choices=[("", "as it states"), *((u, u) for u in ("seconds", "minutes", "hours"))],
    )
    fields_in_order = forms.CharField(
        label="Columns of a Slurm log without a header", required=False, max_length=2_000
    )
    carried = forms.CharField(required=False, widget=forms.HiddenInput, max_length=900_000)
    carried_name = forms.CharField(required=False, widget=forms.HiddenInput, max_length=200)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.unit(months="months")

    @property
    def has_folded_errors(self) -> bool:
        """Whether a box below the first two, which the page folds, was refused."""
        return any(field.errors for field in self.visible_fields()[2:])


def read_question(
    values: dict[str, Any], mapping: list[str], team_rules: tuple[ProjectRule, ...] = ()
) -> UsageQuestion:
    """What the form asks; `mapping` are the columns that were agreed to."""
    months = values["months"]
    return UsageQuestion(
        by=("month", "provider", "accelerator", "option", "project"),
        project_by=split_list(values["project_by"]) or UsageQuestion.project_by,
        map=tuple(mapping),
        fields=split_list(values["fields_in_order"]),
        unit=values["report_unit"],
        month=values["report_month"],
        forecast_months=UsageQuestion.forecast_months if months is None else months,
        start=values["start"],
        accelerator=values["accelerator"] or None,
        past_run=split_list(values["past_run"]),
        add_run=split_list(values["add_run"]),
        rule=split_list(values["rules"]),
        team_rules=team_rules,
        idle_price=values["idle_price"],
        commitment_end=split_list(values["commitment_ends"]),
        max_bytes=WAITING_BYTES,
        max_rows=WAITING_ROWS,
        on_rows=stop_where_nobody_waits,
    )


class Uploads:
    """The files that were sent, or the one that was carried along."""

    def __init__(self, values: dict[str, Any]) -> None:
        files = values["file"]
        if files:
            self._size = sum(file.size for file in files)
            if self._size > MAX_BYTES:
                raise InvalidInput(
                    "file",
                    f"has {self._size / 1e6:,.1f} MB; at most {MAX_BYTES / 1e6:,.0f} MB are read "
                    "here, more by the command usage",
                )
            if len(files) > WAITING_FILES:
                problem = f"are {len(files)}; at most {WAITING_FILES} are read here"
                raise InvalidInput("file", problem)
            self._files: list[tuple[str, BinaryIO]] = [(f.name or "", f.file) for f in files]
        elif values["carried"]:
            try:
                content = base64.b64decode(values["carried"], validate=True)
            except (binascii.Error, ValueError):
                raise InvalidInput("file", "was lost on the way; choose it again") from None
            self._files = [(values["carried_name"], io.BytesIO(content))]
            self._size = len(content)
        else:
            raise InvalidInput("file", "is missing; choose a bill or a log")

    @property
    def name(self) -> str:
        return self._files[0][0]

    def carry(self) -> str:
        """The file as text for a hidden field; empty where it is too large or one of several."""
        if self._size > MAX_CARRIED_BYTES or len(self._files) > 1:
            return ""
        return base64.b64encode(self._content()).decode("ascii")

    def job_file(self) -> JobFacts | None:
        """The facts of a job file; None where the file is none."""
        if self._size > MAX_JOB_FILE_BYTES or len(self._files) > 1:
            return None
        try:
            return read_job_file(self._content().decode("utf-8-sig"), self.name)
        except (InvalidInput, UnicodeDecodeError):
            return None

    def answer(self, question: UsageQuestion, today: dt.date) -> UsageAnswer:
        return answer_usage(self._files, question, today)

    def beside_the_box(self, refusal: InvalidInput) -> InvalidInput:
        """What refuses a file, beside the box of files: the names of files hold dots, which are
        no paths of fields."""
        for name, _ in self._files:
            if name and refusal.field.startswith(f"{name}."):
                place = refusal.field.removeprefix(f"{name}.")
                where = name if place == "file" else f"{name}, {place}"
                return InvalidInput("file", f"{where}: {refusal.message}")
        return refusal

    def _content(self) -> bytes:
        stream = self._files[0][1]
        stream.seek(0)
        return stream.read()


def column_choices(refusal: UnmappedColumns) -> list[tuple[str, str]]:
    """Value and label of each column that is proposed."""
    return [
        (f"{name}={column}", f"{name} as {words(column)}")
        for name, column in refusal.proposed.items()
    ]


def plan_address(answer: UsageAnswer) -> str:
    """The plan form with this demand and what is signed filled in; empty where the accelerator is
    not known. What is missing of a commitment stays an empty box."""
    demand = answer.demand
    device = None if demand is None else accelerators.find(demand.history.accelerator)
    if demand is None or device is None:
        return ""
    signed = answer.for_a_plan[:MAX_TAKEN_OVER]
    return urlencode(
        ({"currency": answer.currencies[0]} if signed else {})
        | {
            "start": demand.start,
            "horizon_months": len(demand.hours_per_month),
            "workload.kind": "accelerator_hours",
            "workload.accelerator": device.slug,
            "workload.hours_per_month": _column(demand.hours_per_month),
            "workload.peak_accelerators": _column(demand.peak_accelerators),
        }
        | {
            f"existing.commitments.{index}.{name}": value
            for index, one in enumerate(signed)
            for name, value in one.entry.items()
        }
    )


def describe_job(facts: JobFacts) -> dict[str, Any]:
    """What the template shows of a job file, and the plan form as far as it fills it."""
    workload = facts.request(runs_per_month=1.0)["workload"]
    return {"facts": facts, "address": urlencode({f"workload.{k}": v for k, v in workload.items()})}


def _column(values: list[float] | list[int]) -> str:
    texts = [f"{value:.8g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else "\n".join(texts)


def demand_rows(demand: Demand) -> list[dict[str, Any]]:
    """A row a month, as the table shows it."""
    return [
        {
            "month": shift_month(demand.start, step),
            "hours": hours,
            "p10": demand.p10[step] if demand.p10 else None,
            "p90": demand.p90[step] if demand.p90 else None,
            "peak": demand.peak_accelerators[step],
        }
        for step, hours in enumerate(demand.hours_per_month)
    ]


def describe_answer(answer: UsageAnswer) -> dict[str, Any]:
    """What the template shows."""
    usage, demand = answer.usage, answer.demand
    figures = usage.as_dict(answer.by)
    return {
        "figures": figures,
        "files": usage.files,
        "problems": usage.ledger.problems.most_common(SHOWN_PROBLEMS),
        "use": usage.lines(*answer.by)[:SHOWN_LINES],
        "option_labels": {name: traits.label for name, traits in TRAITS.items()},
        "has_more": len(figures["use"]) > SHOWN_LINES,
        "has_slices": any(row["slice_hours"] for row in figures["months"]),
        "accelerators": [name for name in list_accelerators(usage) if name],
        "demand": demand,
        "demand_rows": demand_rows(demand) if demand else [],
        "plan_address": plan_address(answer),
        "idle": answer.idle[:SHOWN_LINES],
        "is_price_missing": any(row["cost"] is None for row in answer.idle),
        "taken_over": answer.taken_over,
        "is_taken_along": bool(answer.for_a_plan),
        "no_demand_because": answer.no_demand_because,
        "notes": [*figures["notes"], *(demand.notes if demand else ())],
    }
