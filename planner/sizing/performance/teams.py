"""What teams make of an accelerator and a layout, and how far they differ. PURE.

    ln(hours used / hours of the step model) = stage + code + spread

The step model (level, layout, cluster, goodput) says what a well-tuned framework would take. What
real runs took beyond it is the team's: the median of the teams by stage (pre-training,
fine-tuning), how well tuned the code is, and a spread that is the range. Every team has one vote.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.evidence.cluster_scaling import ONE_NODE, cluster_share
from planner.sizing.evidence.finetune_runs import FinetuneRun, finetune_runs
from planner.sizing.evidence.framework_throughput import FrameworkRate, framework_rates
from planner.sizing.evidence.published_runs import PublishedRun, published_runs
from planner.sizing.footprint.stages import FINE_TUNING, PRETRAINING, stage_of
from planner.sizing.footprint.training_flops import DENSE_FLOPS_PER_PARAMETER, is_mixture
from planner.sizing.layout.search import LayoutTask
from planner.sizing.performance.conformal import QUANTILES, conformal_range
from planner.sizing.performance.goodput import CALENDAR_SHARE, estimate_goodput
from planner.sizing.performance.levels import rates_on
from planner.sizing.performance.relative_throughput import DIGITS
from planner.sizing.performance.start import start_hours
from planner.sizing.performance.throughput import run_accelerators, training_from_run
from pricing.market.accelerators import get

FEWEST_TEAMS = 5
"""Teams from which a kind of work has a range of its own; a planning choice, 2026."""
FEWEST_OF_A_RANGE = 9
"""The same from rules 4 on: of T teams the outermost errors stand at 1 / (T + 1) and T / (T + 1),
so that fewer than nine have no p10 and p90 between them (Lei et al. 2018, see
`conformal_quantile`)."""
RANGE_RULES = 4
"""Edition of the rules from which that counts, 2026."""
HALF_TRUST = 2.0
"""Teams at which the median of a group counts half against the median of all; planning value,
2026."""
HUBER, ROUNDS = 0.3, 20
"""Excess beyond which a run loses weight (Huber, Annals of Mathematical Statistics 35, 1964), and
rounds of reweighting; chosen on held-out teams, 2026."""
TRUST = {"A": 1.0, "B": 0.6}
"""Weight of a run by how fully it is stated; planning values, 2026."""
CODES = ("hand_tuned", "standard", "first_version")


@dataclass(frozen=True)
class TeamRun:
    """One published run against the step model."""

    run: str
    team: str
    stage: str
    code: str
    accelerators: int
    is_mixture: bool
    published_hours: float
    excess: float
    """ln(hours used / hours of the step model)."""
    trust: float = 1.0
    """Weight by how fully its source states it."""
    is_rate: bool = False
    """Whether it is a rate of steps and not a run."""


@dataclass(frozen=True)
class TeamFit:
    """What the runs say: medians by stage and code, and the errors of predicting each team by the
    others."""

    stages: dict[str, float]
    codes: dict[str, float]
    errors: tuple[tuple[TeamRun, float], ...]
    """Each run with ln(hours used / hours predicted), predicted without its team."""

    def excess(self, stage: str, code: str | None) -> float:
        """ln of the hours of the median team over those of the step model."""
        return self.stages[stage] + (self.codes[code] if code else 0.0)


@cache
def team_runs() -> tuple[TeamRun, ...]:
    """Every published run of quality A and B that a layout holds, every fine-tuning, and the rates
    of frameworks, each framework a team."""
    runs = [
        *map(_pretraining, published_runs()),
        *map(finetuning_team_run, finetune_runs()),
        *map(_framework, framework_rates()),
    ]
    return tuple(run for run in runs if run is not None)


@cache
def team_fit() -> TeamFit:
    """The fit on every run."""
    return fit_teams(team_runs())


def fit_teams(runs: Sequence[TeamRun]) -> TeamFit:
    """Medians over all runs, errors by leaving one team out."""
    stages, codes = _middles(runs)
    errors = []
    for team in dict.fromkeys(run.team for run in runs):
        others, _ = _middles([run for run in runs if run.team != team])
        errors += [(run, run.excess - others[run.stage]) for run in runs if run.team == team]
    return TeamFit(stages, codes, tuple(errors))


def log_range(
    stage: str, code: str | None, accelerators: int, rules: int = 2
) -> tuple[float, float]:
    """p10 and p90 of ln(hours used / hours predicted), conformal over teams.

    By stage; up to one node the small jobs of every stage are added, whose teams differ more. With
    the code's tuning given the errors are those left once it is known.

    >>> low, high = log_range("pretraining", None, 256)
    >>> low < 0 < high
    True
    """
    return _log_range(stage, code, accelerators <= ONE_NODE, rules)


def range_of(
    fit: TeamFit, stage: str, code: str | None, is_small: bool, rules: int = 2
) -> tuple[float, float]:
    """The same from a given fit.

    Under rules 2 the quantiles are moved outwards twice for the number of teams, and rates of
    frameworks count as runs everywhere; from rules 3 on p10 and p90 hold as often as they say, and
    beyond one node no rate counts, as none holds what a run loses. From rules 4 on a pool of teams
    has a range of its own only where it is large enough for one.
    """
    fewest = FEWEST_OF_A_RANGE if rules >= RANGE_RULES else FEWEST_TEAMS
    errors = fit.errors
    if rules > 2 and not is_small:
        errors = tuple((run, error) for run, error in errors if not run.is_rate)
    chosen = [(r, e) for r, e in errors if r.stage == stage or (is_small and _is_small(r))]
    if code:
        chosen = [(r, e - fit.codes[r.code]) for r, e in chosen]
        same = [(r, e) for r, e in chosen if r.code == code]
        chosen = same if len({r.team for r, _ in same}) >= fewest else chosen
    if len({run.team for run, _ in chosen}) < fewest:
        chosen = list(errors)
    if rules > 2:
        return conformal_range([(run.team, error) for run, error in chosen])
    teams = len({run.team for run, _ in chosen})
    low, high = (min(1.0, max(0.0, q + (q - 0.5) / 0.4 * QUANTILES[1] / teams)) for q in QUANTILES)
    return _quantile(chosen, low), _quantile(chosen, high)


@cache
def _log_range(stage: str, code: str | None, is_small: bool, rules: int) -> tuple[float, float]:
    return range_of(team_fit(), stage, code, is_small, rules)


def _is_small(run: TeamRun) -> bool:
    return run.accelerators <= ONE_NODE


def _middles(runs: Sequence[TeamRun]) -> tuple[dict[str, float], dict[str, float]]:
    """Median excess by stage, and of each code beside it, drawn towards all and none."""
    overall = _middle(runs, lambda run: run.excess)
    stages = {}
    for stage in (PRETRAINING, FINE_TUNING):
        own = [run for run in runs if run.stage == stage]
        trust = _trust(own)
        middle = _middle(own, lambda run: run.excess) if own else overall
        stages[stage] = trust * middle + (1 - trust) * overall
    codes = {}
    for code in CODES:
        own = [run for run in runs if run.code == code]
        middle = _middle(own, lambda run: run.excess - stages[run.stage]) if own else 0.0
        codes[code] = _trust(own) * middle
    return stages, codes


def _trust(runs: Sequence[TeamRun]) -> float:
    teams = len({run.team for run in runs})
    return teams / (teams + HALF_TRUST)


def _middle(runs: Sequence[TeamRun], value: Callable[[TeamRun], float]) -> float:
    """Huber's mean with one vote a team: runs further off than `HUBER` count less."""
    of_team = Counter(run.team for run in runs)
    values = np.array([value(run) for run in runs])
    votes = np.array([run.trust / of_team[run.team] for run in runs])
    middle, weights = float(np.median(values)), votes
    for _ in range(ROUNDS):
        weights = votes * np.minimum(1.0, HUBER / np.maximum(np.abs(values - middle), 1e-9))
        middle = float(weights @ values / weights.sum())
    return round(middle, DIGITS)


