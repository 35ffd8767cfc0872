"""What teams make of an accelerator and a layout, and how far they differ. PURE.

    ln(hours used / hours of the step model) = stage + code + mixture + spread

The step model (level, layout, cluster, goodput) says what a well-tuned framework would take. What
real runs took beyond it is the team's: the median of the teams by stage (pre-training,
fine-tuning), how well tuned the code is, what sending tokens to experts takes beyond the step
model, and a spread that is the range. Every team has one vote.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.evidence.training_runs import (
    ONE_NODE,
    FinetuneRun,
    FrameworkRate,
    PublishedRun,
    cluster_share,
    finetune_runs,
    framework_rates,
    published_runs,
    with_attention,
)
from planner.sizing.footprint.training_flops import (
    DENSE_FLOPS_PER_PARAMETER,
    FINE_TUNING,
    PRETRAINING,
    active_parameters,
    by_stage,
    checked_training,
    is_mixture,
    mixture_share,
    shape_of_training,
    stage_of,
)
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.shapes import state_bytes
from planner.sizing.performance.goodput import start_hours, usual_goodput
from planner.sizing.performance.levels import (
    DIGITS,
    FULL_MODEL,
    is_vector,
    rates_on,
    run_accelerators,
    training_from_run,
)
from pricing.market.accelerators import Accelerator, get

USUAL_WIDTH, LEAST_WIDTH = 4_096.0, 2_048.0
"""Hidden units at which a is read, the middle of the published mixtures (published_runs.csv,
2021-2026), and of a model of 1.3 billion parameters (GPT-3 XL, arXiv 2005.14165 Table 2.1, 2020),
the smallest that fills an accelerator."""
RATE_VOTE = 0.5
"""Vote of a framework's rates beside that of a team's runs: their routing is mostly made even;
planning value, 2026."""
RIDGE = 0.5
"""Weight, in teams, that holds b at 0; as that of clusters (throughput.py), 2026."""


@dataclass(frozen=True)
class MixtureTerm:
    """ln of what a mixture takes beside a dense model."""

    usual: float = 0.0
    """At `USUAL_WIDTH`, or at any width where that does not count."""
    by_width: float = 0.0
    """Change with ln of the width."""

    def at(self, width: float) -> float:
        """The term at a hidden size."""
        if not self.by_width:
            return self.usual
        return max(0.0, self.usual + self.by_width * _log_width(width))


def fit_mixtures(runs: Sequence[TeamRun], beside: Callable[[TeamRun], float]) -> MixtureTerm:
    """Weighted ridge with Huber weights over mixtures, each with what it takes `beside` a dense
    model, one vote a team."""
    if not runs:
        return MixtureTerm()
    of_team = Counter(run.team for run in runs)
    votes = np.array(
        [(run.trust * (RATE_VOTE if run.is_rate else 1.0)) / of_team[run.team] for run in runs]
    )
    design = np.column_stack([np.ones(len(runs)), [_log_width(run.hidden_size) for run in runs]])
    target = np.array([beside(run) for run in runs])
    weights, fitted = votes, np.zeros(2)
    for _ in range(ROUNDS):
        weighted = design.T * weights
        fitted = np.linalg.solve(weighted @ design + np.diag([0.0, RIDGE]), weighted @ target)
        residual = np.abs(target - design @ fitted)
        weights = votes * np.minimum(1.0, HUBER / np.maximum(residual, 1e-9))
    return MixtureTerm(round(float(fitted[0]), DIGITS), round(float(fitted[1]), DIGITS))


def _log_width(width: float) -> float:
    return math.log(max(width, LEAST_WIDTH) / USUAL_WIDTH)


FEWEST_OF_A_RANGE = 9
"""Teams from which a kind of work has a range of its own: of T teams the outermost errors stand at
1 / (T + 1) and T / (T + 1), so that fewer than nine have no p10 and p90 between them (Lei et al.
2018, see `conformal_quantile`)."""
HALF_TRUST = 2.0
"""Teams at which the median of a group counts half against the median of all; planning value,
2026."""
HUBER, ROUNDS = 0.3, 20
"""Excess beyond which a run loses weight (Huber, Annals of Mathematical Statistics 35, 1964), and
rounds of reweighting; chosen on held-out teams, 2026."""
STANDARD = "standard"
CODES = ("hand_tuned", STANDARD, "first_version")


@dataclass(frozen=True)
class TeamFit:
    """What the runs say: medians by stage and code, and the errors of predicting each team by the
    others."""

    stages: dict[str, float]
    codes: dict[str, dict[str, float]]
    """By stage."""
    errors: tuple[tuple[TeamRun, float], ...]
    """Each run with ln(hours used / hours predicted), predicted without its team."""
    mixture: MixtureTerm = field(default_factory=MixtureTerm)
    """Of mixtures of experts beside the dense models of their stage and code."""
    vector: float | None = None
    """On vector units, whose arithmetic takes so long that neither stage nor code tells."""

    def excess(
        self,
        stage: str,
        code: str | None,
        mixture: float = 0.0,
        is_vector: bool = False,
    ) -> float:
        """ln of the hours of the median team over those of the step model, and what a `mixture`
        takes beside dense models."""
        if is_vector and self.vector is not None:
            return self.vector
        of_code = self.codes[stage][code] if code else 0.0
        return self.stages[stage] + of_code + mixture

    def excess_of(self, run: TeamRun, code: str | None) -> float:
        """The same for the work of a run, with the tuning of its code said or not."""
        mixture = self.mixture.at(run.hidden_size) if run.is_mixture else 0.0
        return self.excess(run.stage, code, mixture, run.is_vector)

    def mixture_of(self, training: Training) -> float:
        """ln of what experts take beside a dense model, by the part that a training takes of it."""
        share = mixture_share(training)
        return share * self.mixture.at(shape_of_training(training).hidden_size) if share else 0.0


@cache
def team_fit() -> TeamFit:
    """The fit on every run."""
    return fit_teams(team_runs())


def team_excess(training: Training, one: Accelerator, precision: str) -> float:
    """ln of the hours that the median team takes over those of the step model."""
    vector = is_vector(one, precision)
    fit = team_fit()
    mixture = fit.mixture_of(training)
    return by_stage(training, lambda at: fit.excess(at, training.code, mixture, vector))


def excess_beside_standard(training: Training, one: Accelerator, precision: str) -> float:
    """ln of the time of a step over that of the step model: by the tuning of the code beside a
    standard framework's, and by what experts take; lost hours are not in it. Measured steps of
    mixtures are no faster than the step model however tuned (framework_throughput.csv)."""
    if is_vector(one, precision):
        return 0.0
    fit, code = team_fit(), training.code or STANDARD
    share, mixture = mixture_share(training), fit.mixture_of(training)

    def beside(stage: str) -> float:
        of_standard = fit.excess(stage, STANDARD)
        least = min(0.0, fit.excess(stage, code) - of_standard) * (1 - share)
        return max(least, fit.excess(stage, code, mixture) - of_standard)

    return by_stage(training, beside)


def fit_teams(runs: Sequence[TeamRun]) -> TeamFit:
    """Medians over all runs, errors by leaving one team out."""
    errors = []
    for team in dict.fromkeys(run.team for run in runs):
        others = _middles([run for run in runs if run.team != team])
        own = (run for run in runs if run.team == team)
        errors += [(run, run.excess - others.excess_of(run, None)) for run in own]
    return replace(_middles(runs), errors=tuple(errors))


@cache
def log_range(
    stage: str,
    code: str | None,
    is_small: bool,
    is_small_model: bool = False,
) -> tuple[float, float]:
    """p10 and p90 of ln(hours used / hours predicted), conformal over teams.

    By stage; up to one node (`is_small`) the small jobs of every stage are added, whose teams
    differ more; pre-trainings go by the size of their model instead. With the code's tuning given
    the errors are those left once it is known.
    """
    return range_of(team_fit(), stage, code, is_small, is_small_model)


def range_of(
    fit: TeamFit,
    stage: str,
    code: str | None,
    is_small: bool,
    is_small_model: bool = False,
) -> tuple[float, float]:
    """The same from a given fit.

    No rate counts, as none holds what a run loses. A pool of teams has a range of its own only
    where it is large enough for one; the errors of pre-trainings are those of models as small, or
    as large, as it.
    """
    errors = tuple((run, error) for run, error in fit.errors if not run.is_rate)
    if not code:
        errors = tuple((run, error) for run, error in errors if run.is_typical)
    if stage == PRETRAINING:
        chosen = [
            (r, e) for r, e in errors if r.stage == stage and r.is_small_model == is_small_model
        ]
    else:
        chosen = [
            (r, e)
            for r, e in errors
            if r.stage == stage or (is_small and (r.accelerators <= ONE_NODE))
        ]
    if code:
        chosen = [(r, e - (fit.excess_of(r, r.code) - fit.excess_of(r, None))) for r, e in chosen]
        same = [(r, e) for r, e in chosen if r.code == code]
        chosen = same if len({r.team for r, _ in same}) >= FEWEST_OF_A_RANGE else chosen
    if len({run.team for run, _ in chosen}) < FEWEST_OF_A_RANGE:
        chosen = list(errors)
    return conformal_range([(run.team, error) for run, error in chosen])


def _middles(runs: Sequence[TeamRun]) -> TeamFit:
    """Median excess by stage, and of each code within a stage, drawn towards that of both, by
    dense models, and of mixtures beside them. Without errors."""
    usual = [run for run in runs if not (run.is_mixture or run.is_vector)]
    stages = _stages(usual)
    of_both = _codes(usual, stages, dict.fromkeys(CODES, 0.0))
    by_stage = {s: [run for run in usual if run.stage == s] for s in stages}
    fit = TeamFit(stages, {s: _codes(own, stages, of_both) for s, own in by_stage.items()}, ())
    return replace(
        fit,
        mixture=fit_mixtures(
            [run for run in runs if run.is_mixture],
            lambda run: run.excess - fit.excess(run.stage, run.code),
        ),
        vector=_drawn([run for run in runs if run.is_vector], lambda run: run.excess, 0.0),
    )


def _drawn(runs: Sequence[TeamRun], value: Callable[[TeamRun], float], towards: float) -> float:
    """Their middle, drawn towards a given one where teams are few."""
    teams = len({run.team for run in runs})
    trust = teams / (teams + HALF_TRUST)
    return trust * _middle(runs, value) + (1 - trust) * towards if runs else towards


def _stages(runs: Sequence[TeamRun]) -> dict[str, float]:
    overall = _middle(runs, lambda run: run.excess)
    stages = {}
    for stage in (PRETRAINING, FINE_TUNING):
        own = [run for run in runs if run.stage == stage and (run.is_typical)]
        stages[stage] = _drawn(own, lambda run: run.excess, overall)
    return stages


def _codes(
    runs: Sequence[TeamRun], stages: dict[str, float], towards: dict[str, float]
) -> dict[str, float]:
    """Median of each code beside the stage, drawn towards a given one where teams are few."""
    codes = {}
    for code in CODES:
        own = [run for run in runs if run.code == code]
        codes[code] = _drawn(own, lambda run: run.excess - stages[run.stage], towards[code])
    return codes


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


WHOLE_SEQUENCE = frozenset({"answer-ai"})
"""Frameworks that work on the whole sequence under a mask, whatever a model's windows: PyTorch's
scaled_dot_product_attention of 2024 (AnswerDotAI/fsdp_qlora train.py @02586ac7)."""
TRUST = {"A": 1.0, "B": 0.6}
"""Weight of a run by how fully it is stated; planning values, 2026."""


@dataclass(frozen=True)
class TeamRun:
    """One published run against the step model."""

    run: str
    team: str
    stage: str
    code: str
    accelerators: int
    is_mixture: bool = False
    excess: float = 0.0
    """ln(hours used / hours of the step model)."""
    trust: float = 1.0
    """Weight by how fully its source states it."""
    is_rate: bool = False
    """Whether it is a rate of steps and not a run."""
    is_vector: bool = False
    """Whether vector units did the arithmetic."""
    is_small_model: bool = False
    """Whether its model is too small to fill an accelerator."""
    hidden_size: float = 0.0
    """Hidden units of its model, as usual for its size where the source is silent."""

    @property
    def is_typical(self) -> bool:
        """Whether it says how teams fare who say nothing of their code. Hand-tuned fine-tunings are
        published as vendors' benchmarks: they tell what such code reaches, not how many have it."""
        return self.stage != FINE_TUNING or self.code != "hand_tuned"


