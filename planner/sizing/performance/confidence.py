"""How sure an estimate of hours is: its p10-p90 range, and the reasons to doubt it. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from planner.contract.labels import BEYOND_ANY_CLUSTER, NO_RANGE_HERE
from planner.contract.request.workload import MEASURED, Training
from planner.sizing.evidence.training_runs import ONE_NODE, framework_rates, published_runs
from planner.sizing.footprint.memory import fast_domain
from planner.sizing.footprint.training_flops import (
    RECOMPUTE_FACTOR,
    active_parameters,
    by_stage,
    is_mixture,
)
from planner.sizing.performance.goodput import SINGLE_NODE
from planner.sizing.performance.levels import FULL_MODEL, benchmark_level
from planner.sizing.performance.rollouts import rollout_log_range
from planner.sizing.performance.teams import log_range
from pricing.market.accelerators import Accelerator

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
"""Share by which each reason for doubt widens ln of the range; planning value, 2026."""


@dataclass(frozen=True)
class Bounds:
    """Between what the published runs lie."""

    parameters: tuple[float, float]
    sequence_length: int
    largest_model: Largest
    largest_cluster: Largest


@cache
def calibrated_bounds(is_mixture: bool = False) -> Bounds:
    """Smallest and largest model, largest cluster and longest sequence of the published runs of
    models of the same kind, the longest sequence of measured steps too."""
    runs = published_runs()
    lengths = [run.sequence_length or 0 for run in runs]
    lengths += [rate.training.sequence_length or 0 for rate in framework_rates()]
    alike = [r for r in runs if bool(r.active_parameters) == is_mixture and r.parameters]
    kind = "mixture of experts" if is_mixture else "dense model"
    return Bounds(
        parameters=(
            min(run.parameters or 0.0 for run in alike),
            max(run.parameters or 0.0 for run in alike),
        ),
        sequence_length=max(lengths),
        largest_model=Largest.of(
            ((run.parameters, run.run) for run in alike), f"training of a {kind}"
        ),
        largest_cluster=Largest.of(((run.accelerators, run.run) for run in runs), "training"),
    )


def user_mfu(training: Training) -> float | None:
    """The MFU that the team gives, 3/4 of an HFU; None where it gives neither."""
    return training.mfu or (training.hfu / RECOMPUTE_FACTOR if training.hfu else None)


def has_user_throughput(training: Training) -> bool:
    """Whether the team measured its own throughput, on one kind of accelerator."""
    return any(getattr(training, field) is not None for field in MEASURED)


def has_user_rate(training: Training) -> bool:
    """Whether the team's own MFU or throughput stands in for the calibration."""
    return user_mfu(training) is not None or has_user_throughput(training)


def placed_range(
    training: Training, one: Accelerator, precision: str, count: int
) -> tuple[float, float]:
    """p10 and p90 as factors on the hours: conformal over published teams, each
    reason for doubt wider by a quarter."""
    if has_user_rate(training):
        is_whole = training.mfu_of == "run" or training.goodput
        is_all = is_whole or training.measured_accelerator_hours
        return USER_RATE_AND_GOODPUT_RANGE if is_all else USER_RATE_RANGE
    if training.rollouts:
        ends = rollout_log_range()
    else:
        is_small_model = active_parameters(training) < FULL_MODEL

        def end(place: int) -> float:
            return by_stage(
                training,
                lambda stage: log_range(stage, training.code, count <= ONE_NODE, is_small_model)[
                    place
                ],
            )

        ends = end(0), end(1)
    wider = 1 + PLACED_DOUBT * len(placed_warnings(training, one, precision, count))
    return math.exp(ends[0] * wider), math.exp(ends[1] * wider)


def placed_warnings(
    training: Training, one: Accelerator, precision: str, count: int
) -> tuple[str, ...]:
    """Why the calibration may not hold here; where a rate is given, what is far
    beyond every published run. A model as large as the largest, by the three digits
    that are published, is none."""
    known, is_given = calibrated_bounds(is_mixture(training)), has_user_rate(training)
    size, most_at_once = training.parameters, known.largest_cluster.amount
    far = describe_far(
        size, known.largest_model, count, known.largest_cluster, has_user_rate=is_given
    )
    if is_given:
        return tuple(far.values())
    least, most = known.parameters
    level = benchmark_level(one, precision)
    reasons = {
        f"{in_words(size)} parameters are outside the published runs' {in_words(least)} to "
        f"{in_words(most)}": "parameters" not in far
        and not least / SAME_SIZE <= size <= most * SAME_SIZE,
        f"no published run used more than {most_at_once:,.0f} accelerators": "accelerators"
        not in far
        and count > most_at_once,
        f"no measured step had more than {known.sequence_length:,} tokens at once": (
            training.sequence_length or 0
        )
        > known.sequence_length,
        f"{one.name} has no language-model benchmark at {precision}: its rate is that of the "
        f"{level.source}": not level.is_measured,
        "no published run trained over PCIe or the network alone on more than "
        f"{SINGLE_NODE} accelerators": count > SINGLE_NODE and fast_domain(one) <= 2,
        "mixtures gain little from 8 bits, least with small experts: steps of Qwen3 30B-A3B "
        "were measured at 2 to 4 times what is expected of them": is_mixture(training)
        and precision == "fp8",
    }
    wider = (f"{words}; the range is wider" for words, holds in reasons.items() if holds)
    return (*far.values(), *wider)


