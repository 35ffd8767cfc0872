"""What an answer says of a training that its figures do not: why to doubt them. PURE."""

from __future__ import annotations

import math
from typing import Protocol

from planner.contract.request.workload import Training
from planner.sizing.footprint.stages import (
    BETWEEN_RULES,
    FINE_TUNING,
    is_near_both,
    stage_of,
)
from planner.sizing.footprint.training_flops import (
    USUAL_VOCABULARY,
    active_parameters,
    compute_work,
    is_mixture,
)
from planner.sizing.layout.placed_layout import PlacedLayout
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.stated_batch import SAME_BATCH
from planner.sizing.layout.step_time import WHOLE_RULES
from planner.sizing.performance.confidence import has_user_rate
from planner.sizing.performance.levels import CAUSAL_SHARE, STEP_RULES, is_vector
from planner.sizing.performance.teams import team_fit
from planner.sizing.performance.throughput import benchmark_level
from planner.sizing.runs.beside_words import mixed_layers
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import Accelerator

CODE_WORDS = {
    "hand_tuned": "hand-tuned code",
    "standard": "a standard framework",
    "first_version": "a first version of the code",
    None: "what published teams reach",
}
"""How well tuned code is, in words."""
HOLDS_IT = "the range allows for that"
LEAST_AT_WORK = 0.02
"""Part of the parameters below which no published mixture works: Kimi K2 has 0.032, Llama 4
Maverick 0.043 (their model cards, 2025)."""
MUCH_EXPOSED = 0.25
"""Share of the working time from which waiting for links is said; a planning choice, 2026."""
MOST_UNLIKE = 4.0
"""Parameters over those of a usual shape, or the reverse, from which one of them is doubted: the
models of the table have 0.76 to 1.93; a planning choice, 2026."""
LONG_YEARS = 10.0
"""Years from which a run is said to take too long to be one; a planning choice, 2026."""
MUCH_SKIPPED = 0.1
"""Part of the work from which what windows save is said; a planning choice, 2026."""
ANSWER_RULES = 6
"""Edition of the rules from which a step of reinforcement learning is all its answers, 2026."""
MUCH_LONGER = 1.5
"""Hours over others from which they are told as a multiple; a planning choice, 2026."""


class OtherNumber(Protocol):
    """A run on another number of accelerators."""

    @property
    def accelerators(self) -> int:
        """How many."""

    @property
    def hours(self) -> float:
        """Accelerator-hours."""


def mfu_words(task: LayoutTask, layout: PlacedLayout, rules: int) -> str:
    """Where an estimated MFU comes from."""
    training, one, precision = task.training, task.accelerator, task.precision
    stage = "fine-tuning" if stage_of(training) == FINE_TUNING else "pre-training"
    if rules >= BETWEEN_RULES and is_near_both(training):
        stage = "between pre-training and fine-tuning"
    words = f"{stage} with {CODE_WORDS[training.code]}"
    if rules >= STEP_RULES and is_vector(one, precision):
        words = f"{stage} on vector units, where the tuning of the code tells nothing"
    elif rules >= STEP_RULES and is_mixture(training):
        times = math.exp(team_fit(rules).mixture_of(training, rules))
        words += f"; a mixture of experts takes {times:.2f} times that"
    level = benchmark_level(one, precision, rules).source
    return f"{level}; {layout.share_of_level:.0%} of it under this layout; {words}"


def above_peak(mfu: float, hfu: float, accelerators: str) -> tuple[str, ...]:
    """A given MFU that leaves nothing for recomputation."""
    if hfu <= 1:
        return ()
    return (
        f"at an MFU of {mfu:.1%} nothing is left for activation checkpointing, without which "
        f"{accelerators} cannot hold it: that is {hfu:.0%} of the dense peak",
    )


def borrowed_rate(
    training: Training, one: Accelerator, precision: str, rules: int
) -> tuple[str, ...]:
    """Whose rate an accelerator is given that no training benchmark was published of."""
    stands_in = benchmark_level(one, precision, rules).stands_in
    if has_user_rate(training) or not stands_in:
        return ()
    return (
        f"no training benchmark of {one.name} itself is in its rate: the share of its peak is that "
        f"of {stands_in}",
    )


def of_few_teams(training: Training, rules: int) -> tuple[str, ...]:
    """Why the range of a fine-tuning is wide."""
    is_tuning = stage_of(training) == FINE_TUNING or training.rollouts
    if has_user_rate(training) or not is_tuning:
        return ()
    if training.rollouts:
        return (
            "only two teams publish steps of reinforcement learning, so the range is as wide as "
            "that of fine-tuning; a measured step narrows it",
        )
    is_code_known = rules >= STEP_RULES and training.code
    held = (
        "the range leaves out what the stated tuning of the code explains"
        if is_code_known
        else HOLDS_IT
    )
    return (
        "published fine-tunings differ tenfold between teams, because padded sequences, small "
        f"batches and untuned code take most of the time: {held}; a rate measured in 15 minutes "
        "or so narrows it",
    )