@cache
def team_runs() -> tuple[TeamRun, ...]:
    """Every published run of quality A and B that a layout holds, every fine-tuning, and the rates
    of frameworks, each framework a team."""
    runs = [
        *(pretraining_team_run(run) for run in published_runs()),
        *(finetuning_team_run(run) for run in finetune_runs()),
        *(_framework(number, rate) for number, rate in enumerate(framework_rates())),
    ]
    return tuple(run for run in runs if run is not None)


def pretraining_team_run(
    run: PublishedRun, step: Mapping[str, object] | None = None
) -> TeamRun | None:
    """A published pre-training against the step model, with what is said of its step; None where
    no layout holds it."""
    count = run_accelerators(run)
    stated = {"stage": PRETRAINING, **(step or {})}
    training = with_attention(training_from_run(run).model_copy(update=stated), run.run)
    if run.training_flops is not None:
        tokens = run.training_flops / (DENSE_FLOPS_PER_PARAMETER * training.parameters)
        training = training.model_copy(update={"tokens": tokens})
    useful = 1.0
    if not run.hours_exclude_downtime:
        useful = usual_goodput(state_bytes(training, run.precision), count)
    bare = TeamRun(
        run=run.run,
        team=run.family,
        stage=PRETRAINING,
        code=run.code,
        accelerators=count,
        is_small_model=active_parameters(training) < FULL_MODEL,
        trust=TRUST[run.quality],
    )
    hours = run.accelerator_hours * useful
    return _against_steps(bare, training, run.accelerator, run.precision, hours, run.training_flops)


