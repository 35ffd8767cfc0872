"""What an answer leaves out beside the training itself, and says so. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from planner.contract.models.config_fields import read_fields
from planner.contract.models.count_parameters import read_config
from planner.contract.models.families import KNOWN_FAMILIES
from planner.contract.models.uncounted import other_layers
from planner.contract.request.workload import MEASURED, RATES, Training
from planner.sizing.footprint.training_flops import is_adapter, usual_length
from planner.sizing.layout.placed_layout import PlacedLayout
from planner.sizing.layout.states import state_bytes
from planner.sizing.performance.confidence import has_user_rate
from planner.sizing.runs.context_words import beyond_context
from pricing.market.accelerators import Accelerator

BESIDE_RULES = 6
"""Edition of the rules from which it is said, 2026."""
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


def left_out(training: Training, one: Accelerator, precision: str, rules: int) -> tuple[str, ...]:
    """What is counted nowhere or otherwise than it is."""
    if rules < BESIDE_RULES:
        return ()
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

    >>> from planner.contract.request.attempts import Rollouts
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


def thin_steps(
    training: Training, layout: PlacedLayout, count: int, least: int, rules: int
) -> tuple[str, ...]:
    """A number of accelerators of which each has too little of a step to do, where half of them or
    fewer hold the training."""
    is_asked = training.layout is not None or has_user_rate(training)
    if rules < BESIDE_RULES or is_asked or count < 2 * least:
        return ()
    if layout.share_of_level >= THIN_SHARE:
        return ()
    batch, share = layout.global_batch_tokens, max(layout.share_of_level, LEAST_SHARE)
    return (
        f"on {count:,} accelerators a step of {batch:,.0f} tokens is {batch / count:,.0f} for "
        f"each, which works at {share:.0%} of its rate: fewer accelerators, or a larger "
        "global_batch_tokens, take fewer accelerator-hours",
    )


def on_the_host(
    training: Training, layout: PlacedLayout, precision: str, rules: int
) -> tuple[str, ...]:
    """Memory of the hosts that the optimizer's states take, which no machine is chosen by."""
    if rules < BESIDE_RULES or not training.optimizer_offload:
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


def waiting_for_links(training: Training, layout: PlacedLayout, rules: int) -> tuple[str, ...]:
    """An advised split that spends more time on its links than on the model."""
    is_asked = training.layout is not None or has_user_rate(training)
    if rules < BESIDE_RULES or is_asked or layout.exposed_communication < MOSTLY:
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
