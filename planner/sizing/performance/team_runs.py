"""Published runs against the step model: what a team took beyond it. PURE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from planner.contract.request.workload import Training
from planner.sizing.evidence.attention_shapes import with_attention
from planner.sizing.evidence.cluster_scaling import cluster_share
from planner.sizing.evidence.finetune_runs import FinetuneRun, finetune_runs
from planner.sizing.evidence.framework_throughput import FrameworkRate, framework_rates
from planner.sizing.evidence.published_runs import PublishedRun, published_runs
from planner.sizing.footprint.stages import FINE_TUNING, PRETRAINING, stage_of
from planner.sizing.footprint.training_flops import (
    ATTENTION_RULES,
    DENSE_FLOPS_PER_PARAMETER,
    active_parameters,
    is_mixture,
    shape_of_training,
    under_rules,
)
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.states import state_bytes
from planner.sizing.performance.levels import STEP_RULES, is_vector, rates_on
from planner.sizing.performance.saving import usual_goodput
from planner.sizing.performance.start import start_hours
from planner.sizing.performance.throughput import FULL_MODEL, run_accelerators, training_from_run
from pricing.market.accelerators import get

FIRST_RULES = 2
"""Edition of the rules from which teams count, 2026."""
EDITIONS = (FIRST_RULES, STEP_RULES, ATTENTION_RULES)
"""Editions of the rules that changed the step model or its evidence, 2026."""
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
    is_mixture: bool
    published_hours: float
    excess: float
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


def team_runs(rules: int = FIRST_RULES) -> tuple[TeamRun, ...]:
    """Every published run of quality A and B that a layout holds, every fine-tuning, and the rates
    of frameworks, each framework a team; of the evidence and by the step model of an edition of
    the rules."""
    return _team_runs(edition(rules))


def edition(rules: int) -> int:
    """The edition of the step model and its evidence by which the rules size: 2, 5 or 6."""
    return max(known for known in EDITIONS if known <= max(rules, FIRST_RULES))


@cache
def _team_runs(rules: int) -> tuple[TeamRun, ...]:
    runs = [
        *(pretraining_team_run(run, rules) for run in published_runs(rules=rules)),
        *(finetuning_team_run(run, rules) for run in finetune_runs(rules)),
        *(_framework(rate, rules) for rate in framework_rates(rules)),
    ]
    return tuple(run for run in runs if run is not None)


def pretraining_team_run(
    run: PublishedRun, rules: int = FIRST_RULES, step: Mapping[str, object] | None = None
) -> TeamRun | None:
    """A published pre-training against the step model, with what is said of its step; None where
    no layout holds it."""
    count = run_accelerators(run)
    stated = {"stage": PRETRAINING, **(step or {})}
    training = _as_read(training_from_run(run).model_copy(update=stated), run.run, rules)
    if run.training_flops is not None:
        tokens = run.training_flops / (DENSE_FLOPS_PER_PARAMETER * training.parameters)
        training = training.model_copy(update={"tokens": tokens})
    hours = step_hours(training, run.accelerator, run.precision, count, run.training_flops, rules)
    if hours is None:
        return None
    useful = 1.0
    if not run.hours_exclude_downtime:
        useful = usual_goodput(state_bytes(training, run.precision), count, rules)
    return TeamRun(
        run=run.run,
        team=run.family,
        stage=PRETRAINING,
        code=run.code,
        accelerators=count,
        is_mixture=is_mixture(training),
        is_vector=is_vector(get(run.accelerator), run.precision),
        is_small_model=active_parameters(training) < FULL_MODEL,
        hidden_size=shape_of_training(training).hidden_size,
        published_hours=run.accelerator_hours,
        excess=math.log(run.accelerator_hours * useful / hours),
        trust=TRUST[run.quality],
    )


def finetuning_team_run(run: FinetuneRun, rules: int = FIRST_RULES) -> TeamRun | None:
    """A published fine-tuning against the step model; None where no layout holds it."""
    hours = step_hours(run.training, run.accelerator, run.precision, run.accelerators, rules=rules)
    if hours is None:
        return None
    states = state_bytes(run.training, run.precision)
    useful = usual_goodput(states, run.accelerators, rules)
    used = run.accelerator_hours
    starting = run.accelerators * start_hours(run.training)
    return TeamRun(
        run=run.run,
        team=run.team,
        stage=FINE_TUNING,
        code=run.code,
        accelerators=run.accelerators,
        is_mixture=is_mixture(run.training),
        is_vector=is_vector(get(run.accelerator), run.precision),
        hidden_size=shape_of_training(run.training).hidden_size,
        published_hours=run.accelerator_hours,
        excess=math.log(max(0.1 * used, used - starting) * useful / hours),
        trust=TRUST["A" if run.is_stated else "B"],
    )


def _framework(rate: FrameworkRate, rules: int) -> TeamRun | None:
    training = _as_read(rate.training, rate.model, rules)
    if rate.framework in WHOLE_SEQUENCE:
        training = training.model_copy(update={"sliding_layers": None})
    precision = training.precision or "bf16"
    hours = step_hours(training, rate.accelerator, precision, rate.accelerators, rules=rules)
    if hours is None:
        return None
    measured = training.tokens / rate.tokens_per_second / 3600
    return TeamRun(
        run=_rate_name(rate),
        team=rate.framework,
        stage=stage_of(training),
        code=rate.code,
        accelerators=rate.accelerators,
        is_mixture=is_mixture(training),
        is_vector=is_vector(get(rate.accelerator), precision),
        hidden_size=shape_of_training(training).hidden_size,
        published_hours=measured,
        excess=math.log(measured / hours),
        is_rate=True,
    )


def _as_read(training: Training, name: str, rules: int) -> Training:
    """A published training as the rules read it: from 6 on with the attention of its model."""
    return with_attention(training, name) if rules >= ATTENTION_RULES else training


def _rate_name(rate: FrameworkRate) -> str:
    training = rate.training
    step = f"{training.optimizer} {training.precision} {training.sequence_length}"
    size = f"{training.micro_batch_size or ''} zero {training.zero_stage or ''}".strip()
    where = f"{rate.accelerators} x {rate.accelerator}"
    return f"{rate.framework} {rate.model} {step} {size} {where} {rate.tokens_per_second:g}"


def step_hours(
    training: Training,
    slug: str,
    precision: str,
    count: int,
    flops: float | None = None,
    rules: int = FIRST_RULES,
) -> float | None:
    """Accelerator-hours of the step model: every hour useful, the framework well tuned; for `flops`
    where a source states them and not the tokens. None where no layout holds the training."""
    training, one = under_rules(training, rules), get(slug)
    task = LayoutTask(training, one, precision, rates_on(training, one, precision, rules))
    placed = task.on(count)
    if placed is None:
        return None
    seconds = task.seconds_per_token * training.tokens
    if flops is not None:
        seconds = flops / task.rates.matrix
    return seconds / (placed.share_of_level * cluster_share(count)) / 3600
