"""What teams make of an accelerator, and how sure an estimate of hours is. PURE.

    ln(hours used / hours of the step model) = stage + code + mixture + spread

The step model (level, layout, cluster, goodput) says what a well-tuned framework would take. What
real runs took beyond it is the team's: the median of the teams by stage (pre-training,
fine-tuning), how well tuned the code is, what sending tokens to experts takes beyond the step
model, and a spread that is the p10-p90 range. `tools.sizing_fit` fits it; every team has one vote.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from planner.contract.labels import BEYOND_ANY_CLUSTER, NO_RANGE_HERE
from planner.contract.request.workload import MEASURED, Training
from planner.sizing.evidence import fitted, typed
from planner.sizing.footprint.memory import ONE_NODE, fast_domain
from planner.sizing.footprint.training_flops import (
    PRETRAINING,
    RECOMPUTE_FACTOR,
    active_parameters,
    by_stage,
    compute_work,
    is_mixture,
    mixture_share,
    shape_of_training,
    stage_of,
)
from planner.sizing.performance.levels import FULL_MODEL, LOW_BITS, benchmark_level, is_vector
from planner.sizing.performance.replicas import rollout_fit
from pricing.market.accelerators import Accelerator

USUAL_WIDTH, LEAST_WIDTH = 4_096.0, 2_048.0
"""Hidden units at which a is read, the middle of the published mixtures (published_runs.csv,
2021-2026), and of a model of 1.3 billion parameters (GPT-3 XL, arXiv 2005.14165 Table 2.1, 2020),
the smallest that fills an accelerator."""
HUGE_FLOPS, HUGE_TUNED = 1e24, 0.5
"""FLOPs of a pre-training from which nobody leaves its code as it is, and the part of what hand
tuning gains that it has where nothing is said: the seven published runs of that size take 0.79 of
the hours of others (published_runs.csv, 2022-2026); chosen without Llama 3.1 405B, 2026."""
USUAL_YEAR, YEARS_OF_CARDS = 2021, (2017, 2025)
"""Year at which the term of what is not said is read, between A100 and H100, and the years in which
the accelerators of published runs came (published_runs.csv, 2018-2026)."""
STANDARD = "standard"
CODES = ("benchmark", "hand_tuned", STANDARD, "first_version")


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
        return max(0.0, self.usual + self.by_width * log_width(width))


@dataclass(frozen=True)
class UnsaidTerm:
    """ln of what a pre-training takes beside the median one, where nothing is said of its code: who
    has newer accelerators, or multiplies in 8 bits, has tuned it more."""

    usual: float = 0.0
    by_year: float = 0.0
    """Change with each year in which the accelerator came later than `USUAL_YEAR`."""
    low_bits: float = 0.0

    def at(self, one: Accelerator, precision: str) -> float:
        """The term on an accelerator, within the years of those of published runs."""
        first, last = YEARS_OF_CARDS
        years = min(max(one.year, first), last) - USUAL_YEAR
        return self.usual + self.by_year * years + self.low_bits * (precision in LOW_BITS)


def log_width(width: float) -> float:
    """ln of a hidden size over the usual one."""
    return math.log(max(width, LEAST_WIDTH) / USUAL_WIDTH)


@dataclass(frozen=True)
class TeamFit:
    """What the runs say: medians by stage and code, and the ranges that they leave."""

    stages: dict[str, float]
    codes: dict[str, dict[str, float]]
    """By stage."""
    mixture: MixtureTerm = field(default_factory=MixtureTerm)
    """Of mixtures of experts beside the dense models of their stage and code."""
    unsaid: UnsaidTerm = field(default_factory=UnsaidTerm)
    vector: float | None = None
    """On vector units, whose arithmetic takes so long that neither stage nor code tells."""
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    """p10 and p90 of ln(hours used / hours predicted), by `range_key`."""

    def excess(
        self,
        stage: str,
        code: str | None,
        mixture: float = 0.0,
        is_vector: bool = False,
        is_huge: bool = False,
        unsaid: float = 0.0,
    ) -> float:
        """ln of the hours of the median team over those of the step model, what a `mixture` takes
        beside dense models, and a pre-training of whose code nothing is said beside others."""
        if is_vector and self.vector is not None:
            return self.vector
        codes = self.codes[stage]
        of_code = codes[code] if code else HUGE_TUNED * codes["hand_tuned"] if is_huge else 0.0
        of_unsaid = unsaid if code is None and stage == PRETRAINING else 0.0
        return self.stages[stage] + of_code + mixture + of_unsaid

    def mixture_of(self, training: Training) -> float:
        """ln of what experts take beside a dense model, by the part that a training takes of it."""
        share = mixture_share(training)
        return share * self.mixture.at(shape_of_training(training).hidden_size) if share else 0.0


def range_key(stage: str, code: str | None, is_small: bool) -> str:
    """Name of the range of a stage whose code is tuned so, or not said; of pre-trainings of models
    that do not fill an accelerator (`is_small`) or do."""
    size = f", {'small' if is_small else 'large'}" if stage == PRETRAINING else ""
    return f"{stage}, {code or 'unsaid'}{size}"


@cache
def team_fit() -> TeamFit:
    """The fit on every run."""
    return typed(TeamFit, fitted()["teams"])


def team_excess(training: Training, one: Accelerator, precision: str) -> float:
    """ln of the hours that the median team takes over those of the step model."""
    vector = is_vector(one, precision)
    fit = team_fit()
    mixture = fit.mixture_of(training)
    huge = is_huge(training, compute_work(training).model_flops)
    unsaid = fit.unsaid.at(one, precision)
    return by_stage(
        training, lambda at: fit.excess(at, training.code, mixture, vector, huge, unsaid)
    )


def is_huge(training: Training, flops: float) -> bool:
    """Whether it is a pre-training of `HUGE_FLOPS` or more."""
    return stage_of(training) == PRETRAINING and flops >= HUGE_FLOPS


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
    """Between what the published runs of dense models, or of mixtures, lie."""

    parameters: tuple[float, float]
    sequence_length: int
    """Of measured steps too."""
    largest_model: Largest
    largest_cluster: Largest


@cache
def calibrated_bounds(is_mixture: bool = False) -> Bounds:
    """Bounds of the published runs of models of the same kind."""
    return typed(Bounds, fitted()["bounds"]["mixture" if is_mixture else "dense"])


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
        ends = rollout_fit().log_range
    else:
        is_small = active_parameters(training) < FULL_MODEL

        def range_at(stage: str) -> tuple[float, float]:
            return team_fit().ranges[range_key(stage, training.code, is_small)]

        ends = (
            by_stage(training, lambda stage: range_at(stage)[0]),
            by_stage(training, lambda stage: range_at(stage)[1]),
        )
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
        f"{ONE_NODE} accelerators": count > ONE_NODE and fast_domain(one) <= 2,
        "mixtures gain little from 8 bits, least with small experts: steps of Qwen3 30B-A3B "
        "were measured at 2 to 4 times what is expected of them": is_mixture(training)
        and precision in LOW_BITS,
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


@dataclass(frozen=True)
class Largest:
    """The largest figure of the published runs of a kind, and the run that has it."""

    amount: float
    run: str
    kind: str
    """`training of a dense model`."""


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
