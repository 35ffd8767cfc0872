"""Published runs of vision, speech, diffusion, biology: what FLOPs alone predict of them. PURE.

`sample_runs.csv` holds one run a row: its work as samples and FLOPs of a sample's forward pass, or
as FLOPs of the whole training. A row is not stated where its FLOPs were worked out from its hours,
or do not go with them; such rows are carried and neither fitted nor judged.

Rows that rules 5 added (`since` 5) are whole trainings and measured rates of training on images,
chosen by a rule that looks at no error:

- whoever wrote the code states the images and the kind and number of accelerators; FLOPs are those
  of the same page or of a published table of the same architecture;
- left out: papers read at second hand, accelerators inferred, hours expected or rounded to a fifth
  or more of themselves, and rows whose source leaves epochs, nodes or the work of a step open;
- rows of one code alike in all but the number of images count once, the longest;
- of more than eight rows of one code eight stay, evenly spaced in order of FLOPs of an image,
  accelerator, precision and number of accelerators, the first and the last among them.

A precision that a page leaves out is the default of its code then. A team is who wrote the code.
Where an image is passed more or less than once forward and backward (a frozen copy, patches left
out), the FLOPs are those of what is passed, over 3; each crop of an image is a sample.

`code` follows from what a source says of its code, and from nothing else: `hand_tuned` where speed
was its aim (a vendor's own benchmark or examples of performance, an entry in a contest for training
time, a library or rewrite that says it is faster), `first_version` where it is the code that one
paper was published with, else `standard`: a library or framework that others use, or its example.
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
IMAGES = ("detection", "vision classification", "vision-language", "vision", "image latents")
"""Domains of images, 2026."""


@dataclass(frozen=True)
class SampleRun:
    """One run as published."""

    run: str
    team: str
    domain: str
    architecture: str
    """convolutional, depthwise, transformer or detector; empty where its source leaves it open."""
    parameters: float | None
    forward_flops: float | None
    """Of one sample; None where only those of the whole training are known."""
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
    since: int
    """First edition of the rules that uses it."""
    loader: str
    """How images were read: hand_tuned (its source names a loader written for speed) or usual;
    empty where no images were."""
    code: str
    """How well tuned the code is, as for trainings; empty where no images were."""
    note: str

    @property
    def is_images(self) -> bool:
        """Whether it classifies, finds or embeds images."""
        return self.domain in IMAGES


@cache
def sample_runs(rules: int) -> tuple[SampleRun, ...]:
    """Every row of the table that an edition of the rules uses.

    >>> len(sample_runs(3)), sum(run.is_stated for run in sample_runs(3))
    (44, 25)
    >>> sum(run.is_stated and run.is_images for run in sample_runs(5))
    139
    """
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        runs = [_run(row) for row in csv.DictReader(lines)]
    return tuple(run for run in runs if run.since <= rules)


def _run(row: dict[str, str]) -> SampleRun:
    gflops = row["forward_gflops_per_sample"]
    forward = float(gflops) * 1e9 if gflops else None
    if forward is None:
        total = float(row["training_flops"])
    else:
        total = TRAINING_FACTOR * forward * float(row["samples"])
    return SampleRun(
        run=row["run"],
        team=row["team"],
        domain=row["domain"],
        architecture=row["architecture"],
        parameters=float(row["parameters"]) if row["parameters"] else None,
        forward_flops=forward,
        training_flops=total,
        resized_share=float(row["resized_share"] or 1),
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        accelerator_hours=float(row["accelerator_hours"]),
        is_stated=row["is_stated"] == "yes",
        since=int(row["since"]),
        loader=row["loader"],
        code=row["code"],
        note=row["note"],
    )