def _quantile(errors: Sequence[tuple[TeamRun, float]], level: float) -> float:
    """Quantile with one vote a team, between the middles of the weights."""
    ordered = sorted(errors, key=lambda pair: pair[1])
    of_team = Counter(run.team for run, _ in ordered)
    weights = np.array([1 / of_team[run.team] for run, _ in ordered])
    places = (np.cumsum(weights) - weights / 2) / weights.sum()
    return float(np.interp(level, places, [error for _, error in ordered]))


def _pretraining(run: PublishedRun) -> TeamRun | None:
    count = run_accelerators(run)
    training = training_from_run(run).model_copy(update={"stage": PRETRAINING})
    if run.training_flops is not None:
        tokens = run.training_flops / (DENSE_FLOPS_PER_PARAMETER * training.parameters)
        training = training.model_copy(update={"tokens": tokens})
    hours = step_hours(training, run.accelerator, run.precision, count, run.training_flops)
    if hours is None:
        return None
    useful = 1.0 if run.hours_exclude_downtime else estimate_goodput(count, CALENDAR_SHARE)
    return TeamRun(
        run=run.run,
        team=run.family,
        stage=PRETRAINING,
        code=run.code,
        accelerators=count,
        is_mixture=is_mixture(training),
        published_hours=run.accelerator_hours,
        excess=math.log(run.accelerator_hours * useful / hours),
        trust=TRUST[run.quality],
    )


def finetuning_team_run(run: FinetuneRun) -> TeamRun | None:
    """A published fine-tuning against the step model; None where no layout holds it."""
    hours = step_hours(run.training, run.accelerator, run.precision, run.accelerators)
    if hours is None:
        return None
    useful = estimate_goodput(run.accelerators, CALENDAR_SHARE)
    used = run.accelerator_hours
    starting = run.accelerators * start_hours(run.training)
    return TeamRun(
        run=run.run,
        team=run.team,
        stage=FINE_TUNING,
        code=run.code,
        accelerators=run.accelerators,
        is_mixture=False,
        published_hours=run.accelerator_hours,
        excess=math.log(max(0.1 * used, used - starting) * useful / hours),
        trust=TRUST["A" if run.is_stated else "B"],
    )


def _framework(rate: FrameworkRate) -> TeamRun | None:
    training = rate.training
    precision = training.precision or "bf16"
    hours = step_hours(training, rate.accelerator, precision, rate.accelerators)
    if hours is None:
        return None
    measured = training.tokens / rate.tokens_per_second / 3600
    return TeamRun(
        run=f"{rate.framework} {rate.model} {rate.accelerators} x {rate.accelerator}",
        team=rate.framework,
        stage=stage_of(training),
        code="standard",
        accelerators=rate.accelerators,
        is_mixture=False,
        published_hours=measured,
        excess=math.log(measured / hours),
        is_rate=True,
    )


def step_hours(
    training: Training, slug: str, precision: str, count: int, flops: float | None = None
) -> float | None:
    """Accelerator-hours of the step model: every hour useful, the framework well tuned; for `flops`
    where a source states them and not the tokens. None where no layout holds the training."""
    one = get(slug)
    task = LayoutTask(training, one, precision, rates_on(training, one, precision))
    placed = task.on(count)
    if placed is None:
        return None
    seconds = task.seconds_per_token * training.tokens
    if flops is not None:
        seconds = flops / task.rates.matrix
    return seconds / (placed.share_of_level * cluster_share(count)) / 3600