def finetuning_team_run(run: FinetuneRun) -> TeamRun | None:
    """A published fine-tuning against the step model; None where no layout holds it."""
    useful = usual_goodput(state_bytes(run.training, run.precision), run.accelerators)
    used = run.accelerator_hours
    starting = run.accelerators * start_hours(run.training)
    bare = TeamRun(
        run=run.run,
        team=run.team,
        stage=FINE_TUNING,
        code=run.code,
        accelerators=run.accelerators,
        trust=TRUST["A" if run.is_stated else "B"],
    )
    hours = max(0.1 * used, used - starting) * useful
    return _against_steps(bare, run.training, run.accelerator, run.precision, hours)


def _framework(number: int, rate: FrameworkRate) -> TeamRun | None:
    training = with_attention(rate.training, rate.model)
    if rate.framework in WHOLE_SEQUENCE:
        training = training.model_copy(update={"sliding_layers": None})
    bare = TeamRun(
        run=f"{rate.framework} {rate.model} ({number})",
        team=rate.framework,
        stage=stage_of(training),
        code=rate.code,
        accelerators=rate.accelerators,
        is_rate=True,
    )
    hours = training.tokens / rate.tokens_per_second / 3600
    return _against_steps(bare, training, rate.accelerator, training.precision or "bf16", hours)


