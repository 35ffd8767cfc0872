"""Training work in floating-point operations, apart from the hardware that does it. PURE.

Symbols: N parameters active on one token, D training tokens, L layers, d hidden size, w width of
attention (heads times their width), s sequence length, W tokens of a window.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from planner.contract.models.config import AS_SAMPLES
from planner.contract.models.known_models import context_of, count_input_at_work
from planner.contract.request.workload import Training
from pricing.common.invalid_input import InvalidInput

DENSE_FLOPS_PER_PARAMETER = 6.0
"""FLOPs per parameter and token: 2 forward, 4 backward (Kaplan et al., arXiv 2001.08361, 2020)."""
ADAPTER_FLOPS_PER_PARAMETER = 4.0
"""The same when the weights are frozen: 2 forward, 2 for the gradient of the activations; the
2 for the gradient of the weights fall away (Hu et al., LoRA, arXiv 2106.09685, 2021). Llama 3
70B bears it out: 1.47 times the tokens/s of pre-training for 1.55 times fewer FLOPs a token on
GB200 (NVIDIA-NeMo/Megatron-Bridge performance summary @067f987df03b, 2026)."""
ATTENTION_FLOPS = 12.0
"""FLOPs per layer, unit of attention's width, position and token of full attention, forward and
backward, causal masking not discounted (Chowdhery et al., PaLM, arXiv 2204.02311 appendix B,
2022: 12 L H Q T, with H heads of width Q)."""
RECOMPUTE_FACTOR = 4.0 / 3.0
"""Executed over model FLOPs with full activation checkpointing: one more forward pass, 8 N D
for 6 N D (Korthikanti et al., arXiv 2205.05198, 2022). It separates HFU from MFU."""
TYPICAL_SEQUENCE_LENGTH = 4096
"""Tokens; stands in where the request gives none: the middle of the published runs, 2022-2025."""
USUAL_VOCABULARY = 50_257
"""Entries; GPT-2's tokenizer (openai/gpt-2, 2019), where the request gives none."""
MOST_EMBEDDED = 0.25
"""Share of a model's parameters that one embedding takes at most, where V or d is a usual value:
BERT base 0.21, Pythia 160M 0.24 (from their configs, 2018-2023); a planning choice, 2026."""
LEAST_IDLE, MUCH_IDLE = 0.05, 0.4
"""Share of the parameters that rest on a token, from which a model counts as a mixture of experts,
and from which it takes all that mixtures take: published mixtures have 0.45 (Differential MoE S,
published_runs.csv) to 0.97; planning choices, 2026."""
WIDTH_PER_LAYER = 120.0
"""Hidden units per layer of a usual decoder: GPT-3 13B 128, LLaMA 65B 102 (2020-2023)."""


@dataclass(frozen=True)
class Shape:
    """Layers and width of a transformer, as given or as usual for its size."""

    layers: float
    hidden_size: float


@dataclass(frozen=True)
class Work:
    """FLOPs of one training run."""

    model_flops: float
    """What the model's mathematics asks for; the attention term is in it only where the
    request gives a sequence length, as in most published MFU figures."""
    attention_flops: float
    """The attention term at the given or typical sequence length."""
    executed_flops: float
    """All matrix work at the given or typical sequence length, without recomputation."""


def transformer_shape(parameters: float, layers: float | None, hidden_size: float | None) -> Shape:
    """Layers and hidden size from N = 12 L d², at d = 120 L where neither is given."""
    if layers and hidden_size:
        return Shape(layers, hidden_size)
    if layers:
        return Shape(layers, (parameters / (12.0 * layers)) ** 0.5)
    if hidden_size:
        return Shape(max(1.0, parameters / (12.0 * hidden_size**2)), hidden_size)
    hidden = (parameters * WIDTH_PER_LAYER / 12.0) ** (1.0 / 3.0)
    return Shape(max(1.0, hidden / WIDTH_PER_LAYER), hidden)


def shape_of_training(training: Training) -> Shape:
    """Shape of the part of the model that works on one token."""
    return transformer_shape(active_parameters(training), training.layers, training.hidden_size)


