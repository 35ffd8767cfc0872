"""Ready examples: each is an address of the plan page, so that every figure can be changed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from planner.contract.months import add_months, format_month, next_month


@dataclass(frozen=True)
class Preset:
    title: str
    story: str
    """What somebody with this need would say."""
    values: Mapping[str, str]
    first: dt.date
    """First month of the plan."""
    runs: tuple[tuple[int, int | None], ...] = field(default=())
    """Start and deadline of each run, months from the first; None without a deadline."""

    @property
    def address(self) -> str:
        plan = {"name": self.title, **self.values, "start": format_month(self.first)}
        return urlencode({**plan, **self._dates()})

    def _dates(self) -> dict[str, str]:
        """The months of the runs as the form names them."""
        dates = {}
        for i, (start, deadline) in enumerate(self.runs):
            dates[f"workload.runs.{i}.start"] = format_month(add_months(self.first, start))
            if deadline is not None:
                last = format_month(add_months(self.first, deadline))
                dates[f"workload.runs.{i}.deadline"] = last
        return dates


def list_presets(today: dt.date) -> tuple[Preset, ...]:
    """The examples, their months counted from the one after `today`."""
    first = next_month(today)
    return tuple(
        Preset(title, story, values, first, _RUNS.get(title, ()))
        for title, story, values in _EXAMPLES
    )


_RUNS: Mapping[str, tuple[tuple[int, int | None], ...]] = {
    "Fine-tune a 7B model": ((0, None), (3, None), (6, None), (9, None)),
    "Pre-train a 7B model twice": ((0, 11), (12, 23)),
}
"""The runs of the examples that say how many there are."""
_EXAMPLES: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    (
        "Fine-tune a 7B model",
        "We adapt a 7-billion-parameter language model to our documents, four times a year.",
        {
            "workload.kind": "training",
            "workload.parameters~bn": "7",
            "workload.tokens~bn": "2",
            "workload.optimizer": "lora",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.experiments_factor": "3",
            "horizon_months": "12",
        },
    ),
    (
        "Pre-train a 7B model twice",
        "We train a 7-billion-parameter model from scratch, twice within two years.",
        {
            "workload.kind": "training",
            "workload.parameters~bn": "7",
            "workload.tokens~bn": "1000",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.accelerator": "nvidia-h100-80gb-sxm",
            "workload.experiments_factor": "1.5",
            "horizon_months": "24",
        },
    ),
    (
        "Vision model",
        "We train an image classifier on ImageNet-sized data and try many variants.",
        {
            "workload.kind": "samples",
            "workload.samples~mn": "1.28",
            "workload.epochs": "90",
            "workload.benchmark": "resnet-50-v1.5-imagenet-ngc",
            "workload.experiments_factor": "20",
            "horizon_months": "24",
        },
    ),
    (
        "70B language model",
        "We continue training a 70-billion-parameter model on our own text.",
        {
            "workload.kind": "training",
            "workload.parameters~bn": "70",
            "workload.tokens~bn": "100",
            "workload.precision": "bf16",
            "workload.sequence_length": "4096",
            "workload.accelerator": "nvidia-h100-80gb-sxm",
            "horizon_months": "36",
        },
    ),
    (
        "Steady GPU-hours",
        "Our group uses eight H100 around the clock for three years.",
        {
            "workload.kind": "accelerator_hours",
            "workload.accelerator": "nvidia-h100-80gb-sxm",
            "workload.hours_per_month": "5840",
            "horizon_months": "36",
        },
    ),
)
