"""Measured training throughputs: what a benchmark reached on an accelerator. PURE.

`measured_throughput.csv` holds one benchmark on one accelerator and count a row, the geometric
mean over the systems that were measured alike. Units differ by benchmark (images, tokens,
sequences, whole runs to a target), so rates compare within a benchmark only. Where a source
says V100 or A100 alone, the V100 32 GB and A100 80 GB SXM are taken, as DGX systems hold them.
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

_TABLE = Path(__file__).with_name("measured_throughput.csv")
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
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_measurement(row) for row in csv.DictReader(lines))


@cache
def benchmarks() -> dict[str, tuple[Measurement, ...]]:
    """Benchmarks that can size a workload of samples: those counted in samples, by slug.

    >>> sorted({m.unit for rows in benchmarks().values() for m in rows})
    ['images', 'mel_frames', 'samples', 'sequences', 'tokens']
    """
    return {slug: rows for slug, rows in _by_benchmark(measurements()) if _counts_samples(rows)}


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


def _counts_samples(rows: tuple[Measurement, ...]) -> bool:
    return rows[0].unit not in ("runs", "model_tflop")


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
