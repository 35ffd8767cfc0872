"""How sure an estimate of hours is: its p10-p90 range, and the reasons to doubt it. PURE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from planner.contract.request.workload import MEASURED, Training
from planner.sizing.evidence.framework_throughput import framework_rates
from planner.sizing.evidence.published_runs import published_runs
from planner.sizing.footprint.parallelism import fast_domain
from planner.sizing.footprint.stages import by_stage
from planner.sizing.footprint.training_flops import (
    RECOMPUTE_FACTOR,
    active_parameters,
    is_adapter,
    is_mixture,
)
from planner.sizing.performance.beyond_published import (
    ROUGH_GUESS,
    Largest,
    describe_far,
    in_words,
)
from planner.sizing.performance.goodput import SINGLE_NODE
from planner.sizing.performance.levels import STEP_RULES
from planner.sizing.performance.rollouts import rollout_log_range
from planner.sizing.performance.teams import RANGE_RULES, log_range
from planner.sizing.performance.throughput import FULL_MODEL, benchmark_level, calibrated
from pricing.market.accelerators import Accelerator

DOUBT = 0.5
"""Share by which each reason for doubt widens ln of the range; planning value, 2026."""
USER_RATE_RANGE = (0.95, 1.35)
"""p10 and p90 of hours used over hours from the published MFU and default goodput, on the
runs whose hours are independent of their MFU (published_runs.csv, 2021-2024)."""
USER_RATE_AND_GOODPUT_RANGE = (0.95, 1.15)
"""The same where the goodput is given too: what is left is how the team counts; planning
values, 2026."""


SAME_SIZE = 1.005
"""Factor within which two numbers of parameters are one: half a unit of three digits; definition,
2026."""
PLACED_DOUBT = 0.25
"""The same under rules 2, whose range holds every kind of published work; planning value, 2026."""


@dataclass(frozen=True)
class Bounds:
    """Between what the published runs lie."""

    parameters: tuple[float, float]
    accelerators: int
    sequence_length: int
    largest_model: Largest
    largest_cluster: Largest


@cache
def calibrated_bounds(rules: int = 1, is_mixture: bool = False) -> Bounds:
    """Smallest and largest model, largest cluster and longest sequence of the published runs that
    an edition of the rules knows; from rules 5 on the longest sequence of measured steps too, and
    models of the same kind.

    >>> calibrated_bounds().accelerators, calibrated_bounds().sequence_length
    (16384, 8192)
    """
    runs = published_runs(rules=rules)
    lengths = [run.sequence_length or 0 for run in runs]
    if rules >= STEP_RULES:
        lengths += [rate.training.sequence_length or 0 for rate in framework_rates(rules)]
    alike = [r for r in runs if rules < STEP_RULES or bool(r.active_parameters) == is_mixture]
    sizes = [run.parameters for run in alike if run.parameters]
    kind = "mixture of experts" if is_mixture else "dense model"
    return Bounds(
        parameters=(min(sizes), max(sizes)),
        accelerators=max(run.accelerators or 0 for run in runs),
        sequence_length=max(lengths),
        largest_model=Largest.of(
            ((run.parameters, run.run) for run in alike),
            f"training of a {kind}" if rules >= STEP_RULES else "training",
        ),
        largest_cluster=Largest.of(((run.accelerators, run.run) for run in runs), "training"),
    )


def user_mfu(training: Training) -> float | None:
    """The MFU that the team gives, 3/4 of an HFU; None where it gives neither.

    >>> user_mfu(Training(kind="training", parameters=1e9, tokens=1e9, hfu=0.48))
    0.36
    """
    return training.mfu or (training.hfu / RECOMPUTE_FACTOR if training.hfu else None)


def has_user_throughput(training: Training) -> bool:
    """Whether the team measured its own throughput, on one kind of accelerator."""
    return any(getattr(training, field) is not None for field in MEASURED)


def has_user_rate(training: Training) -> bool:
    """Whether the team's own MFU or throughput stands in for the calibration."""
    return user_mfu(training) is not None or has_user_throughput(training)


def estimate_range(
    training: Training, one: Accelerator, precision: str, count: int
) -> tuple[float, float]:
    """p10 and p90 as factors on the hours; each reason for doubt widens them by half."""
    if has_user_rate(training):
        is_all = training.goodput or training.measured_accelerator_hours
        return USER_RATE_AND_GOODPUT_RANGE if is_all else USER_RATE_RANGE
    low, high = calibrated().log_error_quantiles
    wider = 1 + DOUBT * len(calibration_warnings(training, one, precision, count))
    return math.exp(low * wider), math.exp(high * wider)


