"""Hours that reinforcement learning takes beside the training itself. PURE.

    hours = (training + scoring + critic + writing) · exp(excess)

Writing: the answers' tokens at the rate that an engine generates with the answers of a step at
once. Scoring: a forward pass of the policy over what it wrote, and one of the frozen copy. The
excess is what measured steps took beyond that (refitting weights, the longest answer of a step,
the data between the two), the median of teams.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from planner.contract.request.workload import Rollouts, Training
from planner.sizing.evidence.served_model import Load
from planner.sizing.evidence.training_runs import RlStep, rl_steps
from planner.sizing.footprint.training_flops import FINE_TUNING
from planner.sizing.performance.teams import (
    conformal_quantile,
    conformal_range,
    step_hours,
    team_fit,
)
from planner.sizing.serving.serving_plan import (
    fewest_for,
    replica_on,
    served_model,
)
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get

FORWARD_SHARE = 1 / 3
"""Work of a forward pass over that of training (Kaplan et al., arXiv 2001.08361, 2020)."""


@dataclass(frozen=True)
class RolloutHours:
    """Accelerator-hours beside the training of the policy."""

    writing: float
    scoring: float
    critic: float
    steps: float
    """Steps of the whole training."""

    @property
    def total(self) -> float:
        return self.writing + self.scoring + self.critic


def rollout_hours(
    training: Training,
    rollouts: Rollouts,
    one: Accelerator,
    count: int,
    hours: float,
) -> RolloutHours:
    """Hours on n accelerators beside `hours` of training the policy, no excess in them.

    Raises `InvalidInput` on `accelerator` where the answers cannot be written there.
    """
    length = rollouts.prompt_tokens + rollouts.response_tokens
    answers = training.tokens / length
    model = served_model(training)
    of_one = min(count, fewest_for(model, one, "bf16"))
    at_once = max(1.0, rollouts.per_step / (count // of_one))
    load = Load(
        rollouts.prompt_tokens,
        rollouts.response_tokens,
        at_once,
        engine=rollouts.engine,
    )
    replica = replica_on(model, one, "bf16", load, of_one)
    if replica is None:
        raise InvalidInput(
            "accelerator",
            f"{count} {one.name} cannot write the answers of a step: one sequence does not fit "
            "beside the weights, or its memory bandwidth is not known",
        )
    used = count // replica.accelerators * replica.accelerators
    seconds = answers * rollouts.response_tokens / (replica.tokens_per_second * used) * count
    passes = 1 + rollouts.has_reference
    critic = (rollouts.critic_parameters or 0.0) / training.parameters
    return RolloutHours(
        writing=seconds / 3600,
        scoring=hours * passes * FORWARD_SHARE,
        critic=hours * critic * (1 + FORWARD_SHARE),
        steps=max(1.0, answers / rollouts.per_step),
    )


@cache
def rollout_excess() -> float:
    """ln of the hours of measured steps over those worked out: the median of the teams."""
    return excess_of(rl_steps())


def excess_of(steps: Sequence[RlStep]) -> float:
    """The same from given steps."""
    return round(conformal_quantile([(s.team, step_excess(s)) for s in steps], 0.5), 12)


@cache
def rollout_log_range() -> tuple[float, float]:
    """p10 and p90 of ln(hours used / hours predicted)."""
    return log_range_of(rl_steps())


def log_range_of(steps: Sequence[RlStep]) -> tuple[float, float]:
    """The same from given steps. Two teams publish steps, too few for quantiles of their own: the
    errors of fine-tunings stand beside theirs."""
    own = []
    teams = dict.fromkeys(step.team for step in steps)
    for team in teams:
        others = [step for step in steps if step.team != team] or list(steps)
        middle = excess_of(others)
        own += [(s.team, step_excess(s) - middle) for s in steps if s.team == team]
    tunings = [(r.team, error) for r, error in team_fit().errors if r.stage == FINE_TUNING]
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
    return math.log(measured / (hours + beside.total))
