"""From a log's findings to addresses of the plan page."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms

from planner.sizing.calibration.calibration import Calibration
from planner.sizing.calibration.log_text import decode_log
from planner.sizing.calibration.plan_changes import GpuUse
from planner.web.common.base_form import Form
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from pricing.market.offers import HOURS_PER_MONTH

LOG_COMMAND = (
    "nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used,memory.total,"
    "power.draw,power.limit,temperature.gpu,clocks.sm,clocks_event_reasons.active --format=csv -l 5"
)
"""Records a run every five seconds, with every column that the calibration reads."""
MAX_LOG_BYTES = 32_000_000
"""Largest log that the page reads: two days of one line a second from eight GPUs. The command
reads larger ones."""


class LogForm(Form):
    """A log of nvidia-smi."""

    log = forms.FileField(
        label="Log",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.txt,.log,text/csv,text/plain"}),
        allow_empty_file=True,
    )


@dataclass(frozen=True)
class SuggestedPlans:
    """The GPUs of one kind, and the plans that start from what was measured on them."""

    accelerator: str
    count: int
    busy: float
    """Mean share of the log in which they were not idle."""
    hours_address: str
    goodput_address: str
    ceiling_address: str

    @property
    def hours_per_month(self) -> float:
        return self.count * HOURS_PER_MONTH * self.busy


def read_log_text(file: Any) -> str:
    """The uploaded log; refused on `log` where it is too large or no text."""
    if file.size > MAX_LOG_BYTES:
        raise InvalidInput(
            "log",
            f"has {file.size / 1e6:,.1f} MB; at most {MAX_LOG_BYTES / 1e6:,.0f} MB are read here, "
            "more by the command calibrate",
        )
    return decode_log(file.read())


def suggest_plans(calibration: Calibration) -> list[SuggestedPlans]:
    """One entry for each accelerator that the log names and we know."""
    uses_by_accelerator: dict[str, list[GpuUse]] = defaultdict(list)
    for use in calibration.gpus:
        if use.accelerator:
            uses_by_accelerator[use.accelerator].append(use)
    return [_suggest_plans(slug, uses) for slug, uses in uses_by_accelerator.items()]


def _suggest_plans(slug: str, uses: list[GpuUse]) -> SuggestedPlans:
    busy = statistics.fmean(use.busy_share for use in uses)
    hours = len(uses) * HOURS_PER_MONTH * busy
    at_hours = {
        "workload.kind": "accelerator_hours",
        "workload.accelerator": slug,
        "workload.hours_per_month": f"{hours:.0f}",
        "workload.peak_accelerators": str(len(uses)),
    }
    percent = f"{busy * 100:.1f}"
    of_model = {"workload.kind": "training", "workload.accelerator": slug}
    return SuggestedPlans(
        accelerator=get(slug).name,
        count=len(uses),
        busy=busy,
        hours_address=urlencode(at_hours),
        goodput_address=urlencode(of_model | {"workload.goodput~pct": percent}),
        ceiling_address=urlencode(at_hours | {"on_prem.utilisation_ceiling~pct": percent}),
    )
