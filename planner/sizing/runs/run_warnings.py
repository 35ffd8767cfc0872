"""Why to doubt the figures of a training, and what they leave out. PURE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from planner.contract.models.config import KNOWN_FAMILIES, other_layers, read_fields
from planner.contract.models.count_parameters import read_config
from planner.contract.models.known_models import context_of
from planner.contract.request.workload import MEASURED, RATES, Serving, Training
from planner.sizing.footprint.training_flops import (
    FINE_TUNING,
    USUAL_VOCABULARY,
    active_parameters,
    compute_work,
    is_adapter,
    is_mixture,
    is_near_both,
    stage_of,
    usual_length,
)
from planner.sizing.layout.search import SAME_BATCH, LayoutTask, PlacedLayout
from planner.sizing.layout.shapes import FULL_BYTES, OPTIMIZER_BYTES, state_bytes, usable_gib
from planner.sizing.layout.step_time import is_tpu
from planner.sizing.performance.confidence import has_user_rate
from planner.sizing.performance.levels import CAUSAL_SHARE, benchmark_level, is_vector
from planner.sizing.performance.teams import team_fit
from pricing.common.pluralize import pluralize
from pricing.market.accelerators import Accelerator

HALF_BYTES, STATE_BYTES = 2.0, 16.0
"""Bytes of a parameter in 16 bits, and with gradient and AdamW's states (ZeRO, arXiv 1910.02054,
2020)."""
MATRIX_UNITS_SINCE = 2018
"""Year from which NVIDIA's accelerators multiply 16-bit matrices on units of their own (Volta,
2017, and Turing, 2018; its datasheets)."""

THIN_SHARE, LEAST_SHARE = 0.5, 0.01
"""Share of an accelerator's rate that a split leaves, below which the answer says so, and the least
that it tells; planning choices, 2026."""
MOSTLY = 0.5
"""Share of the working time that an advised split waits for its links, from which the answer says
so; a planning choice, 2026."""


def left_out(training: Training, one: Accelerator, precision: str) -> tuple[str, ...]:
    """What is counted nowhere or otherwise than it is."""
    return (
        *beside_language(training),
        *mixed_layers(training),
        *unknown_family(training),
        *long_answers(training),
        *beside_steps(training),
        *without_matrices(training, one, precision),
        *unused_adapters(training),
        *windows_of_no_layer(training),
        *beside_a_rate(training),
        *long_examples(training),
        *beyond_context(training),
    )


def beside_language(training: Training) -> tuple[str, ...]:
    """Encoders of images or sound beside the language model of a config.

    >>> seven = Training(kind="training", parameters=7e9, tokens=1e9)
    >>> beside_language(seven)
    ()
    """
    config = _read(training.config)
    if config is None or not config.beside or training.parameters not in config.filled:
        return ()
    return (
        f"{_join(config.beside)} of the config {'is' if len(config.beside) == 1 else 'are'} not "
        f"counted: {training.parameters / 1e9:,.2f} billion parameters are the language model's; "
        "images and sound count as the tokens that they become, and parameters of one's own stand",
    )


def mixed_layers(training: Training) -> tuple[str, ...]:
    """Layers of another kind than attention that a config has, and what they are taken for."""
    config = _read(training.config)
    if config is None or not config.other or training.sliding_layers != config.sliding_layers:
        return ()
    if config.sliding_layers is None:
        return (f"the config's {config.other} counts by its parameters alone, not by its work",)
    return (
        f"{config.sliding_layers} layers without attention ({config.other} of the config) are "
        f"taken for attention with a window of {training.sliding_window or 0:,} tokens, whose work "
        "is about theirs",
    )


def unknown_family(training: Training) -> tuple[str, ...]:
    """A config of a family that nobody has read the code of.

    >>> shape = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    >>> foo = {**shape, "vocab_size": 99, "intermediate_size": 256, "model_type": "foo"}
    >>> one = Training.model_validate({"kind": "training", "tokens": 1e9, "config": foo})
    >>> unknown_family(one)[0][:46]
    'the model_type foo of the config is not known:'
    """
    config = _read(training.config)
    if config is None or training.parameters not in config.filled:
        return ()
    if not config.family or config.family in KNOWN_FAMILIES:
        return ()
    return (
        f"the model_type {config.family} of the config is not known: its "
        f"{training.parameters:,.0f} parameters are counted as a Llama's, with a gated "
        "feed-forward part and an output of its own where nothing else is said; parameters given "
        "beside the config replace them",
    )


@dataclass(frozen=True)
class _Config:
    """What a config says beside the sizes of a request."""

    family: str
    beside: tuple[str, ...]
    """What stands beside its language model."""
    filled: tuple[float, ...]
    """The parameters that are filled from it, with and without an output."""
    other: str
    """Its layers beside attention."""
    sliding_layers: int | None
    """Layers with a window that are filled from it."""


@lru_cache(maxsize=8)
def _read(text: str | None) -> _Config | None:
    if text is None:
        return None
    fields = read_fields(text, is_size_given=True)
    figures = read_config(text, is_size_given=True)
    filled = (figures.parameters, figures.parameters - figures.output_parameters)
    return _Config(
        family=fields.family,
        beside=fields.beside,
        filled=tuple(float(count) for count in filled),
        other=other_layers(fields.config, fields.family),
        sliding_layers=figures.sliding_layers or None,
    )


def long_answers(training: Training) -> tuple[str, ...]:
    """Answers that do not fit the sequences that memory and attention are counted at.

    >>> from planner.contract.request.workload import Rollouts
    >>> one = Training(kind="training", parameters=7e9, tokens=1e9, sequence_length=2048,
    ...                rollouts=Rollouts(response_tokens=8000, per_step=64))
    >>> long_answers(one)[0][:61]
    'prompts and answers are 8,256 tokens together in the mean and'
    """
    rollouts = training.rollouts
    length = usual_length(training)
    if rollouts is None or rollouts.prompt_tokens + rollouts.response_tokens <= length:
        return ()
    whole = rollouts.prompt_tokens + rollouts.response_tokens
    return (
        f"prompts and answers are {whole:,} tokens together in the mean and sequence_length "
        f"{length:,}: memory and attention are counted too low; sequence_length is at least that "
        "of the longest",
    )


def long_examples(training: Training) -> tuple[str, ...]:
    """A mean example that no sequence holds, of which the sequence stands.

    >>> one = Training(kind="training", parameters=1e9, tokens=1e9, tokens_per_example=5000)
    >>> long_examples(one)[0][:58], long_examples(one.model_copy(update={"sequence_length": 8192}))
    ('the mean example of 5,000 tokens is longer than a sequence', ())
    """
    example, length = training.tokens_per_example, usual_length(training)
    if example is None or example <= length:
        return ()
    return (
        f"the mean example of {example:,.0f} tokens is longer than a sequence of {length:,}: it is "
        "counted as cut to that",
    )


def thin_steps(training: Training, layout: PlacedLayout, count: int, least: int) -> tuple[str, ...]:
    """A number of accelerators of which each has too little of a step to do, where half of them or
    fewer hold the training."""
    is_asked = training.layout is not None or has_user_rate(training)
    if is_asked or count < 2 * least:
        return ()
    if layout.share_of_level >= THIN_SHARE:
        return ()
    batch, share = layout.global_batch_tokens, max(layout.share_of_level, LEAST_SHARE)
    return (
        f"on {count:,} accelerators a step of {batch:,.0f} tokens is {batch / count:,.0f} for "
        f"each, which works at {share:.0%} of its rate: fewer accelerators, or a larger "
        "global_batch_tokens, take fewer accelerator-hours",
    )


def on_the_host(training: Training, layout: PlacedLayout, precision: str) -> tuple[str, ...]:
    """Memory of the hosts that the optimizer's states take, which no machine is chosen by."""
    if not training.optimizer_offload:
        return ()
    states = state_bytes(training, precision)
    parts = layout.tensor * layout.pipeline
    ranks = parts * layout.data * layout.context
    total = states.trained * states.optimizer * (1 if layout.zero_stage else ranks / parts)
    return (
        f"optimizer_offload keeps {total / 1e9:,.3g} GB of states in the memory of the hosts, "
        f"{total / ranks / 1e9:,.3g} GB beside each accelerator: see that the machines have it",
    )


