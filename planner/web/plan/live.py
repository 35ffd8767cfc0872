"""The answer so far, beside the form: hours, memory and fit, demand by month, totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.http import QueryDict

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import comes_first
from planner.services.projects.comparisons import ComparisonOutcome
from planner.sizing.estimate import Estimate, estimate
from planner.sizing.runs.run_figures import figures
from planner.web.common.form_fields import with_labels
from planner.web.common.query_codec import write
from pricing.common.invalid_input import InvalidInput

PICTURE_WIDTH, PICTURE_HEIGHT = 240, 60
"""Size of the small picture of the demand, in its own units."""


@dataclass(frozen=True)
class DemandMonth:
    """One month of the demand, and its bar in the small picture."""

    label: str
    hours: float
    peak: float
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Fit:
    """Memory and fewest accelerators of a training, and whether a CPU would do."""

    memory_gib: float | None
    min_accelerators: int | None
    cpu_is_enough: bool


@dataclass(frozen=True)
class Live:
    """What the panel shows; without an answer, what is still missing."""

    refusals: tuple[InvalidInput, ...] = ()
    answer: ComparisonAnswer | None = None
    months: tuple[DemandMonth, ...] = ()
    fit: Fit | None = None
    """Of a training, where it can be sized."""
    month_by_month: str = ""
    """Address of the same plan with its hours given month by month."""
    view_box: str = f"0 0 {PICTURE_WIDTH} {PICTURE_HEIGHT}"

    @property
    def first_warnings(self) -> list[str]:
        """Those that have to be seen beside the figures."""
        sentences = self.answer.warnings if self.answer else ()
        return [*map(with_labels, filter(comes_first, sentences))]

    @property
    def highest(self) -> float:
        return max((month.hours for month in self.months), default=0.0)


def build_live_panel(query: QueryDict, outcome: ComparisonOutcome) -> Live:
    if not outcome.has_answer:
        return Live(outcome.errors)
    answer = outcome.answer
    return Live(
        answer=answer,
        months=tuple(demand_months(answer)),
        month_by_month=month_by_month(query, answer),
        fit=_fit(outcome.request, answer.demand.accelerator),
    )


def demand_months(answer: ComparisonAnswer) -> list[DemandMonth]:
    """Hours and peak of each month; the tallest bar fills the picture."""
    hours = answer.demand.hours_per_month
    highest, step = max(hours, default=0) or 1, PICTURE_WIDTH / max(len(hours), 1)
    bars = [round(PICTURE_HEIGHT * value / highest, 2) for value in hours]
    return [
        DemandMonth(
            label=label,
            hours=hours[i],
            peak=answer.demand.peak_accelerators[i],
            x=round(i * step, 2),
            y=PICTURE_HEIGHT - bars[i],
            width=round(step * 0.8, 2),
            height=bars[i],
        )
        for i, label in enumerate(answer.months)
    ]


def month_by_month(query: QueryDict, answer: ComparisonAnswer) -> str:
    """The plan with the hours that its runs give, to be changed one by one."""
    demand = answer.demand
    others = {name: None for name in query if name.startswith("workload.")}
    hours_by_month = {
        "workload.kind": "accelerator_hours",
        "workload.accelerator": demand.accelerator,
        "workload.hours_per_month": "\n".join(f"{h:.6g}" for h in demand.hours_per_month),
        "workload.peak_accelerators": f"{ceil(demand.highest_peak)}",
        "start": answer.start,
        "edit": "1",
    }
    return write(query, **(others | hours_by_month))


def estimate_plan(request: Mapping[str, Any], accelerator: str | None = None) -> Estimate:
    """The sizing of a request's workload; fields of costing alone are left out."""
    sized = {name: request[name] for name in ("workload", "rules") if name in request}
    return estimate({**sized, "accelerator": accelerator} if accelerator else sized)


def _fit(request: Mapping[str, Any], accelerator: str) -> Fit | None:
    if request["workload"].get("kind") != "training":
        return None
    try:
        estimated = estimate_plan(request, accelerator)
    except InvalidInput:
        return None
    sized = figures(estimated.size)
    return Fit(
        memory_gib=sized.memory_per_accelerator_gib,
        min_accelerators=sized.min_accelerators,
        cpu_is_enough=bool(estimated.cpu.is_enough),
    )