def active_parameters(training: Training) -> float:
    """Parameters active on one token: all of them unless the model is a mixture of experts."""
    return training.active_parameters or training.parameters


def size_at_work(training: Training) -> float:
    """Parameters whose matrix work would be all that a token takes, attention's included:
    N + 2 L w s."""
    attention = attention_flops_per_token(training)
    return multiplied_parameters(training) + attention / DENSE_FLOPS_PER_PARAMETER


def attention_flops_per_token(training: Training) -> float:
    """FLOPs of one token's attention, forward and backward, the whole term: 12 L w s.

    >>> qwen = Training(kind="training", model="Qwen3-4B", tokens=1, sequence_length=4096)
    >>> attention_flops_per_token(qwen) == 12 * 36 * (32 * 128) * 4096
    True
    """
    shape = shape_of_training(training)
    return ATTENTION_FLOPS * shape.layers * attention_width(training) * attention_span(training)


def attention_width(training: Training) -> float:
    """Heads times their width, w; the hidden size where the request does not say."""
    return float(training.attention_width or shape_of_training(training).hidden_size)


def attention_span(training: Training) -> float:
    """Tokens that the attention term counts, the mean of the layers: s in one that looks at the
    whole sequence, 2 W - W² / s in one with a window W < s.

    A causal token attends to min(i, W) tokens at position i, W - W² / (2 s) in the mean; the term
    of a whole sequence is s where the mean is s / 2, so a window's is twice its mean.
    """
    # Attention spans the tokens of an example where a sequence holds several.
    length = float(usual_length(training))
    length = min(length, training.tokens_per_example or length)
    window = min(length, float(training.sliding_window or length))
    layers = shape_of_training(training).layers
    windowed = min(float(training.sliding_layers or 0), layers) / layers
    return length - windowed * (length - window) ** 2 / length


def checked_training(training: Training) -> Training:
    """The training as it is sized: a mixture that classifies with its input embedding at work.

    Raises `InvalidInput` for a config of images, for more windows than layers and for padding that
    is counted twice.
    """
    if training.config is not None and training.vocabulary_size is None:
        raise InvalidInput("config", f"is of a model that reads images, not tokens; {AS_SAMPLES}")
    windowed, layers = training.sliding_layers or 0, training.layers
    is_own = training.model is None and training.config is None
    if is_own and layers is not None and windowed > layers:
        raise InvalidInput(
            "sliding_layers",
            f"{windowed:,} are more than the {layers:,} layers; allowed are 0 to {layers:,}",
        )
    if training.padding and training.measured_accelerator_hours:
        raise InvalidInput(
            "padding",
            f"{training.padding:g} is already in measured_accelerator_hours, where the run was of "
            "the same data; leave it out",
        )
    active = training.active_parameters
    if not training.is_classifier or active is None:
        return training
    counted = count_input_at_work(training.model, training.config, active)
    if counted == active:
        return training
    return training.model_copy(update={"active_parameters": counted})


def usual_length(training: Training) -> int:
    """Tokens of one sequence; where the request does not say the typical ones, or all that the
    model has positions for where those are fewer."""
    if training.sequence_length:
        return training.sequence_length
    context = context_of(training.model, training.config)
    return min(TYPICAL_SEQUENCE_LENGTH, context.tokens if context else TYPICAL_SEQUENCE_LENGTH)


def embedding_parameters(training: Training) -> float:
    """Parameters of one matrix over the vocabulary, V d; of a language model, and where V or d is a
    usual value, at most a quarter of the parameters."""
    vocabulary = training.vocabulary_size or USUAL_VOCABULARY
    matrix = float(vocabulary) * shape_of_training(training).hidden_size
    is_stated = training.vocabulary_size and training.hidden_size
    if training.is_classifier:
        most = (1.0 if is_stated else MOST_EMBEDDED) * active_parameters(training)
    else:
        most = MOST_EMBEDDED * training.parameters
    return min(matrix, most)


