"""How well serving predicts rates that its constants have not seen.

A third of the questions in `serving_cases.csv` was set apart before anything was fitted; `modelled`
rows are what NVIDIA's aiconfigurator works out from measured operators.
"""

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.request.workload import Serving, Training
from planner.contract.validation import parse
from planner.sizing.evidence import read_rows, typed
from planner.sizing.performance.replicas import COUNTS, Load, ServedModel, replica_on, served_model
from planner.sizing.runs.served_run import ServingTask
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

FEW = 500.0
"""Tokens of a prompt up to which it is short; of more than `MANY` it is long."""
MANY = 4_000.0


@dataclass(frozen=True)
class Case:
    """One question with its answer, or one rate as measured."""

    team: str
    model: str
    precision: str
    accelerator: str
    accelerators: int
    load: Load
    tokens_per_second: float
    needed: dict[int, int]
    """Requests a second → accelerators."""
    is_held_back: bool

    @property
    def length(self) -> str:
        tokens = self.load.prompt_tokens
        return "short" if tokens <= FEW else "usual" if tokens <= MANY else "long"


@cache
def cases() -> tuple[Case, ...]:
    """Every row of the table."""
    path = Path(__file__).with_name("serving_cases.csv")
    with path.open(newline="", encoding="utf-8") as lines:
        return tuple(_case(row) for row in csv.DictReader(lines))


def _case(row: dict[str, str]) -> Case:
    load = Load(
        float(row["prompt_tokens"]),
        float(row["answer_tokens"]),
        float(row["sequences"]) if row["sequences"] else None,
        row["engine"],
        float(row["first_token_seconds"] or math.inf),
        float(row["token_seconds"] or math.inf),
    )
    needed = {n: int(row[f"for_{n}"]) for n in (1, 10, 50) if row[f"for_{n}"]}
    return Case(
        row["team"],
        row["model"],
        row["precision"],
        row["accelerator"],
        int(row["accelerators"]),
        load,
        float(row["tokens_per_second"]),
        needed,
        bool(row["is_held_back"]),
    )


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
    """Every row of `serving_throughput.csv`."""
    return tuple(
        typed(
            ServingMeasurement,
            row
            | {"model": typed(ServedModel, row), "load": typed(Load, row), "name": row["model"]},
        )
        for row in read_rows(Path(__file__).with_name("serving_throughput.csv"))
    )


@cache
def _model(name: str) -> ServedModel:
    return served_model(parse(Training, {"kind": "training", "model": name, "tokens": 1}))


def case_error(case: Case) -> float | None:
    """ln(rate / predicted) of one replica; None where none keeps the limits."""
    one, count = get(case.accelerator), case.accelerators
    replica = replica_on(_model(case.model), one, case.precision, case.load, count)
    return math.log(case.tokens_per_second * count / replica.tokens_per_second) if replica else None


def log_error(row: ServingMeasurement) -> float:
    """The same of a published rate: of an instance of its own where the sequences at once are
    stated, else of copies of the best replica."""
    counts = COUNTS if row.load.sequences is None else (row.accelerators,)
    rates = [
        replica.tokens_per_second / replica.accelerators
        for count in counts
        if count <= row.accelerators
        and (replica := replica_on(row.model, get(row.accelerator), row.precision, row.load, count))
    ]
    assert rates, row
    return math.log(row.tokens_per_second / max(rates))


def published() -> list[tuple[str, float]]:
    """Engine and error of every published rate."""
    return [(row.load.engine, log_error(row)) for row in serving_measurements()]


def held_back() -> list[tuple[Case, float]]:
    """Cases set apart, with their errors; those that nothing serves are left out."""
    judged = ((case, case_error(case)) for case in cases() if case.is_held_back)
    return [(case, error) for case, error in judged if error is not None]


def counts_held_back(requests: Sequence[int] = (10,)) -> Iterator[float]:
    """Accelerators advised over those of aiconfigurator, of the questions set apart."""
    for case in cases():
        if case.team != "modelled" or not case.is_held_back:
            continue
        for rate in requests:
            if rate in case.needed:
                yield _advised(case, rate) / case.needed[rate]


def _advised(case: Case, requests: int) -> float:
    work = Serving(
        kind="serving",
        **{"model": case.model, "requests_per_second": requests, "spare": 0.0},
        prompt_tokens=int(case.load.prompt_tokens),
        answer_tokens=int(case.load.answer_tokens),
        first_token_seconds=case.load.first_token_seconds,
        token_seconds=case.load.token_seconds,
        precision=case.precision,
        engine="tuned",
    )
    try:
        return ServingTask(work, get(case.accelerator)).at().accelerators
    except InvalidInput:
        return math.inf
