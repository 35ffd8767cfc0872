"""Published training runs: what the estimator is calibrated on and judged by. PURE.

`published_runs.csv` holds one run a row, distilled from model cards and papers: the work as
parameters and tokens (or FLOPs), the accelerators, and the accelerator-hours that were used.
Quality A is fully stated, B has a rounded or assumed figure, X contradicts itself. `unverified`
names the fields that no source was seen for; an A100 without its memory is taken as 80 GB, an
H800 as an H100.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("published_runs.csv")


@dataclass(frozen=True)
class PublishedRun:
    """One run as published; None where the source is silent."""

    run: str
    family: str
    """Runs of one team or code base: never used to predict one another in an evaluation."""
    year: int
    parameters: float | None
    active_parameters: float | None
    tokens: float | None
    sequence_length: int | None
    layers: int | None
    hidden_size: int | None
    training_flops: float | None
    """Given where tokens are not."""
    precision: str
    accelerator: str
    accelerators: int | None
    accelerator_hours: float
    mfu: float | None
    hfu: float | None
    hours_exclude_downtime: bool
    """True where the hours follow from a step time: they hold useful work alone."""
    quality: str
    unverified: tuple[str, ...]
    code: str
    """How well tuned the code was, by what its source says of it: hand_tuned, standard,
    first_version."""
    source: str
    note: str
    since: int
    """Edition of the rules from which on it counts."""
    until: int | None
    """Last edition for which it does, where a better source has taken its place."""


def published_runs(qualities: str = "AB", rules: int = 1) -> tuple[PublishedRun, ...]:
    """The runs of the given qualities that an edition of the rules knows, in the order of the
    table.

    >>> len(published_runs()), [run.run for run in published_runs("X")]
    (51, ['vit-22B', 'llmc-gpt3-125M'])
    """
    known = (run for run in _runs() if run.since <= rules <= (run.until or rules))
    return tuple(run for run in known if run.quality in qualities)


@cache
def _runs() -> tuple[PublishedRun, ...]:
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_run(row) for row in csv.DictReader(lines))


def _run(row: dict[str, str]) -> PublishedRun:
    return PublishedRun(
        run=row["run"],
        family=row["family"],
        year=int(row["year"]),
        parameters=_number(row["parameters"]),
        active_parameters=_number(row["active_parameters"]),
        tokens=_number(row["tokens"]),
        sequence_length=_whole(row["sequence_length"]),
        layers=_whole(row["layers"]),
        hidden_size=_whole(row["hidden_size"]),
        training_flops=_number(row["training_flops"]),
        precision=row["precision"],
        accelerator=row["accelerator"],
        accelerators=_whole(row["accelerators"]),
        accelerator_hours=float(row["accelerator_hours"]),
        mfu=_number(row["mfu"]),
        hfu=_number(row["hfu"]),
        hours_exclude_downtime=row["hours_exclude_downtime"] == "yes",
        quality=row["quality"],
        unverified=tuple(part for part in row["unverified"].split(";") if part),
        code=row["code"],
        source=row["source"],
        note=row["note"],
        since=int(row["since"] or 1),
        until=_whole(row["until"]),
    )


def _number(text: str) -> float | None:
    return float(text) if text else None


def _whole(text: str) -> int | None:
    return int(text) if text else None
