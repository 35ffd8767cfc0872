"""Published runs of vision, speech, diffusion, biology: what FLOPs alone predict of them. PURE.

`sample_runs.csv` holds one run a row: its work as samples and FLOPs of a sample's forward pass, or
as FLOPs of the whole training. A row is not stated where its FLOPs were worked out from its hours,
or do not go with them; such rows are carried and neither fitted nor judged.

Most rows are whole trainings and measured rates of training on images,
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

import difflib
import re
from dataclasses import dataclass
from functools import cache

from planner.sizing.evidence import read_rows, typed
from pricing.common.invalid_input import InvalidInput

_SUITE = re.compile(
    r"(-\d+)?-(lambda|ngc|nvlabs|llm-foundry|megatron-bridge|maxtext|mlperf-[\d.]+)$"
)
MIXED, FULL, LOW = "mixed", "fp32", "low"
"""Classes of precision in which rates compare: 16-bit tensor, 32-bit (TF32 where the
accelerator has it), 8 and 4 bits."""
_PRECISION_CLASSES = {"mixed": MIXED, "fp32": FULL, "fp8": LOW, "fp4": LOW}


@dataclass(frozen=True)
class Measurement:
    """Rate of one benchmark on `accelerators` of one kind together."""

    benchmark: str
    workload_class: str
    """nlp, vision, audio or sparse."""
    precision: str
    """mixed (16 bits), fp32, fp8 or fp4."""
    accelerator: str
    accelerators: int
    rate_per_second: float
    unit: str
    year: int
    source: str

    @property
    def workload(self) -> str:
        """The benchmark without its suite and sequence length: ssd-lambda → ssd."""
        return _SUITE.sub("", self.benchmark)

    @property
    def precision_class(self) -> str:
        return _PRECISION_CLASSES[self.precision]


@cache
def measurements() -> tuple[Measurement, ...]:
    """Every row of the table."""
    return tuple(typed(Measurement, row) for row in read_rows("measured_throughput"))


@cache
def benchmarks() -> dict[str, tuple[Measurement, ...]]:
    """Benchmarks that can size a workload of samples: those counted in samples, by slug."""
    grouped: dict[str, list[Measurement]] = {}
    for row in measurements():
        if row.unit not in ("runs", "model_tflop"):
            grouped.setdefault(row.benchmark, []).append(row)
    return {slug: tuple(rows) for slug, rows in grouped.items()}


def benchmark(slug: str) -> tuple[Measurement, ...]:
    """Measurements of one benchmark; refuses an unknown one with the closest."""
    rows = benchmarks().get(slug)
    if rows:
        return rows
    near = difflib.get_close_matches(slug, benchmarks(), n=5, cutoff=0.3) or sorted(benchmarks())
    raise InvalidInput("benchmark", f"{slug!r} is not known; closest are {', '.join(near)}")


TRAINING_FACTOR = 3.0
"""FLOPs of forward and backward pass over the forward pass alone (Kaplan et al., arXiv 2001.08361,
2020)."""
IMAGES = ("detection", "vision classification", "vision-language", "vision", "image latents")
"""Domains of images, 2026."""


@dataclass(frozen=True, kw_only=True)
class SampleRun:
    """One run as published."""

    run: str
    team: str
    domain: str
    architecture: str = ""
    """convolutional, depthwise, transformer or detector; empty where its source leaves it open."""
    parameters: float | None = None
    forward_flops: float | None = None
    """Of one sample; None where only those of the whole training are known."""
    training_flops: float
    """Of all samples, forward and backward, at the size that the model is known by."""
    resized_share: float = 1.0
    """Part of them that the run did, as it trained on smaller images; 1 where it did not."""
    precision: str
    """mixed or fp32."""
    accelerator: str
    accelerators: int
    accelerator_hours: float
    is_stated: bool
    loader: str = ""
    """How images were read: hand_tuned (its source names a loader written for speed) or usual;
    empty where no images were."""
    code: str = ""
    """How well tuned the code is, as for trainings; empty where no images were."""

    @property
    def is_images(self) -> bool:
        """Whether it classifies, finds or embeds images."""
        return self.domain in IMAGES


@cache
def sample_runs() -> tuple[SampleRun, ...]:
    """Every row of the table.

    >>> sum(run.is_stated and run.is_images for run in sample_runs())
    139
    """
    runs = []
    for row in read_rows("sample_runs"):
        own: dict[str, object] = {}
        if "forward_gflops_per_sample" in row:
            forward = float(row["forward_gflops_per_sample"]) * 1e9
            total = TRAINING_FACTOR * forward * float(row["samples"])
            own = {"forward_flops": forward, "training_flops": total}
        runs.append(typed(SampleRun, row | own))
    return tuple(runs)