FAR = 2.0
"""Multiple of the largest published figure from which a range is not said to hold; a planning
choice, 2026."""
LARGEST_CLUSTER = 200_000
"""Accelerators of the largest known training clusters (xAI Colossus, 2025)."""
NEVER_BUILT = f"{BEYOND_ANY_CLUSTER} (about {LARGEST_CLUSTER:,})"
ROUGH_GUESS = f"take the hours as a rough guess; their range {NO_RANGE_HERE}"
UNBACKED = f"the range of the hours comes from published runs and {NO_RANGE_HERE}"
"""The same where a team gives its own rate."""


_USUAL_NAMES = {
    "deepseek-v3": "DeepSeek-V3",
    "glam-64b-64e": "GLaM 64B/64E",
    "llama3.1-405B": "Llama 3.1 405B",
    "palm-540B": "PaLM 540B",
}
"""What people call the largest of the published runs (their papers, 2021-2024)."""


@dataclass(frozen=True)
class Largest:
    """The largest figure of the published runs of a kind, and the run that has it."""

    amount: float
    run: str
    kind: str
    """`training of a dense model`."""

    @classmethod
    def of(cls, figures: Iterable[tuple[float | None, str]], kind: str) -> Largest:
        """The largest of the figures that are known, each with its run; at least one has to be."""
        amount, run = max((amount, run) for amount, run in figures if amount)
        return cls(amount, _USUAL_NAMES.get(run, run), kind)


def describe_far(
    parameters: float | None,
    largest_model: Largest,
    accelerators: int,
    largest_cluster: Largest,
    *,
    has_user_rate: bool,
) -> dict[str, str]:
    """What of `parameters` and `accelerators` is beyond the largest published figure by `FAR` or
    more, in words."""
    therefore = UNBACKED if has_user_rate else ROUGH_GUESS
    texts = {}
    if parameters is not None and parameters > FAR * largest_model.amount:
        texts["parameters"] = (
            f"{in_words(parameters)} parameters are {_times(parameters, largest_model)} "
            f"({largest_model.run}: {in_words(largest_model.amount)}): {therefore}"
        )
    if accelerators > FAR * largest_cluster.amount:
        never = f", and {NEVER_BUILT}" if accelerators > LARGEST_CLUSTER else ""
        texts["accelerators"] = (
            f"{accelerators:,} accelerators at once are {_times(accelerators, largest_cluster)} "
            f"({largest_cluster.run}: {largest_cluster.amount:,.0f}){never}: {therefore}"
        )
    return texts


def warn_never_built(accelerators: float) -> Iterator[str]:
    """That more accelerators work at once than any cluster is known to have."""
    if accelerators > LARGEST_CLUSTER:
        yield (
            f"{accelerators:,.0f} accelerators at once are {NEVER_BUILT}: nobody has shown that "
            "so many can be had, powered and kept at work together."
        )


def _times(amount: float, largest: Largest) -> str:
    ratio = float(f"{amount / largest.amount:.2g}")
    return f"{ratio:,g} times as many as in the largest published {largest.kind}"


_SCALES = {"trillion": 12, "billion": 9, "million": 6}
"""Powers of ten with a name, the largest first, in 2026 as ever."""


def in_words(amount: float) -> str:
    """A large number in three digits.

    >>> in_words(1e13), in_words(540_350_000_000), in_words(7.04e7), in_words(1e15), in_words(5e4)
    ('10 trillion', '540 billion', '70.4 million', '1,000 trillion', '50,000')
    """
    rounded = float(f"{amount:.3g}")
    for name, power in _SCALES.items():
        if rounded >= 10**power:
            return f"{rounded / 10**power:,g} {name}"
    return f"{rounded:,g}"