def beside_steps(training: Training) -> tuple[str, ...]:
    """Models that reinforcement learning holds beside the one that it trains."""
    rollouts = training.rollouts
    if rollouts is None:
        return ()
    weights = HALF_BYTES * training.parameters / 1e9
    held = [f"the engine's weights ({weights:,.0f} GB) and its cache"]
    if rollouts.has_reference and not is_adapter(training):
        held.append(f"the frozen reference ({weights:,.0f} GB)")
    if rollouts.critic_parameters:
        states = STATE_BYTES * rollouts.critic_parameters / 1e9
        held.append(f"the critic with its states ({states:,.0f} GB)")
    return (
        "memory and the least number of accelerators are those of the trained model alone: "
        f"{_join(held)} want room beside it, in turns on the same accelerators or on others",
    )


def unused_adapters(training: Training) -> tuple[str, ...]:
    """Parameters of adapters that there are none of, or more of than of the model.

    >>> one = Training(kind="training", parameters=1e9, tokens=1e9, trainable_parameters=5e6)
    >>> unused_adapters(one)[0][:49], unused_adapters(one.model_copy(update={"optimizer": "lora"}))
    ('trainable_parameters counts with lora and qlora a', ())
    """
    trained = training.trainable_parameters
    if trained is None:
        return ()
    if not is_adapter(training):
        return (
            f"trainable_parameters counts with lora and qlora alone: optimizer "
            f"{training.optimizer} trains all {training.parameters:,.0f} parameters",
        )
    if trained <= training.parameters:
        return ()
    return (
        f"the adapters' {trained:,.0f} trainable_parameters are more than the "
        f"{training.parameters:,.0f} parameters of the model",
    )


