"""From the rate of a pilot to its figures and to the plan priced with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict

from planner.contract.answer.calibration import PilotFigures
from planner.services.projects.comparisons import calibrate_run
from planner.sizing.calibration.pilot import replaced_by_rate
from planner.web.common.base_form import Form
from planner.web.common.choices import list_choices
from planner.web.common.plan_request import read_plan_request
from planner.web.common.query_codec import drop_empty, number, write

_SIZES = ("parameters", "tokens")


class PilotForm(Form):
    """What was run for some 15 minutes, and how fast."""

    parameters = forms.CharField(label="Model parameters", max_length=30)
    tokens = forms.CharField(label="Training tokens of the whole run", max_length=30)
    accelerator = forms.ChoiceField(label="Accelerator of the pilot")
    accelerators = forms.CharField(label="Accelerators of the pilot", max_length=30)
    per_second = forms.CharField(
        label="Measured rate",
        max_length=30,
        help_text="Of all accelerators together, once the run is warm.",
    )

    def __init__(self, *args: Any, plan: QueryDict, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        workload = plan_workload(plan)
        is_samples = bool(workload) and workload["kind"] == "samples"
        self.unit(per_second="samples/s" if is_samples else "tokens/s")
        chosen = [
            ("", "—"),
            *list_choices("accelerators"),
        ]  # none is taken for the one that was used
        self.fields["accelerator"].choices = chosen  # type: ignore[attr-defined]
        self.unit(parameters="billion", tokens="billion")
        if workload:
            self.fields["accelerator"].initial = workload.get("accelerator")
            for name in _SIZES:
                del self.fields[name]


@dataclass(frozen=True)
class MeasuredPilot:
    """The figures of a pilot, and the address of the plan with its rate."""

    figures: PilotFigures
    address: str


def plan_workload(plan: QueryDict) -> dict[str, Any]:
    """The training or samples of a plan's address; empty where it has none."""
    workload = read_plan_request(drop_empty(plan)).get("workload")
    if not isinstance(workload, dict) or workload.get("kind") not in ("training", "samples"):
        return {}
    return workload if len(workload) > 1 else {}


def measure_pilot(values: dict[str, Any], plan: QueryDict) -> MeasuredPilot:
    """MFU and range by the pilot; refuses by the box what cannot be."""
    sizes = {name: number(values[name], "bn") for name in _SIZES if name in values}
    workload = plan_workload(plan) or {"kind": "training", **sizes}
    pilot = {
        "workload": {**workload, "accelerator": values["accelerator"]},
        "accelerator": values["accelerator"],
        "accelerators": number(values["accelerators"]),
        "per_second": number(values["per_second"]),
    }
    figures = calibrate_run({"pilot": pilot}).pilot
    if figures is None:
        raise LookupError("a pilot that was given has its figures")
    return MeasuredPilot(figures, _address(values, plan, figures))


def _address(values: dict[str, Any], plan: QueryDict, figures: PilotFigures) -> str:
    """The plan with the measured rate in place of every other one."""
    kind = figures.workload["kind"]
    rate = "samples_per_second" if kind == "samples" else "tokens_per_second_per_accelerator"
    replaced = {"edit", *(f"workload.{name}" for name in replaced_by_rate(kind))}
    changes: dict[str, Any] = {name: None for name in plan if name.partition("~")[0] in replaced}
    changes |= {f"workload.{name}~bn": values[name] for name in _SIZES if name in values}
    changes |= {
        "workload.kind": kind,
        "workload.accelerator": figures.accelerator,
        f"workload.{rate}": f"{figures.per_accelerator:.6g}",
    }
    return write(plan, **changes)