def fewer_than_a_step(training: Training, batch: float, rules: int) -> tuple[str, ...]:
    """Tokens that do not fill one step; of reinforcement learning, from rules 6 on, one of all its
    prompts and answers."""
    rollouts = training.rollouts
    if rollouts and rules >= ANSWER_RULES:
        step = rollouts.per_step * (rollouts.prompt_tokens + rollouts.response_tokens)
        if training.tokens < step:
            return (
                f"the {training.tokens:,.0f} tokens are less than one step of {step:,} "
                f"({rollouts.per_step:,} answers with prompts): tokens are those of all steps",
            )
    if training.tokens >= batch:
        return ()
    return (
        f"the {training.tokens:,.0f} tokens are less than one step of {batch:,.0f}: fewer "
        "accelerators, or a smaller batch, are enough",
    )


def unasked(training: Training, layout: PlacedLayout, rules: int) -> tuple[str, ...]:
    """What was worked out otherwise than asked for, or guessed."""
    return (
        *another_batch(training, layout),
        *idle_accelerators(training, layout),
        *unlikely_shape(training),
        *guessed_stage(training, rules),
        *own_split(training, layout, rules),
        *skipped_by_windows(training),
        *lone_experts(training),
    )


def lone_experts(training: Training) -> tuple[str, ...]:
    """Experts of a model of which every parameter counts as at work, or next to none."""
    names_experts = training.experts or training.experts_per_token
    active = active_parameters(training)
    if names_experts and not is_mixture(training):
        return (
            "experts are given without active_parameters, so all "
            f"{training.parameters:,.0f} parameters are counted as active for each token; "
            "active_parameters would make it a mixture",
        )
    if active < LEAST_AT_WORK * training.parameters:
        return (
            f"{active:,.0f} of {training.parameters:,.0f} parameters are active for each token, a "
            "smaller share than in any published mixture: the hours are no more than a bound",
        )
    return ()


def another_batch(training: Training, layout: PlacedLayout) -> tuple[str, ...]:
    """A step that is not of the batch that was asked for."""
    batch = training.global_batch_tokens
    if batch is None or abs(layout.global_batch_tokens / batch - 1) <= SAME_BATCH:
        return ()
    return (
        f"a step processes {layout.global_batch_tokens:,.0f} tokens, not the {batch:,.0f} of "
        f"global_batch_tokens: {layout.data} x {layout.micro_batch} sequences are processed at "
        "once, and a step holds a multiple of that",
    )


def idle_accelerators(training: Training, layout: PlacedLayout) -> tuple[str, ...]:
    """Accelerators that the advised split leaves over."""
    if not layout.unused or training.layout:
        return ()
    used = layout.tensor * layout.pipeline * layout.context * layout.data
    return (
        f"the fastest split that fits uses {used:,} accelerators and leaves {layout.unused:,} idle "
        "but paid for; a different number of them would not",
    )


def too_long(hours: float, accelerators: int) -> tuple[str, ...]:
    """Hours on the clock that nobody waits for.

    >>> too_long(8_760, 8), too_long(8_760_000, 8)[0][:41]
    ((), 'on 8 accelerators it takes 1,000 years: u')
    """
    years = hours / (730 * 12)
    if years < LONG_YEARS:
        return ()
    return (
        f"on {accelerators:,} accelerators it takes {years:,.0f} years: use more, or do less work",
    )


def unlikely_shape(training: Training) -> tuple[str, ...]:
    """Layers and width that make a model of another size than its parameters.

    >>> seven = Training(kind="training", parameters=7e9, tokens=1e9, layers=32, hidden_size=4096)
    >>> unlikely_shape(seven), unlikely_shape(seven.model_copy(update={"layers": 2}))[0][:55]
    ((), '2 layers of 4,096 units usually make 814,358,528 parame')
    """
    layers, width = training.layers, training.hidden_size
    if not (layers and width) or is_mixture(training):
        return ()
    vocabulary = training.vocabulary_size or USUAL_VOCABULARY
    usual = 12.0 * layers * width**2 + 2.0 * vocabulary * width
    if usual / MOST_UNLIKE <= training.parameters <= usual * MOST_UNLIKE:
        return ()
    return (
        f"{pluralize(layers, 'layer')} of {width:,} units usually make {usual:,.0f} parameters, "
        f"not {training.parameters:,.0f}: one of the three is wrong, or the hours are",
    )