def _against_steps(
    run: TeamRun,
    training: Training,
    slug: str,
    precision: str,
    hours: float,
    flops: float | None = None,
) -> TeamRun | None:
    """A run with its useful hours over those of the step model; None where no layout holds it."""
    bare_hours = step_hours(training, slug, precision, run.accelerators, flops)
    if bare_hours is None:
        return None
    return replace(
        run,
        excess=math.log(hours / bare_hours),
        is_mixture=is_mixture(training),
        is_vector=is_vector(get(slug), precision),
        hidden_size=shape_of_training(training).hidden_size,
    )


def step_hours(
    training: Training,
    slug: str,
    precision: str,
    count: int,
    flops: float | None = None,
) -> float | None:
    """Accelerator-hours of the step model: every hour useful, the framework well tuned; for `flops`
    where a source states them and not the tokens. None where no layout holds the training."""
    training, one = checked_training(training), get(slug)
    task = LayoutTask(training, one, precision, rates_on(training, one, precision))
    placed = task.on(count)
    if placed is None:
        return None
    seconds = task.seconds_per_token * training.tokens
    if flops is not None:
        seconds = flops / task.rates.matrix
    return seconds / (placed.share_of_level * cluster_share(count)) / 3600


QUANTILES = (0.1, 0.9)
"""p10 and p90; definition of the range, 2026."""


def conformal_quantile(errors: Sequence[tuple[str, float]], level: float) -> float:
    """The error below which that of a new team lies with the chance `level`; (team, error) pairs.

    The i-th of T errors in order stands at i / (T + 1), as in split-conformal prediction (Lei et
    al., Journal of the American Statistical Association 113, 2018); several of one team share one
    vote. Levels beyond the outermost error stay at it.

    >>> conformal_quantile([("a", 1.0), ("b", 2.0), ("c", 3.0)], 0.5)
    2.0
    >>> conformal_quantile([("a", 1.0), ("b", 2.0), ("c", 3.0)], 0.9)
    3.0
    """
    ordered = sorted(errors, key=lambda pair: pair[1])
    of_team = Counter(team for team, _ in ordered)
    weights = np.array([1 / of_team[team] for team, _ in ordered])
    places = (np.cumsum(weights) - weights / 2 + 0.5) / (len(of_team) + 1)
    return float(np.interp(level, places, [error for _, error in ordered]))


def conformal_range(errors: Sequence[tuple[str, float]]) -> tuple[float, float]:
    """p10 and p90 of the same."""
    low, high = (conformal_quantile(errors, level) for level in QUANTILES)
    return low, high
