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

import csv
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pricing.common.invalid_input import InvalidInput

_MEASURED_THROUGHPUT_TABLE = Path(__file__).with_name("measured_throughput.csv")
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
    systems: int
    """Systems whose rates were averaged."""
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
    with _MEASURED_THROUGHPUT_TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_measurement(row) for row in csv.DictReader(lines))


@cache
def benchmarks() -> dict[str, tuple[Measurement, ...]]:
    """Benchmarks that can size a workload of samples: those counted in samples, by slug.

    >>> sorted({m.unit for rows in benchmarks().values() for m in rows})
    ['images', 'mel_frames', 'samples', 'sequences', 'tokens']
    """
    return {
        slug: rows
        for slug, rows in _by_benchmark(measurements())
        if (rows[0].unit not in ("runs", "model_tflop"))
    }


def benchmark(slug: str) -> tuple[Measurement, ...]:
    """Measurements of one benchmark; refuses an unknown one with the closest.

    >>> benchmark("resnet50")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pricing.common.invalid_input.InvalidInput: benchmark: 'resnet50' is not known; closest ...
    """
    rows = benchmarks().get(slug)
    if rows:
        return rows
    near = difflib.get_close_matches(slug, benchmarks(), n=5, cutoff=0.3) or sorted(benchmarks())
    raise InvalidInput("benchmark", f"{slug!r} is not known; closest are {', '.join(near)}")


def _by_benchmark(
    rows: Iterable[Measurement],
) -> Iterable[tuple[str, tuple[Measurement, ...]]]:
    grouped: dict[str, list[Measurement]] = {}
    for row in rows:
        grouped.setdefault(row.benchmark, []).append(row)
    return ((slug, tuple(group)) for slug, group in grouped.items())


def _measurement(row: dict[str, str]) -> Measurement:
    return Measurement(
        benchmark=row["benchmark"],
        workload_class=row["workload_class"],
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        rate_per_second=float(row["rate_per_second"]),
        unit=row["unit"],
        systems=int(row["systems"]),
        year=int(row["year"]),
        source=row["source"],
    )


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
def sample_runs() -> tuple[SampleRun, ...]:
    """Every row of the table.

    >>> sum(run.is_stated and run.is_images for run in sample_runs())
    139
    """
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_run(row) for row in csv.DictReader(lines))


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
        loader=row["loader"],
        code=row["code"],
        note=row["note"],
    )
