"""The published trainings that are nearest to a work, and what each would make of its hours. PURE.

`neighbours.csv` holds every run that the fits of teams rest on (`tools.sizing_fit` writes it).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner.contract.answer.estimate import Neighbour
from planner.contract.request.workload import Training
from planner.sizing.evidence import read_rows, typed
from planner.sizing.footprint.training_flops import (
    FINE_TUNING,
    active_parameters,
    is_adapter,
    is_mixture,
    stage_of,
)
from pricing.market.accelerators import Accelerator, get

NEAREST = 3
"""Runs that are told, of as many teams; a choice of this project, 2026."""
TOKENS_WEIGHT, COUNT_WEIGHT = 0.5, 0.25
"""Weight of a factor in tokens and in accelerators beside the same factor in parameters at work;
planning values, 2026."""
OTHER_CARD, OTHER_KIND = 0.7, 1.5
"""Distance of another accelerator, and of a mixture from a dense model or adapters from whole
weights, as ln of parameters; planning values, 2026."""
SAME_WORK = 1.2
"""Factor in parameters and tokens within which a run on the same accelerator is the same work;
definition, 2026."""
WORTH_TELLING = 1.15
"""Factor from which a size is said to differ; a planning choice, 2026."""


@dataclass(frozen=True)
class NearRun:
    """A published training against the step model."""

    run: str
    team: str
    stage: str
    parameters: float
    active_parameters: float
    tokens: float
    accelerator: str
    accelerators: int
    accelerator_hours: float
    precision: str
    code: str
    is_adapter: bool
    excess: float
    """ln(hours used / hours of the step model)."""
    year: int
    source: str


TABLE = Path(__file__).with_name("neighbours.csv")


@cache
def near_runs() -> tuple[NearRun, ...]:
    """Every row of the table."""
    return tuple(typed(NearRun, row) for row in read_rows(TABLE))


def find_neighbours(
    training: Training, one: Accelerator, count: int, step_hours: float
) -> tuple[Neighbour, ...]:
    """The nearest runs of the same stage, the nearest of each team; `step_hours` are the hours of
    this work by the step model, lost time among them."""
    nearest: dict[str, tuple[float, NearRun]] = {}
    for run in near_runs():
        if run.stage == stage_of(training):
            distance = _distance(training, one, count, run)
            nearest[run.team] = min(
                nearest.get(run.team, (math.inf, run)), (distance, run), key=_by
            )
    ordered = sorted(nearest.values(), key=_by)[:NEAREST]
    return tuple(
        Neighbour(
            **{name: getattr(run, name) for name in _SAME},
            scaled_hours=_scaled_hours(training, one, count, step_hours, run),
            is_same_work=_is_same_work(training, one, run),
            differs=", ".join(_differences(training, one, count, run)) or "nothing of size",
        )
        for _, run in ordered
    )


_SAME = Neighbour.model_fields.keys() & NearRun.__annotations__.keys()


def _by(pair: tuple[float, NearRun]) -> float:
    return pair[0]


def _distance(training: Training, one: Accelerator, count: int, run: NearRun) -> float:
    distance = abs(math.log(active_parameters(training) / run.active_parameters))
    distance += TOKENS_WEIGHT * abs(math.log(training.tokens / run.tokens))
    distance += COUNT_WEIGHT * abs(math.log(count / run.accelerators))
    distance += OTHER_CARD * (run.accelerator != one.slug)
    distance += OTHER_KIND * (is_mixture(training) != (run.active_parameters < run.parameters))
    return distance + OTHER_KIND * (is_adapter(training) != run.is_adapter)


def _scaled_hours(
    training: Training, one: Accelerator, count: int, step_hours: float, run: NearRun
) -> float:
    """Hours of the work if done as a run was: those of the step model with the run's excess; of the
    same work on as many its own by the work, as its layout is the run's too."""
    is_near = 1 / WORTH_TELLING <= count / run.accelerators <= WORTH_TELLING
    if not (is_near and _is_same_work(training, one, run)):
        return step_hours * math.exp(run.excess)
    work = active_parameters(training) * training.tokens
    return run.accelerator_hours * work / (run.active_parameters * run.tokens)


def _is_same_work(training: Training, one: Accelerator, run: NearRun) -> bool:
    factors = (
        active_parameters(training) / run.active_parameters,
        training.parameters / run.parameters,
        training.tokens / run.tokens,
    )
    is_same_size = all(1 / SAME_WORK <= factor <= SAME_WORK for factor in factors)
    return is_same_size and run.accelerator == one.slug and is_adapter(training) == run.is_adapter


def _differences(training: Training, one: Accelerator, count: int, run: NearRun) -> Iterator[str]:
    sizes = {
        "parameters": run.parameters / training.parameters,
        "tokens": run.tokens / training.tokens,
        "accelerators": run.accelerators / count,
    }
    for name, factor in sizes.items():
        if not 1 / WORTH_TELLING <= factor <= WORTH_TELLING:
            yield f"{float(f'{factor:.2g}'):,g} times the {name}"
    if run.accelerator != one.slug:
        yield get(run.accelerator).name
    if is_mixture(training) != (run.active_parameters < run.parameters):
        yield "a dense model" if is_mixture(training) else "a mixture of experts"
    if run.stage == FINE_TUNING and is_adapter(training) != run.is_adapter:
        yield "adapters" if run.is_adapter else "all weights"
    if training.precision and run.precision != training.precision:
        yield run.precision
    if run.code != training.code:
        yield CODE_WORDS[run.code]


CODE_WORDS = {
    "benchmark": "a vendor's benchmark recipe",
    "hand_tuned": "hand-tuned code",
    "standard": "a standard framework",
    "first_version": "a first version of the code",
    None: "what published teams reach",
}
"""How well tuned code is, in words."""