def windows_of_no_layer(training: Training) -> tuple[str, ...]:
    """A window that no layer is said to have, or layers of which no window is said.

    >>> one = Training(kind="training", parameters=1e9, tokens=1e9, sliding_window=1024)
    >>> windows_of_no_layer(one)[0][:62]
    'sliding_window 1,024 counts for nothing without sliding_layers'
    >>> windows_of_no_layer(one.model_copy(update={"sliding_layers": 0}))
    ()
    """
    window, layers = training.sliding_window, training.sliding_layers
    if window and layers is None and training.config is None:
        return (
            f"sliding_window {window:,} counts for nothing without sliding_layers, the layers that "
            "have it: every layer is counted over the whole sequence",
        )
    if layers and not window:
        return (
            f"sliding_layers {layers:,} counts for nothing without sliding_window, the tokens that "
            "they look back: every layer is counted over the whole sequence",
        )
    return ()


def beside_a_rate(training: Training) -> tuple[str, ...]:
    """What tells nothing beside a rate of the team's own, which holds it.

    >>> one = Training(kind="training", parameters=1e9, tokens=1e9, mfu=0.4, code="standard")
    >>> beside_a_rate(one)
    ('code counts for nothing beside mfu, which holds it already',)
    """
    stated = next((name for name in RATES if getattr(training, name) is not None), None)
    if stated is None:
        return ()
    held = ("code", "rollouts") if stated in MEASURED else ("code",)
    useless = [name for name in held if getattr(training, name) is not None]
    if not useless:
        return ()
    verb, them = ("counts", "it") if len(useless) == 1 else ("count", "them")
    return (f"{_join(useless)} {verb} for nothing beside {stated}, which holds {them} already",)


def waiting_for_links(training: Training, layout: PlacedLayout) -> tuple[str, ...]:
    """An advised split that spends more time on its links than on the model."""
    is_asked = training.layout is not None or has_user_rate(training)
    if is_asked or layout.exposed_communication < MOSTLY:
        return ()
    return (
        f"the fastest split that fits spends {layout.exposed_communication:.0%} of the working "
        "time waiting for its links: accelerators with faster links or more memory, or a different "
        "number of them, may take far fewer accelerator-hours",
    )


