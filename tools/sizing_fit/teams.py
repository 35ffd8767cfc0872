"""Medians of what teams took beyond the step model, and the ranges that they leave.

Every team has one vote; of a range each team is predicted by the others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import (
    DENSE_FLOPS_PER_PARAMETER,
    FINE_TUNING,
    PRETRAINING,
    active_parameters,
    checked_training,
    compute_work,
    is_adapter,
    is_mixture,
    shape_of_training,
    stage_of,
)
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.shapes import state_bytes
from planner.sizing.performance.confidence import (
    CODES,
    MixtureTerm,
    TeamFit,
    UnsaidTerm,
    is_huge,
    log_width,
    range_key,
)
from planner.sizing.performance.goodput import start_hours, usual_goodput
from planner.sizing.performance.levels import (
    FULL_MODEL,
    cluster_share,
    default_accelerators,
    is_vector,
    peak_flops,
    rates_on,
)
from planner.sizing.performance.neighbours import NearRun
from pricing.market.accelerators import get
from tools.sizing_fit.evidence import (
    FinetuneRun,
    FrameworkRate,
    PublishedRun,
    finetune_runs,
    framework_rates,
    published_runs,
    with_attention,
)
from tools.sizing_fit.throughput import DIGITS, Floats

RATE_VOTE = 0.5
"""Vote of a framework's rates beside that of a team's runs: their routing is mostly made even;
planning value, 2026."""
RIDGE = 0.5
"""Weight, in teams, that holds b at 0; as that of clusters (throughput.py), 2026."""
UNSAID_RIDGE = 10.0
"""Weight, in teams, that holds what is not said at the median; chosen on held-out teams, 2026."""
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
TUNED = CODES[:2]

Errors = Sequence[tuple["TeamRun", float]]


def team_fit() -> TeamFit:
    """The fit on every run, with the ranges that it leaves, as the product reads it."""
    runs = team_runs()
    fit, errors = fit_teams(runs), team_errors(runs)
    ranges = {
        range_key(stage, code, is_small): range_of(fit, errors, stage, code, is_small)
        for stage in (PRETRAINING, FINE_TUNING)
        for code in (None, *CODES)
        for is_small in (True, False)
    }
    return replace(fit, ranges=ranges)


def excess_of(fit: TeamFit, run: TeamRun, code: str | None) -> float:
    """ln of the hours that a fit expects of a run over those of the step model, with the tuning of
    its code said or not."""
    mixture = fit.mixture.at(run.hidden_size) if run.is_mixture else 0.0
    unsaid = fit.unsaid.at(get(run.accelerator), run.precision) if run.accelerator else 0.0
    return fit.excess(run.stage, code, mixture, run.is_vector, run.is_huge, unsaid)


def team_errors(runs: Sequence[TeamRun]) -> Errors:
    """Each run with ln(hours used / hours predicted), predicted without its team and a word on its
    code."""
    errors = []
    for team in dict.fromkeys(run.team for run in runs):
        others = fit_teams([run for run in runs if run.team != team])
        own = (run for run in runs if run.team == team)
        errors += [(run, run.excess - excess_of(others, run, None)) for run in own]
    return errors


def fit_teams(runs: Sequence[TeamRun]) -> TeamFit:
    """Median excess by stage, and of each code within a stage, drawn towards that of both, by
    dense models, and of mixtures beside them. Without errors."""
    usual = [run for run in runs if not (run.is_mixture or run.is_vector)]
    stages = _stages(usual)
    of_both = _codes(usual, stages, dict.fromkeys(CODES, 0.0))
    by_stage = {s: [run for run in usual if run.stage == s] for s in stages}
    fit = TeamFit(stages, {s: _codes(own, stages, of_both) for s, own in by_stage.items()})
    fit = replace(
        fit,
        mixture=fit_mixtures(
            [run for run in runs if run.is_mixture],
            lambda run: run.excess - fit.excess(run.stage, run.code),
        ),
        vector=_drawn([run for run in runs if run.is_vector], lambda run: run.excess, 0.0),
    )
    return replace(fit, unsaid=fit_unsaid(runs, fit))


def fit_unsaid(runs: Sequence[TeamRun], fit: TeamFit) -> UnsaidTerm:
    """Weighted ridge with Huber weights over what pre-trainings took beside the median one, one
    vote a team."""
    chosen = [r for r in runs if r.stage == PRETRAINING and r.accelerator and not r.is_rate]
    of_team = Counter(run.team for run in chosen)
    votes = np.array([run.trust / of_team[run.team] for run in chosen])
    terms = [UnsaidTerm(1.0), UnsaidTerm(by_year=1.0), UnsaidTerm(low_bits=1.0)]
    design = np.array([[t.at(get(r.accelerator), r.precision) for t in terms] for r in chosen])
    target = np.array([run.excess - excess_of(fit, run, None) for run in chosen])
    if not chosen:
        return UnsaidTerm()
    return UnsaidTerm(*_ridge(design, target, votes, (1.0, UNSAID_RIDGE, UNSAID_RIDGE)))


def _ridge(
    design: Floats, target: Floats, votes: Floats, shrinkage: Sequence[float]
) -> list[float]:
    """Coefficients with votes, drawn to 0, where errors beyond `HUBER` count less."""
    weights: Floats = votes
    fitted: Floats = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        weighted = design.T * weights
        fitted = np.asarray(
            np.linalg.solve(weighted @ design + np.diag(shrinkage), weighted @ target)
        )
        residual = np.abs(target - design @ fitted)
        weights = votes * np.minimum(1.0, HUBER / np.maximum(residual, 1e-9))
    return [round(float(value), DIGITS) for value in fitted]


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


def fit_mixtures(runs: Sequence[TeamRun], beside: Callable[[TeamRun], float]) -> MixtureTerm:
    """Weighted ridge with Huber weights over mixtures, each with what it takes `beside` a dense
    model, one vote a team."""
    if not runs:
        return MixtureTerm()
    of_team = Counter(run.team for run in runs)
    votes = np.array(
        [(run.trust * (RATE_VOTE if run.is_rate else 1.0)) / of_team[run.team] for run in runs]
    )
    design = np.column_stack([np.ones(len(runs)), [log_width(run.hidden_size) for run in runs]])
    target = np.array([beside(run) for run in runs])
    return MixtureTerm(*_ridge(design, target, votes, (0.0, RIDGE)))


def range_of(
    fit: TeamFit, errors: Errors, stage: str, code: str | None, is_small: bool
) -> tuple[float, float]:
    """p10 and p90 of ln(hours used / hours predicted), conformal over teams.

    By stage; of pre-trainings by whether their model is small. With the code's tuning given the
    errors are those left once it is known. No rate counts, as none holds what a run loses, and a
    pool of teams has a range of its own only where it is large enough.
    """
    errors = [(run, error) for run, error in errors if not run.is_rate]
    if not code:
        errors = [(run, error) for run, error in errors if run.is_typical]
    chosen = [(r, e) for r, e in errors if r.stage == stage]
    if stage == PRETRAINING:
        chosen = [(r, e) for r, e in chosen if r.is_small_model == is_small]
    if code:
        chosen = [(r, e - (excess_of(fit, r, r.code) - excess_of(fit, r, None))) for r, e in chosen]
        same = [(r, e) for r, e in chosen if r.code == code]
        chosen = same if len({r.team for r, _ in same}) >= FEWEST_OF_A_RANGE else chosen
    if len({run.team for run, _ in chosen}) < FEWEST_OF_A_RANGE:
        chosen = list(errors)
    return conformal_range([(run.team, error) for run, error in chosen])


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
    is_huge: bool = False
    """Whether it is a pre-training of `HUGE_FLOPS` or more."""
    hidden_size: float = 0.0
    """Hidden units of its model, as usual for its size where the source is silent."""
    accelerator: str = ""
    precision: str = "bf16"

    @property
    def is_typical(self) -> bool:
        """Whether it says how teams fare who say nothing of their code. Hand-tuned fine-tunings are
        published as vendors' benchmarks: they tell what such code reaches, not how many have it."""
        return self.stage != FINE_TUNING or self.code not in TUNED


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
        is_huge=is_huge(training, flops or compute_work(training).model_flops) and not run.is_rate,
        hidden_size=shape_of_training(training).hidden_size,
        accelerator=slug,
        precision=precision,
    )


