"""Published fine-tunings: what estimates of fine-tuning are calibrated on and judged by. PURE.

`finetune_runs.csv` holds one run a row; `tokens` are those processed, epochs included, and
`tokens_are` says where the figure comes from: most sources state hours and not tokens.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.request.workload import Training
from planner.contract.validation import parse

_TABLE = Path(__file__).with_name("finetune_runs.csv")


@dataclass(frozen=True)
class FinetuneRun:
    """One fine-tuning as published."""

    run: str
    team: str
    year: int
    training: Training
    precision: str
    accelerator: str
    accelerators: int
    accelerator_hours: float
    code: str
    tokens_are: str
    """stated or estimated, and how."""
    source: str
    since: int
    """Edition of the rules from which on it counts."""
    until: int | None
    """Last edition for which it does: from rules 5 on a bound of the tokens is no figure."""

    @property
    def is_stated(self) -> bool:
        """Whether the tokens are the source's own."""
        return self.tokens_are.startswith("stated")


def finetune_runs(rules: int = 2) -> tuple[FinetuneRun, ...]:
    """Every row of the table that an edition of the rules knows.

    >>> len(finetune_runs()), finetune_runs()[0].run
    (12, 'alpaca-7b')
    """
    return tuple(run for run in _runs() if run.since <= rules <= (run.until or rules))


@cache
def _runs() -> tuple[FinetuneRun, ...]:
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_run(row) for row in csv.DictReader(lines))


def _run(row: dict[str, str]) -> FinetuneRun:
    whole = ("layers", "hidden_size", "vocabulary_size", "sequence_length")
    request = {
        "kind": "training",
        "parameters": float(row["parameters"]),
        "tokens": float(row["tokens"]),
        "optimizer": row["optimizer"],
        "stage": "fine_tuning",
        "is_classifier": row["is_classifier"] == "yes",
        **{name: int(row[name]) for name in whole},
    }
    return FinetuneRun(
        run=row["run"],
        team=row["team"],
        year=int(row["year"]),
        training=parse(Training, request),
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        accelerator_hours=float(row["accelerator_hours"]),
        code=row["code"] or "standard",
        tokens_are=row["tokens_are"],
        source=row["source"],
        since=int(row["since"] or 1),
        until=int(row["until"]) if row["until"] else None,
    )
