"""Published runs of vision, speech, diffusion, biology: what FLOPs alone predict of them. PURE.

`sample_runs.csv` holds one run a row: its work as samples and FLOPs of a sample's forward pass, or
as FLOPs of the whole training. A row is not stated where its FLOPs were worked out from its hours,
or do not go with them; such rows are carried and neither fitted nor judged.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("sample_runs.csv")
TRAINING_FACTOR = 3.0
"""FLOPs of forward and backward pass over the forward pass alone (Kaplan et al., arXiv 2001.08361,
2020)."""


@dataclass(frozen=True)
class SampleRun:
    """One run as published."""

    run: str
    team: str
    domain: str
    parameters: float | None
    training_flops: float
    """Of all samples, forward and backward, at the size that the model is known by."""
    resized_share: float
    """Part of them that the run did, as it trained on smaller images; 1 where it did not."""
    precision: str
    """mixed or fp32."""
    accelerator: str
    accelerators: int
    accelerator_hours: float
    is_stated: bool
    loader: str
    """How images were read: hand_tuned (its source names a loader written for speed) or usual;
    empty where no images were."""
    note: str

    @property
    def is_images(self) -> bool:
        """Whether it classifies, finds or embeds images."""
        return self.domain in ("detection", "vision classification", "vision-language", "vision")


@cache
def sample_runs() -> tuple[SampleRun, ...]:
    """Every row of the table.

    >>> len(sample_runs()), sum(run.is_stated for run in sample_runs())
    (44, 25)
    """
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_run(row) for row in csv.DictReader(lines))


def _run(row: dict[str, str]) -> SampleRun:
    flops = row["training_flops"]
    if flops:
        total = float(flops)
    else:
        forward = float(row["forward_gflops_per_sample"]) * 1e9
        total = TRAINING_FACTOR * forward * float(row["samples"])
    return SampleRun(
        run=row["run"],
        team=row["team"],
        domain=row["domain"],
        parameters=float(row["parameters"]) if row["parameters"] else None,
        training_flops=total,
        resized_share=float(row["resized_share"] or 1),
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        accelerator_hours=float(row["accelerator_hours"]),
        is_stated=row["is_stated"] == "yes",
        loader=row["loader"],
        note=row["note"],
    )