def skipped_by_windows(training: Training) -> tuple[str, ...]:
    """What windows of attention save, which not every kernel does.

    >>> gemma = Training(kind="training", model="Gemma-3-12b", tokens=1e9, sequence_length=32768)
    >>> skipped_by_windows(gemma)[0][:71]
    'counted with kernels that skip what lies outside the windows of 40 laye'
    >>> skipped_by_windows(gemma.model_copy(update={"sliding_layers": 0}))
    ()
    """
    if not training.sliding_layers or has_user_rate(training) or mixed_layers(training):
        return ()
    own = compute_work(training)
    whole = compute_work(training.model_copy(update={"sliding_layers": 0}))
    worked = own.executed_flops - (1 - CAUSAL_SHARE) * own.attention_flops
    more = CAUSAL_SHARE * (whole.attention_flops - own.attention_flops) / worked
    if more < MUCH_SKIPPED:
        return ()
    return (
        f"counted with kernels that skip what lies outside the windows of {training.sliding_layers}"
        " layers (FlashAttention, FlexAttention); under a mask over the whole sequence, as in "
        f"PyTorch's scaled_dot_product_attention, the work is {more:.0%} more: sliding_layers = 0 "
        "asks for that",
    )


def another_number(count: int, hours: float, other: OtherNumber) -> tuple[str, ...]:
    """Why a run of so many hours takes more accelerators than would do, or fewer than usual."""
    times = other.hours / hours
    more = f"{times:,.1f} times the" if times >= MUCH_LONGER else f"{times - 1:.0%} more"
    named = pluralize(other.accelerators, "accelerator")
    if other.accelerators > count:
        return (
            f"{named}, the usual number for this work, would take {more} accelerator-hours, as "
            f"each step would leave them too little to do: {count:,} are used instead",
        )
    return (
        f"{named} would hold it, but take {more} accelerator-hours: {count:,} are used instead, "
        "the smallest number tried that takes close to the fewest hours; to use fewer, state jobs "
        f"of {named}",
    )


def guessed_stage(training: Training, rules: int) -> tuple[str, ...]:
    """A stage that the number of tokens decides, where it might as well be the other one.

    >>> seven = Training(kind="training", parameters=7e9, tokens=6e9)
    >>> guessed_stage(seven, 5)[0][:37], guessed_stage(seven, 6)[0][:45]
    ('counted as fine-tuning, because it ha', 'counted between pre-training and fine-tuning,')
    >>> guessed_stage(seven.model_copy(update={"stage": "fine_tuning"}), 6)
    ()
    """
    if training.rollouts or has_user_rate(training) or not is_near_both(training):
        return ()
    if rules >= BETWEEN_RULES:
        ratio = training.tokens / active_parameters(training)
        return (
            "counted between pre-training and fine-tuning, because it has "
            f"{ratio:.2f} times as many tokens as active parameters; either one alone takes "
            "different hours, so state the stage",
        )
    is_tuning = stage_of(training) == FINE_TUNING
    kind, fewer = ("fine-tuning", "fewer") if is_tuning else ("pre-training", "no fewer")
    return (
        f"counted as {kind}, because it has {fewer} tokens than active parameters; the other takes "
        "different hours, so state the stage",
    )


def _takers(training: Training, layout: PlacedLayout) -> str:
    """Who takes accelerators at once under a split of one's own."""
    if training.layout is None or layout.at_once == training.layout.parts:
        return "one replica takes"
    return f"spread experts evenly: expert {layout.expert} divides the ranks of a stage"


def own_split(training: Training, layout: PlacedLayout, rules: int) -> tuple[str, ...]:
    """What is wrong with a team's own split, although it fits.

    >>> own_split(Training(kind="training", parameters=7e9, tokens=1e9), None, 6)
    ()
    """
    if training.layout is None:
        return ()
    faults = []
    if layout.unused:
        faults.append(
            f"the layout leaves {pluralize(layout.unused, 'accelerator')} idle but paid for: "
            f"their number is no multiple of the {layout.at_once} that {_takers(training, layout)}"
        )
    if training.layers and training.layers % layout.pipeline:
        fullest = math.ceil(training.layers / layout.pipeline)
        counted = (
            f"holds {fullest} and the others wait for it: hours and memory count {fullest} a stage"
            if rules >= WHOLE_RULES
            else "stage sets the pace, and these hours do not count that"
        )
        faults.append(
            f"{training.layers} layers do not divide into {layout.pipeline} stages: the fullest "
            + counted
        )
    if layout.exposed_communication > MUCH_EXPOSED:
        faults.append(
            f"the layout spends {layout.exposed_communication:.0%} of the working time waiting for "
            "its links; without it, the fastest split that fits is used"
        )
    return tuple(faults)