def without_matrices(training: Training, one: Accelerator, precision: str) -> tuple[str, ...]:
    """An accelerator of today whose rate in 16 bits no source states.

    >>> from pricing.market.accelerators import get
    >>> seven = Training(kind="training", parameters=7e9, tokens=1e9)
    >>> without_matrices(seven, get("nvidia-gtx-1080"), "fp32")
    ()
    """
    is_new = one.year is not None and one.year >= MATRIX_UNITS_SINCE
    is_guessed = training.precision is None and not has_user_rate(training)
    if not is_guessed or precision != "fp32" or not is_new:
        return ()
    return (
        f"no source states a rate of {one.name} in 16 bits, so that it is counted in fp32 on its "
        "vector units: hours and memory are too high where its matrix units work; a measured "
        "tokens_per_second_per_accelerator replaces it",
    )


def _join(parts: Sequence[str]) -> str:
    """Parts as a list in words.

    >>> _join(["a"]), _join(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


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


def mfu_words(task: LayoutTask, layout: PlacedLayout) -> str:
    """Where an estimated MFU comes from."""
    training, one, precision = task.training, task.accelerator, task.precision
    stage = "fine-tuning" if stage_of(training) == FINE_TUNING else "pre-training"
    if is_near_both(training):
        stage = "between pre-training and fine-tuning"
    words = f"{stage} with {CODE_WORDS[training.code]}"
    if is_vector(one, precision):
        words = f"{stage} on vector units, where the tuning of the code tells nothing"
    elif is_mixture(training):
        times = math.exp(team_fit().mixture_of(training))
        words += f"; a mixture of experts takes {times:.2f} times that"
    level = benchmark_level(one, precision).source
    return f"{level}; {layout.share_of_level:.0%} of it under this layout; {words}"


def above_peak(mfu: float, hfu: float, accelerators: str) -> tuple[str, ...]:
    """A given MFU that leaves nothing for recomputation."""
    if hfu <= 1:
        return ()
    return (
        f"at an MFU of {mfu:.1%} nothing is left for activation checkpointing, without which "
        f"{accelerators} cannot hold it: that is {hfu:.0%} of the dense peak",
    )


def borrowed_rate(training: Training, one: Accelerator, precision: str) -> tuple[str, ...]:
    """Whose rate an accelerator is given that no training benchmark was published of."""
    stands_in = benchmark_level(one, precision).stands_in
    if has_user_rate(training) or not stands_in:
        return ()
    return (
        f"no training benchmark of {one.name} itself is in its rate: the share of its peak is that "
        f"of {stands_in}",
    )


def of_few_teams(training: Training) -> tuple[str, ...]:
    """Why the range of a fine-tuning is wide."""
    is_tuning = stage_of(training) == FINE_TUNING or training.rollouts
    if has_user_rate(training) or not is_tuning:
        return ()
    if training.rollouts:
        return (
            "only two teams publish steps of reinforcement learning, so the range is as wide as "
            "that of fine-tuning; a measured step narrows it",
        )
    is_code_known = training.code
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


def fewer_than_a_step(training: Training, batch: float) -> tuple[str, ...]:
    """Tokens that do not fill one step; of reinforcement learning one of all its
    prompts and answers."""
    rollouts = training.rollouts
    if rollouts:
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


def unasked(training: Training, layout: PlacedLayout) -> tuple[str, ...]:
    """What was worked out otherwise than asked for, or guessed."""
    return (
        *another_batch(training, layout),
        *idle_accelerators(training, layout),
        *unlikely_shape(training),
        *guessed_stage(training),
        *own_split(training, layout),
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


def guessed_stage(training: Training) -> tuple[str, ...]:
    """A stage that the number of tokens decides, where it might as well be the other one.

    >>> seven = Training(kind="training", parameters=7e9, tokens=6e9)
    >>> guessed_stage(seven)[0][:45]
    'counted between pre-training and fine-tuning,'
    >>> guessed_stage(seven.model_copy(update={"stage": "fine_tuning"}))
    ()
    """
    if training.rollouts or has_user_rate(training) or not is_near_both(training):
        return ()
    ratio = training.tokens / active_parameters(training)
    return (
        "counted between pre-training and fine-tuning, because it has "
        f"{ratio:.2f} times as many tokens as active parameters; either one alone takes "
        "different hours, so state the stage",
    )


def _takers(training: Training, layout: PlacedLayout) -> str:
    """Who takes accelerators at once under a split of one's own."""
    if training.layout is None or layout.at_once == training.layout.parts:
        return "one replica takes"
    return f"spread experts evenly: expert {layout.expert} divides the ranks of a stage"


