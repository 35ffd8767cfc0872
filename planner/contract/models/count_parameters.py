"""Parameters of a transformer from its config: all of them, and those active on a token. PURE.

Per layer: queries, keys, values and output of attention; the feed-forward part, of three matrices
where it has a gate and two where not; router, routed and shared experts; norms. Beside them the
embedding, twice where output and input do not share it.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.contract.models.config import (
    AS_SAMPLES,
    PADDED_POSITIONS,
    STATE_WINDOW,
    ConfigFields,
    layers_without_attention,
    read_fields,
)
from pricing.common.invalid_input import InvalidInput

MOST_LAYERS = 10_000
"""Layers of a config that is believed, 2026."""


@dataclass(frozen=True)
class ModelFigures:
    """What a config says of a model."""

    parameters: int
    active_parameters: int
    layers: int
    hidden_size: int
    attention_width: int
    """Heads times their width, that of queries and keys and that of values in the mean."""
    vocabulary_size: int | None
    feed_forward_size: int
    """Of one expert in a mixture."""
    is_gated: bool
    experts: int | None
    experts_per_token: int | None
    cached_values: int
    """Values that a token keeps in the cache of one full-attention layer."""
    sliding_window: int | None
    sliding_layers: int
    """Layers that attend to the window alone."""
    positions: int | None
    """Longest sequence."""
    has_learned_positions: bool
    """Whether each position has an embedding of its own, beyond which there is none."""
    output_parameters: int
    """Of an output over the vocabulary that is not the embedding itself."""
    uncounted_input: int = 0
    """Of the input embedding where `active_parameters`, as the family publishes it, has it not."""
    heads: int = 0
    """Of attention, those of queries; 0 where they are not known."""
    is_encoder: bool = False
    """Whether the family reads texts and writes none."""


def read_config(text: str, is_size_given: bool = False) -> ModelFigures:
    """Figures of a config's text; refuses, on `config`, what it cannot count. Where the request
    gives the parameters, those of layers that are not counted are no reason to refuse.

    >>> llama = read_config('{"model_type": "llama", "hidden_size": 4096, "vocab_size": 32000,'
    ...     '"num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008}')
    >>> llama.parameters
    6738415616
    """
    fields = read_fields(text, is_size_given)
    _check(fields)
    layers, hidden = fields.need("layers"), fields.need("hidden_size")
    dense_layers = _dense_layers(fields)
    attention = attention_parameters(fields) + fields.code.norms * hidden
    dense, sparse, at_work = (
        _dense(fields),
        _experts(fields, fields.get("experts") or 0),
        _experts(fields, fields.get("experts_per_token") or 0),
    )
    sparse_layers = layers - dense_layers
    body = layers * attention + dense_layers * dense + hidden
    kernel = fields.config.get("conv_kernel_size")
    if fields.family == "deberta-v2" and isinstance(kernel, int):
        body += kernel * hidden**2  # a convolution beside the first layer (its code, 2021)
    inputs, outputs = _embeddings(fields)
    total = body + sparse_layers * sparse + inputs + outputs
    active = body + sparse_layers * at_work + inputs + outputs
    uncounted = inputs if "uncounted_input" in fields.code.traits else 0
    active -= uncounted
    experts = fields.get("experts") or None
    window, sliding = _sliding(fields)
    return ModelFigures(
        parameters=total,
        active_parameters=min(active, total),
        layers=layers,
        hidden_size=hidden,
        attention_width=attention_width(fields),
        vocabulary_size=fields.get("vocabulary"),
        feed_forward_size=_expert_width(fields) if experts else _width(fields),
        is_gated=_is_gated(fields),
        experts=experts,
        experts_per_token=fields.get("experts_per_token") if experts else None,
        cached_values=cached_values(fields),
        sliding_window=window,
        sliding_layers=sliding,
        positions=_longest_sequence(fields),
        has_learned_positions=_learns_positions(fields),
        output_parameters=outputs,
        uncounted_input=uncounted,
        heads=fields.need("heads"),
        is_encoder="encoder" in fields.code.traits,
    )


def _longest_sequence(fields: ConfigFields) -> int | None:
    """Tokens of the longest sequence: the positions, of which some families keep two for padding
    (514 of RoBERTa, 2,050 of OPT).

    >>> from planner.contract.models.known_models import find_model
    >>> [find_model(name).figures.positions for name in ("RoBERTa-base", "OPT-1.3B", "gpt2")]
    [512, 2048, 1024]
    """
    positions = fields.get("positions") or None
    if positions and _learns_positions(fields) and positions % 64 == PADDED_POSITIONS:
        return positions - PADDED_POSITIONS
    return positions


def _check(fields: ConfigFields) -> None:
    is_vision = "vision" in fields.code.traits
    if fields.get("image_size") and fields.get("vocabulary") is None and not is_vision:
        name = fields.family or "the model"
        raise InvalidInput("config", f"{name} reads images and writes no text; {AS_SAMPLES}")
    layers, heads = fields.need("layers"), fields.need("heads")
    hidden = fields.need("hidden_size")
    if not 1 <= layers <= MOST_LAYERS:
        raise InvalidInput("config", f"has {layers} layers; allowed are 1 to {MOST_LAYERS:,}")
    if not heads or not hidden:
        raise InvalidInput("config", "has 0 attention heads or hidden units; 1 or more are needed")
    if not is_vision:
        fields.need("vocabulary")
    experts, used = fields.get("experts"), fields.get("experts_per_token")
    if experts and not used:
        raise InvalidInput("config", f"has {experts} experts and no number of them for a token")
    if experts and used and used > experts:
        raise InvalidInput("config", f"uses {used} of {experts} experts for a token")


def _is_gated(fields: ConfigFields) -> bool:
    stated = fields.flag("mlp_gated_linear_units")
    if stated is not None:
        return stated
    is_glu = str(fields.config.get("feed_forward_type")).endswith("glu")
    return is_glu or "plain" not in fields.code.traits


def _matrices(fields: ConfigFields) -> int:
    return 3 if _is_gated(fields) else 2


def _width(fields: ConfigFields) -> int:
    """Width of the feed-forward part of a dense layer: 4 d where the config does not say."""
    stated = fields.get("feed_forward")
    if stated:
        return stated
    hidden = fields.need("hidden_size")
    if not fields.is_size_given and _is_gated(fields) and not fields.get("width_factor"):
        fields.need("feed_forward")
    return (fields.get("width_factor") or 4) * hidden


def _dense(fields: ConfigFields) -> int:
    width = fields.get("dense_feed_forward") or _width(fields)
    return _matrices(fields) * fields.need("hidden_size") * width


def _expert_width(fields: ConfigFields) -> int:
    return fields.get("expert_feed_forward") or _width(fields)


def _dense_layers(fields: ConfigFields) -> int:
    layers = fields.need("layers")
    if not fields.get("experts"):
        return layers
    listed = fields.config.get("mlp_only_layers")
    dense = len(listed) if isinstance(listed, list) else 0
    marked = fields.config.get("moe_layer_freq")
    if isinstance(marked, list):
        return sum(mark == 0 for mark in marked[:layers])
    step = fields.get("sparse_step") or 1
    if step > 1:
        dense += layers - layers // step
    return min(layers, dense + (fields.get("dense_layers") or 0))


def _shared(fields: ConfigFields) -> int:
    hidden = fields.need("hidden_size")
    if fields.get("shared_feed_forward"):
        return 3 * hidden * fields.need("shared_feed_forward") + hidden
    count = 1 if fields.family.startswith("llama4") else fields.get("shared_experts") or 0
    return count * _matrices(fields) * hidden * _expert_width(fields)


def _experts(fields: ConfigFields, count: int) -> int:
    hidden = fields.need("hidden_size")
    width, routed = _expert_width(fields), fields.get("experts") or 0
    expert = _matrices(fields) * hidden * width
    router = hidden * routed
    if "biased_experts" in fields.code.traits:
        expert += (_matrices(fields) - 1) * width + hidden
        router += routed
    beside = _dense(fields) if fields.flag("residual_moe") else 0
    return router + _shared(fields) + beside + count * expert


def _embeddings(fields: ConfigFields) -> tuple[int, int]:
    """Parameters of input (positions among them) and of output where it has its own."""
    hidden = fields.need("hidden_size")
    if "vision" in fields.code.traits:
        patch, side = fields.get("patch_size") or 16, fields.get("image_size") or 224
        places = (side // max(1, patch)) ** 2 + 1
        return (3 * patch**2 + places) * hidden, hidden * (fields.get("labels") or 0)
    width = fields.get("embedding_width") or hidden
    table = fields.need("vocabulary") * width
    positions = fields.get("positions") or 0
    inputs = table + (positions * width if _learns_positions(fields) else 0)
    inputs += 0 if width == hidden else width * hidden
    tied = fields.flag("tie_word_embeddings")
    is_tied = _is_tied(fields) if tied is None else tied
    return inputs, 0 if is_tied else table


def _is_tied(fields: ConfigFields) -> bool:
    """Whether the family shares both embeddings where its config does not say.

    Falcon's library shares them, and falcon-rw-1b is published so (1.31 billion); Falcon 7B, 40B
    and 180B, whose heads share keys and values, are published with an output of their own (7.22,
    41.8 and 179.5 billion; model pages of Hugging Face, 2023).
    """
    if fields.family == "falcon":
        return not (fields.flag("multi_query") or fields.flag("new_decoder_architecture"))
    return "tied" in fields.code.traits


def _learns_positions(fields: ConfigFields) -> bool:
    """Whether each position has an embedding: not where a config names another kind."""
    if fields.config.get("position_embedding_type") in ("alibi", "rotary", "rope"):
        return False
    return "learned_positions" in fields.code.traits


def _sliding(fields: ConfigFields) -> tuple[int | None, int]:
    """The window of attention, and the layers that keep to it, which layers without attention are
    taken for."""
    window = fields.get("sliding_window")
    other = layers_without_attention(fields.config, fields.need("layers"))
    if other and not window:
        return STATE_WINDOW, other
    if not window or fields.flag("use_sliding_window") is False:
        return None, 0
    layers = fields.need("layers")
    types = fields.config.get("layer_types")
    if isinstance(types, list):
        return window, sum(kind == "sliding_attention" for kind in types[:layers])
    whole_first = fields.get("whole_first")
    if whole_first is not None:
        return (window, layers - whole_first) if whole_first < layers else (None, 0)
    pattern = fields.config.get("sliding_window_pattern")
    if pattern is None:
        pattern = fields.config.get("global_attn_every_n_layers")
    if isinstance(pattern, str) and pattern:
        return window, sum(pattern[place % len(pattern)] == "L" for place in range(layers))
    if not isinstance(pattern, int) or pattern <= 1:
        pattern = fields.code.whole_every
    return window, layers - (layers // pattern if pattern else 0)


def _head_size(fields: ConfigFields) -> int:
    return fields.get("head_size") or fields.need("hidden_size") // fields.need("heads")


def _key_value_heads(fields: ConfigFields) -> int:
    """Heads with keys and values of their own; one where queries share them all."""
    is_new = fields.flag("new_decoder_architecture")
    if fields.flag("multi_query") and not is_new:
        return 1
    if fields.flag("multi_query_attention") is False:
        return fields.need("heads")
    return fields.get("key_value_heads") or fields.need("heads")


def attention_parameters(fields: ConfigFields) -> int:
    """Parameters of one layer's attention; multi-head latent attention by its low-rank parts."""
    hidden, heads = fields.need("hidden_size"), fields.need("heads")
    rank = fields.get("key_value_rank")
    if rank:
        plain, rotary = fields.need("plain_head"), fields.need("rotary_head")
        value = _value_head(fields)
        query_rank = fields.get("query_rank")
        wide = heads * (plain + rotary)
        queries = hidden * query_rank + query_rank * wide if query_rank else hidden * wide
        keys = hidden * (rank + rotary) + rank * heads * (plain + value)
        return queries + keys + heads * value * hidden
    head, kv = _head_size(fields), _key_value_heads(fields)
    weights = hidden * head * (2 * heads + 2 * kv)
    weights += _further_matrices(fields) * hidden * head * heads
    traits = fields.code.traits
    has_bias = fields.flag("attention_bias") or "biased" in traits
    biases = head * (heads + 2 * kv) if has_bias else 0
    if "biased_experts" in traits:
        biases += hidden + heads
    if "normed_heads" in traits:
        return weights + biases + 2 * head
    return weights + biases + (head * (heads + kv) if "normed_projections" in traits else 0)


