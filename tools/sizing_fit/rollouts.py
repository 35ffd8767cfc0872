"""What measured steps of reinforcement learning took beyond what is worked out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

from planner.sizing.footprint.training_flops import FINE_TUNING
from planner.sizing.performance.replicas import RolloutFit, rollout_hours
from pricing.market.accelerators import get
from tools.sizing_fit.evidence import RlStep, rl_steps
from tools.sizing_fit.teams import (
    conformal_quantile,
    conformal_range,
    step_hours,
    team_errors,
    team_runs,
)


def fit_rollouts() -> RolloutFit:
    """The fit on every measured step."""
    return RolloutFit(excess_of(rl_steps()), log_range_of(rl_steps()))


def excess_of(steps: Sequence[RlStep]) -> float:
    """ln of the hours of measured steps over those worked out: the median of the teams."""
    return round(conformal_quantile([(s.team, step_excess(s)) for s in steps], 0.5), 12)


def log_range_of(steps: Sequence[RlStep]) -> tuple[float, float]:
    """p10 and p90 of ln(hours used / hours predicted). Two teams publish steps, too few for
    quantiles of their own: the errors of fine-tunings stand beside theirs."""
    own = []
    teams = dict.fromkeys(step.team for step in steps)
    for team in teams:
        others = [step for step in steps if step.team != team] or list(steps)
        middle = excess_of(others)
        own += [(s.team, step_excess(s) - middle) for s in steps if s.team == team]
    tunings = [(r.team, error) for r, error in team_errors(team_runs()) if r.stage == FINE_TUNING]
    return conformal_range([*own, *tunings])


@cache
def step_excess(step: RlStep) -> float:
    """ln(seconds of the step / seconds worked out)."""
    training, rollouts = step.training, step.training.rollouts
    assert rollouts is not None
    precision = training.precision or "bf16"
    hours = step_hours(training, step.accelerator, precision, step.accelerators)
    if hours is None:
        offloaded = training.model_copy(update={"optimizer_offload": True})
        hours = step_hours(offloaded, step.accelerator, precision, step.accelerators)
    assert hours is not None
    one = get(step.accelerator)
    beside = rollout_hours(training, rollouts, one, step.accelerators, hours)
    measured = step.step_seconds * step.accelerators / 3600
    return math.log(measured / (hours + beside.total_hours))
