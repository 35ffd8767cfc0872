"""Measured rates of benchmarks on accelerators, and the classes in which they compare. PURE."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.models.sample_models import find_sample_model
from planner.sizing.evidence import read_rows, typed
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import group

_SUITE = re.compile(
    r"(-\d+)?-(lambda|ngc|nvlabs|llm-foundry|megatron-bridge|maxtext|mlperf-[\d.]+)$"
)
_TABLE = Path(__file__).with_name("measured_throughput.csv")
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
    return tuple(typed(Measurement, row) for row in read_rows(_TABLE))


@cache
def benchmarks() -> dict[str, tuple[Measurement, ...]]:
    """Benchmarks that can size a workload of samples: those counted in samples, by slug."""
    counted = (row for row in measurements() if row.unit not in ("runs", "model_tflop"))
    grouped = group([(row.benchmark, row) for row in counted])
    return {slug: tuple(rows) for slug, rows in grouped.items()}


def benchmark(slug: str) -> tuple[Measurement, ...]:
    """Measurements of one benchmark; refuses an unknown one with the closest."""
    rows = benchmarks().get(slug)
    if rows:
        return rows
    if known := find_sample_model(slug):
        raise InvalidInput(
            "benchmark",
            f"{slug!r} is no benchmark; model {known.name} sizes it by its FLOPs "
            f"({known.forward_gflops:,g} GFLOP for {known.sample})",
        )
    near = difflib.get_close_matches(slug, benchmarks(), n=5, cutoff=0.3) or sorted(benchmarks())
    raise InvalidInput("benchmark", f"{slug!r} is not known; closest are {', '.join(near)}")


TRAINING_FACTOR = 3.0
"""FLOPs of forward and backward pass over the forward pass alone (Kaplan et al., arXiv 2001.08361,
2020)."""