def attention_width(fields: ConfigFields) -> int:
    """Width over which scores and their sums of values are formed, all heads together: half of the
    work of attention goes by the width of queries and keys, half by that of values."""
    heads = fields.need("heads")
    if not fields.get("key_value_rank"):
        return heads * _head_size(fields)
    queries = fields.need("plain_head") + fields.need("rotary_head")
    return heads * (queries + _value_head(fields)) // 2


def _value_head(fields: ConfigFields) -> int:
    """Width of a head's values under latent attention; MiniCPM3 divides its hidden size."""
    if fields.family == "minicpm3" and not fields.get("value_head"):
        return _head_size(fields)
    return fields.need("value_head")


def _further_matrices(fields: ConfigFields) -> int:
    """Matrices beside queries, keys, values and output, which attention of DeBERTa has where it
    does not share those of positions (its code, 2021)."""
    if fields.family.startswith("deberta") and fields.flag("share_att_key") is not True:
        kinds = fields.config.get("pos_att_type") or ""
        return sum(kind in kinds for kind in ("c2p", "p2c"))
    return fields.code.further_matrices


def cached_values(fields: ConfigFields) -> int:
    """Values that a token keeps in one layer: keys and values of their heads, or the compressed
    ones of latent attention."""
    rank = fields.get("key_value_rank")
    if rank:
        return rank + (fields.get("rotary_head") or 0)
    return 2 * _key_value_heads(fields) * _head_size(fields)