def step_hours(
    training: Training, slug: str, precision: str, count: int, flops: float | None = None
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


def training_from_run(run: PublishedRun) -> Training:
    """A published run as the request it would have been."""
    return Training(
        kind="training",
        parameters=run.parameters or 1e9,
        tokens=run.tokens or 1,
        active_parameters=run.active_parameters,
        sequence_length=run.sequence_length,
        layers=run.layers,
        hidden_size=run.hidden_size,
        accelerator=run.accelerator,
    )


def run_accelerators(run: PublishedRun) -> int:
    """Accelerators of a run, or the usual number for its work where the source is silent."""
    if run.accelerators:
        return run.accelerators
    flops = run.training_flops or compute_work(training_from_run(run)).executed_flops
    return default_accelerators(flops, peak_flops(get(run.accelerator), run.precision))


def near_runs() -> Iterator[NearRun]:
    """Every run whose tokens its source states, as the product tells of it."""
    for published in published_runs():
        run = pretraining_team_run(published)
        if run and published.tokens and published.parameters:
            training = training_from_run(published)
            yield _near(run, training, published)
    for tuning in finetune_runs():
        run = finetuning_team_run(tuning)
        if run and tuning.is_stated:
            yield _near(run, tuning.training, tuning)


def _near(run: TeamRun, training: Training, row: PublishedRun | FinetuneRun) -> NearRun:
    return NearRun(
        run=run.run,
        team=run.team,
        stage=run.stage,
        parameters=training.parameters,
        active_parameters=active_parameters(training),
        tokens=training.tokens,
        accelerator=row.accelerator,
        accelerators=run.accelerators,
        accelerator_hours=row.accelerator_hours,
        precision=row.precision,
        code=run.code,
        is_adapter=is_adapter(training),
        excess=round(run.excess, DIGITS),
        year=row.year,
        source=row.source,
    )