def multiplied_parameters(training: Training) -> float:
    """Parameters active on one token that are multiplied: all of them in a language model, whose
    output is as large as its embedding; without the embedding, which is looked up, in a
    classifier."""
    looked_up = embedding_parameters(training) if training.is_classifier else 0.0
    return active_parameters(training) - looked_up


def is_mixture(training: Training) -> bool:
    """Whether less than 95 % of the parameters work on a token."""
    return active_parameters(training) < 0.95 * training.parameters


def mixture_share(training: Training) -> float:
    """Part of what mixtures of experts take beside dense models that a model takes: more with
    the share of its parameters that rests on a token."""
    idle = 1 - active_parameters(training) / training.parameters
    return min(1.0, max(0.0, idle - LEAST_IDLE) / (MUCH_IDLE - LEAST_IDLE))


def compute_work(training: Training) -> Work:
    """C = 6 N D + 12 L w s D for one run; 4 N D under frozen weights; N without the embedding for
    a classifier.

    >>> gpt3 = Training(kind="training", parameters=175e9, tokens=300e9)
    >>> f"{compute_work(gpt3).model_flops:.3g}"
    '3.15e+23'
    >>> long = gpt3.model_copy(update={"layers": 96, "hidden_size": 12288, "sequence_length": 2048})
    >>> f"{compute_work(long).model_flops:.3g}"
    '3.24e+23'
    """
    factor = ADAPTER_FLOPS_PER_PARAMETER if is_adapter(training) else DENSE_FLOPS_PER_PARAMETER
    matrix = factor * multiplied_parameters(training) * training.tokens
    attention = attention_flops_per_token(training) * training.tokens
    return Work(
        model_flops=matrix + attention if training.sequence_length else matrix,
        attention_flops=attention,
        executed_flops=matrix + attention,
    )


def is_adapter(training: Training) -> bool:
    """Whether the weights are frozen and only adapters are trained."""
    return training.optimizer in ("lora", "qlora")


def with_padding(training: Training) -> float:
    """Tokens processed over tokens of the data."""
    return 1 / (1 - (training.padding or 0.0))


PRETRAINING, FINE_TUNING = "pretraining", "fine_tuning"
TUNED_FLOPS = 1e22
"""FLOPs up to which fewer tokens than parameters make a fine-tuning: MT-NLG 530B was pre-trained on
270 billion tokens, PaLM 540B on 780 (arXiv 2201.11990, 2204.02311, 2022)."""
NEAR_THE_STAGES = 2.0
"""Tokens over active parameters, or the reverse, up to which a guessed stage is said to be one and
lies between the two; a planning choice, 2026."""


def stage_of(training: Training) -> str:
    """As the request says; else fine-tuning with adapters or, below `TUNED_FLOPS`, on fewer tokens
    than parameters at work, which no pre-training gets by with (20 tokens a parameter are usual:
    Hoffmann et al., arXiv 2203.15556, 2022)."""
    if training.stage is not None:
        return training.stage
    is_short = training.tokens < active_parameters(training)
    is_short &= compute_work(training).model_flops < TUNED_FLOPS
    return FINE_TUNING if is_short or is_adapter(training) else PRETRAINING


def is_near_both(training: Training) -> bool:
    """Whether the stage is guessed from tokens that might as well make it the other one."""
    if training.stage is not None or is_adapter(training):
        return False
    if compute_work(training).model_flops >= TUNED_FLOPS:
        return False
    ratio = training.tokens / active_parameters(training)
    return 1 / NEAR_THE_STAGES <= ratio <= NEAR_THE_STAGES


def by_stage(training: Training, value: Callable[[str], float]) -> float:
    """What a stage makes of a training; of a guess from D tokens, half to twice the
    N active parameters, what lies between the stages by ln (D / N)."""
    if not is_near_both(training):
        return value(stage_of(training))
    ratio = training.tokens / active_parameters(training)
    tuning = 0.5 - math.log(ratio) / (2 * math.log(NEAR_THE_STAGES))
    return tuning * value(FINE_TUNING) + (1 - tuning) * value(PRETRAINING)