def calibration_warnings(
    training: Training, one: Accelerator, precision: str, count: int
) -> tuple[str, ...]:
    """Why the calibration may not hold here, in words; where a rate is given, what is far beyond
    every published run."""
    if has_user_rate(training):
        return tuple(_far(training, count).values())
    reasons = _reasons(training, one, precision, count)
    reasons |= {
        "few mixture-of-experts runs are published, and suites of fine-grained experts reach "
        "half the MFU of dense models": is_mixture(training),
        "no adapter run is among the published ones": is_adapter(training),
    }
    return _with_effect(reasons)


def placed_range(
    training: Training, one: Accelerator, precision: str, count: int, rules: int = 2
) -> tuple[float, float]:
    """p10 and p90 as factors on the hours from rules 2 on: conformal over published teams, each
    reason for doubt wider by a quarter."""
    if has_user_rate(training):
        is_whole = training.mfu_of == "run" or training.goodput
        is_all = is_whole or training.measured_accelerator_hours
        return USER_RATE_AND_GOODPUT_RANGE if is_all else USER_RATE_RANGE
    if training.rollouts:
        low, high = rollout_log_range(rules)
    else:
        is_small_model = active_parameters(training) < FULL_MODEL

        def end(place: int) -> float:
            code = training.code
            return by_stage(
                training,
                rules,
                lambda stage: log_range(stage, code, count, rules, is_small_model)[place],
            )

        low, high = end(0), end(1)
    wider = 1 + PLACED_DOUBT * len(placed_warnings(training, one, precision, count, rules))
    return math.exp(low * wider), math.exp(high * wider)


def placed_warnings(
    training: Training, one: Accelerator, precision: str, count: int, rules: int = 2
) -> tuple[str, ...]:
    """Why the calibration may not hold here from rules 2 on; where a rate is given, what is far
    beyond every published run. From rules 4 on a model as large as the largest, by the three digits
    that are published, is none."""
    if has_user_rate(training):
        return tuple(_far(training, count, rules).values())
    near = SAME_SIZE if rules >= RANGE_RULES else 1.0
    reasons = _reasons(training, one, precision, count, near, rules)
    if rules >= STEP_RULES:
        reasons |= {
            "mixtures gain little from 8 bits, least with small experts: steps of Qwen3 30B-A3B "
            "were measured at 2 to 4 times what is expected of them": is_mixture(training)
            and precision == "fp8",
        }
    else:
        reasons |= {
            "three mixtures of experts are published, and suites of fine-grained experts reach "
            "half the MFU of dense models": is_mixture(training),
        }
    return _with_effect(reasons)


def _with_effect(reasons: Mapping[str, bool]) -> tuple[str, ...]:
    """The reasons that hold, each with what it does to the range; what is far beyond says that."""
    return tuple(
        words if words.endswith(ROUGH_GUESS) else f"{words}; the range is wider"
        for words, holds in reasons.items()
        if holds
    )


def _bounds(training: Training, rules: int) -> Bounds:
    return calibrated_bounds(STEP_RULES if rules >= STEP_RULES else 1, is_mixture(training))


def _far(training: Training, count: int, rules: int = 1) -> dict[str, str]:
    """What is far beyond every published run, in words."""
    known = _bounds(training, rules)
    return describe_far(
        training.parameters,
        known.largest_model,
        count,
        known.largest_cluster,
        has_user_rate=has_user_rate(training),
    )


def _reasons(
    training: Training,
    one: Accelerator,
    precision: str,
    count: int,
    near: float = 1.0,
    rules: int = 1,
) -> dict[str, bool]:
    is_newer = rules >= STEP_RULES
    known = _bounds(training, rules)
    longer = "no measured step had" if is_newer else "no published run trained on"
    least, most = known.parameters
    length = training.sequence_length or 0
    level = benchmark_level(one, precision, rules)
    far = _far(training, count, rules)
    outside = (
        f"{in_words(training.parameters)} parameters are outside the published runs' "
        f"{in_words(least)} to {in_words(most)}"
    )
    more = f"no published run used more than {known.accelerators:,} accelerators"
    return {
        far.get("parameters", outside): not least / near <= training.parameters <= most * near,
        far.get("accelerators", more): count > known.accelerators,
        f"{longer} more than {known.sequence_length:,} tokens at once": length
        > known.sequence_length,
        f"{one.name} has no language-model benchmark at {precision}: its rate is that of the "
        f"{level.source}": not level.is_measured,
        "no published run trained over PCIe or the network alone on more than "
        f"{SINGLE_NODE} accelerators": count > SINGLE_NODE and fast_domain(one) <= 2,
    }
