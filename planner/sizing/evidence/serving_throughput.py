"""Measured rates of generation: what serving is fitted to and judged by. PURE.

`serving_throughput.csv` holds one measurement a row. Accelerators and rate are those of one
instance; `team` is who measured: rows of one team never predict one another in an evaluation.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.sizing.evidence.served_model import Load, ServedModel

_TABLE = Path(__file__).with_name("serving_throughput.csv")


@dataclass(frozen=True)
class ServingMeasurement:
    """One rate as published."""

    name: str
    team: str
    model: ServedModel
    precision: str
    """Of the weights: bf16, fp8 or fp4."""
    accelerator: str
    accelerators: int
    load: Load
    tokens_per_second: float
    """Generated on one accelerator."""


@cache
def serving_measurements() -> tuple[ServingMeasurement, ...]:
    """Every row of the table.

    >>> len(serving_measurements())
    313
    """
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_measurement(row) for row in csv.DictReader(lines))


def _measurement(row: dict[str, str]) -> ServingMeasurement:
    return ServingMeasurement(
        name=row["model"],
        team=row["team"],
        model=ServedModel(
            parameters=float(row["parameters"]),
            active_parameters=float(row["active_parameters"]),
            layers=float(row["layers"]),
            hidden_size=float(row["hidden_size"]),
            cached_values=float(row["cached_values"]),
            windowed_layers=float(row["windowed_layers"]),
            experts=int(row["experts"]),
            experts_per_token=int(row["experts_per_token"]),
        ),
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        load=Load(
            prompt_tokens=float(row["prompt_tokens"]),
            output_tokens=float(row["output_tokens"]),
            sequences=float(row["sequences"]) if row["sequences"] else None,
            latency=row["latency"],
            engine=row["engine"],
        ),
        tokens_per_second=float(row["tokens_per_second"]),
    )