def own_split(training: Training, layout: PlacedLayout) -> tuple[str, ...]:
    """What is wrong with a team's own split, although it fits.

    >>> own_split(Training(kind="training", parameters=7e9, tokens=1e9), None)
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


def beyond_context(training: Training) -> tuple[str, ...]:
    """Trained sequences, or the examples packed into them, and answers that are longer.

    >>> gpt = Training(kind="training", model="gpt2", tokens=1e9, sequence_length=32768)
    >>> beyond_context(gpt)[0][:70]
    'sequences of 32,768 tokens do not run on gpt2: it has learned 1,024 po'
    >>> beyond_context(gpt.model_copy(update={"tokens_per_example": 500.0}))
    ()
    """
    length = float(training.sequence_length or 0)
    trained = min(length, training.tokens_per_example or length)
    rollouts = training.rollouts
    written = rollouts.prompt_tokens + rollouts.response_tokens if rollouts else 0
    return (
        *_longer(training, trained, "sequences"),
        *_longer(training, written, "prompts with answers"),
    )


def served_beyond_context(training: Training, serving: Serving) -> tuple[str, ...]:
    """Prompts with their answers that are longer than what a served model reads.

    >>> gpt = Training(kind="training", model="gpt2", tokens=1e9)
    >>> served = Serving(tokens_per_second=1, prompt_tokens=100_000)
    >>> served_beyond_context(gpt, served)[0][:64]
    'prompts with answers of 100,250 tokens do not run on gpt2: it ha'
    """
    tokens = serving.prompt_tokens + serving.output_tokens
    return _longer(training, tokens, "prompts with answers")


def _longer(training: Training, tokens: float, what: str) -> tuple[str, ...]:
    context = context_of(training.model, training.config)
    if context is None or tokens <= context.tokens:
        return ()
    name = training.model or "the model of the config"
    if context.is_learned:
        return (
            f"{what} of {tokens:,.0f} tokens do not run on {name}: it has learned "
            f"{context.tokens:,} positions and none beyond; allowed are up to {context.tokens:,}, "
            "or a model of a longer context",
        )
    return (
        f"{what} of {tokens:,.0f} tokens are longer than the {context.tokens:,} of {name}: its "
        "positions have to be extended for them first (RoPE scaling such as YaRN, and training on "
        "long sequences), which these figures leave out",
    )


STEP_COPY = {"adamw": 4.0, "adamw_bf16": 2.0}
"""Bytes per trained parameter that PyTorch's own AdamW holds while it steps unless fused: about one
copy of the parameters, for the square roots of the second moments (torch.optim.AdamW, foreach, the
default on CUDA; PyTorch documentation 2.0 to 2.9, 2023-2025). Activations are gone by then."""


def unfused_step(
    training: Training, one: Accelerator, layout: PlacedLayout, precision: str
) -> tuple[str, ...]:
    """An AdamW that is not fused, where its step does not fit beside the states."""
    is_counted = training.optimizer in STEP_COPY and not training.optimizer_offload
    if not is_counted or is_adapter(training) or is_tpu(one):
        return ()
    memory = layout.memory
    held = (FULL_BYTES if precision in ("fp32", "tf32") else OPTIMIZER_BYTES)[training.optimizer][2]
    copy = memory.optimizer_gib * STEP_COPY[training.optimizer] / held
    states = memory.weights_gib + memory.gradients_gib + memory.optimizer_gib
    if states + copy <= usable_gib(one):
        return ()
    return (
        f"AdamW has to be fused (fused=True in PyTorch, FusedAdam of Apex and DeepSpeed): its step "
        f"else holds {copy:,.1f} GiB more beside {states:,.1f} GiB of states, which does not fit "
        f"{one.name}",
    )
