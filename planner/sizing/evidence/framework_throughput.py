"""Tokens a second of one accelerator in tuned frameworks. PURE."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.request.workload import Training
from planner.contract.validation import parse

_TABLE = Path(__file__).with_name("framework_throughput.csv")
_WHOLE = (
    "layers",
    "hidden_size",
    "vocabulary_size",
    "sequence_length",
    "micro_batch_size",
    "zero_stage",
    "active_parameters",
)


@dataclass(frozen=True)
class FrameworkRate:
    """One measurement, as the training it was."""

    framework: str
    model: str
    training: Training
    accelerator: str
    accelerators: int
    tokens_per_second: float
    """Of one accelerator, of steps alone."""
    note: str
    source: str
    code: str
    """How well tuned: vendors' own figures are hand-tuned, released frameworks standard."""
    since: int
    """Edition of the rules from which on it counts."""


def framework_rates(rules: int = 2) -> tuple[FrameworkRate, ...]:
    """Every row of the table that an edition of the rules knows.

    >>> len(framework_rates())
    12
    """
    return tuple(rate for rate in _rates() if rate.since <= rules)


@cache
def _rates() -> tuple[FrameworkRate, ...]:
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_rate(row) for row in csv.DictReader(lines))


def _rate(row: dict[str, str]) -> FrameworkRate:
    is_adapter = row["optimizer"] in ("lora", "qlora")
    request = {
        "kind": "training",
        "parameters": float(row["parameters"]),
        "tokens": 1e9 if is_adapter or row["stage"] else 1e12,
        "optimizer": row["optimizer"],
        "precision": row["precision"],
        "chunked_loss": row["framework"] == "torchtune",
        **({"activation_checkpointing": True} if row["checkpointing"] else {}),
        "is_classifier": row["is_classifier"] == "yes",
        **({"stage": row["stage"]} if row["stage"] else {}),
        **({"layout": {"tensor": int(row["tensor"])}} if row["tensor"] else {}),
        **{name: int(row[name]) for name in _WHOLE if row[name]},
    }
    return FrameworkRate(
        framework=row["framework"],
        model=row["model"],
        training=parse(Training, request),
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        tokens_per_second=float(row["tokens_per_second"]),
        note=row["note"],
        source=row["source"],
        code=row["code"],
        since=int(row["since"] or 1),
    )
