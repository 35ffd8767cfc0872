"""A model's `config.json` read by the names that model families use. PURE.

Hugging Face's `config.json` of decoder, encoder and mixture-of-experts models, Meta's `params.json`
and DeepSeek's own form. What a family calls a size differs; `ConfigFields` is the one form behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.contract.models.config_forms import as_hugging_face
from planner.contract.models.families import HALVED_FAMILIES, NARROW_EMBEDDINGS
from planner.contract.models.uncounted import BESIDE, refuse_uncounted
from pricing.common.invalid_input import InvalidInput

MOST_CHARACTERS = 200_000
"""Of a config that is read: the longest published ones have a tenth of that, 2026."""
LARGEST = 1_000_000_000
"""Largest size in a config that is believed, 2026."""
LEFT_TO_TOKENIZER = -1
"""Vocabulary of Meta's params.json of Llama 1 and 2 (2023)."""
NAMES = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model", "dim", "hidden_dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "key_value_heads": (
        "num_key_value_heads",
        "num_kv_heads",
        "n_kv_heads",
        "n_head_kv",
        "kv_n_heads",
        "multi_query_group_num",
    ),
    "head_size": ("head_dim", "kv_channels", "attention_head_dim"),
    "feed_forward": (
        "intermediate_size",
        "ffn_dim",
        "n_inner",
        "ffn_embed_dim",
        "inter_dim",
        "d_ff",
        "ffn_hidden_size",
    ),
    "vocabulary": ("vocab_size", "padded_vocab_size", "n_vocab"),
    "positions": ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length"),
    "experts": ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"),
    "experts_per_token": (
        "num_experts_per_tok",
        "experts_per_token",
        "n_activated_experts",
        "num_experts_per_token",
        "moe_top_k",
        "moe_topk",
        "moe_k",
    ),
    "expert_feed_forward": ("moe_intermediate_size", "moe_inter_dim", "ffn_dim_moe"),
    "shared_experts": (
        "n_shared_experts",
        "num_shared_experts",
        "num_shared_expert",
        "moe_num_shared_experts",
    ),
    "shared_feed_forward": ("shared_expert_intermediate_size",),
    "dense_layers": ("first_k_dense_replace", "n_dense_layers", "moe_layer_start_index"),
    "sparse_step": ("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_freq"),
    "dense_feed_forward": ("intermediate_size_mlp",),
    "query_rank": ("q_lora_rank",),
    "key_value_rank": ("kv_lora_rank",),
    "plain_head": ("qk_nope_head_dim",),
    "rotary_head": ("qk_rope_head_dim",),
    "value_head": ("v_head_dim",),
    "sliding_window": ("sliding_window", "attention_window_size", "local_attention"),
    "width_factor": ("expansion_ratio",),
    "image_size": ("image_size",),
    "patch_size": ("patch_size",),
    "labels": ("num_labels",),
}
"""Our name → the names that families give it."""
MORE_NAMES: Mapping[str, tuple[str, ...]] = {
    "feed_forward": ("ff_intermediate_size", "mlp_hidden_size", "dff"),
    "expert_feed_forward": ("expert_hidden_dim",),
    "dense_layers": ("num_dense_layers",),
    "shared_feed_forward": ("shared_intermediate_size",),
    "vocabulary": ("embedding_size",),
    "key_value_heads": ("num_attention_groups", "num_key_value_heads_per_layer"),
}
"""The same from rules 6 on, after those (Phi-3-small, OLMo's own form, CTRL, Mistral Large 3,
AFMoE, Granite and Step-3.5, 2019-2026); `embedding_size` of OLMo and LLaDA alone."""
BY_LAYER = (
    *("feed_forward", "heads", "key_value_heads", "hidden_size", "experts"),
    *("expert_feed_forward", "shared_experts", "head_size"),
)
"""Sizes that make a model uncounted where a config lists others for other layers."""
PADDED_VOCABULARY = frozenset({"hf_olmo", "llada"})
"""Families whose embedding is `embedding_size` high (their code, 2024-2025)."""
FAMILY_RULES = 6
"""Edition of the rules from which `_by_family` is read, 2026."""
NEW_FAMILIES = frozenset({"qwen", "xlnet"})
"""Families that were read as a Llama before that."""
NESTED = ("attn_config", "ffn_config")
"""Parts of a config in which MPT and DBRX keep sizes of a layer (their configs, 2023-2024)."""
NESTED_DEFAULTS: Mapping[str, Mapping[str, int]] = {
    "gemma3_text": {
        "num_hidden_layers": 26,
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "vocab_size": 262208,
        "sliding_window": 4096,
    },
    "llama": {
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_attention_heads": 32,
        "vocab_size": 32000,
    },
    "mistral": {
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "vocab_size": 32000,
        "sliding_window": 4096,
    },
    "qwen2": {
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "intermediate_size": 22016,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "vocab_size": 151936,
    },
}
"""Family → sizes that a language model within another config may leave out: Hugging Face writes
there only what differs from these (configuration_*.py of huggingface/transformers, 2023-2026)."""


OTHER_PARTS: Mapping[str, str] = {
    "vision_config": "the image encoder",
    "vision_tower": "the image encoder",
    "visual": "the image encoder",
    "img_processor": "the image encoder",
    "audio_config": "the sound encoder",
    "audio_processor": "the sound encoder",
    "talker_config": "the talker",
    "mm_vision_tower": "the image encoder",
    "vision_backbone_id": "the image encoder",
    "vision_lora": "the image encoder",
    "qformer_config": "the part that joins both",
    "speech_config": "the sound encoder",
}
"""Key of a config → what stands beside its language model (configs of Qwen2.5-VL, Gemma 3, Phi-4-
multimodal and Qwen2.5-Omni, 2025)."""


@dataclass(frozen=True)
class ConfigFields:
    """Sizes of a config by one set of names; None where it does not say."""

    family: str
    sizes: Mapping[str, int | None]
    config: Mapping[str, Any]
    """Of the language model, where the config holds several."""
    beside: tuple[str, ...] = ()
    """What stands beside the language model, in words."""
    is_latest: bool = True
    """Whether it is read as rules 6 read it."""
    is_size_given: bool = False
    """Whether the request gives the parameters itself."""

    def get(self, name: str) -> int | None:
        """A size, or None."""
        return self.sizes.get(name)

    def need(self, name: str) -> int:
        """A size; refuses, on `config`, a config without it."""
        size = self.sizes.get(name)
        if size is None:
            listed = ", ".join(NAMES[name][:3])
            raise InvalidInput(
                "config",
                f"has no {listed} or the like; is it a config.json? Parameters, layers and "
                "hidden_size given in its place would do",
            )
        return size

    def flag(self, name: str) -> bool | None:
        """A yes or no of the config; None where it does not say."""
        value = self.config.get(name)
        return value if isinstance(value, bool) else None


def read_fields(
    text: str, is_size_given: bool = False, edition: int = FAMILY_RULES
) -> ConfigFields:
    """The sizes of a config's text, as an edition of the rules reads it; refuses, on `config`, what
    is no config of a transformer, and layers that are not counted unless the request gives the
    parameters itself.

    >>> fields = read_fields('{"model_type": "gpt2", "n_layer": 12, "n_embd": 768}')
    >>> fields.family, fields.need("layers"), fields.get("experts")
    ('gpt2', 12, None)
    """
    whole = _object(text)
    is_latest = edition >= FAMILY_RULES
    whole = as_hugging_face(whole) if is_latest else whole
    refuse_uncounted(whole, _family(whole), is_size_given)
    config = _language_model(whole)
    family = _family(config)
    refuse_uncounted(config, family, is_size_given)
    sizes = {name: _size(config, names) for name, names in NAMES.items()}
    if is_latest:
        if not is_size_given:
            _refuse_by_layer(config)
        sizes |= _further(family, config, sizes)
        sizes |= _by_family(family, config, sizes)
    elif family in NEW_FAMILIES:
        family = ""
    thinker = whole.get("thinker_config")
    parts = (*whole, *(thinker if isinstance(thinker, Mapping) else ()))
    others = tuple(dict.fromkeys(OTHER_PARTS[key] for key in parts if key in OTHER_PARTS))
    return ConfigFields(family, sizes, config, others, is_latest, is_size_given)


def _by_family(
    family: str, config: Mapping[str, Any], sizes: Mapping[str, int | None]
) -> dict[str, int | None]:
    """Sizes that some families mean otherwise, or alone have (their code, 2019-2025): the first
    Qwen's feed-forward part is half as wide as its config says, ELECTRA and OPT-350M embed in fewer
    units than they work in, and Qwen's windows leave its first layers out."""
    if family in HALVED_FAMILIES:
        wide = sizes["feed_forward"]
        if wide is None:
            wide = (_size(config, ("mlp_ratio",)) or 0) * (sizes["hidden_size"] or 0)
        return {"feed_forward": wide // 2 or None}
    if family == "xlnet":
        return {"feed_forward": _size(config, ("d_inner",))}
    if family in NARROW_EMBEDDINGS:
        return {"embedding_width": _size(config, ("embedding_size", "word_embed_proj_dim"))}
    if family.startswith(("qwen2", "qwen3")):
        return {"whole_first": _size(config, ("max_window_layers",))}
    return {}


def _further(
    family: str, config: Mapping[str, Any], sizes: Mapping[str, int | None]
) -> dict[str, int | None]:
    """Sizes under names that rules 6 know beside; a padded vocabulary stands before the other."""
    further: dict[str, int | None] = {}
    for name, names in MORE_NAMES.items():
        is_vocabulary = name == "vocabulary"
        if is_vocabulary and family not in PADDED_VOCABULARY:
            continue
        if is_vocabulary or not sizes[name]:
            further[name] = _size(config, names) or sizes[name]
    return further


def _refuse_by_layer(config: Mapping[str, Any]) -> None:
    """Refuses sizes that are listed by layer and differ."""
    names = [key for name in BY_LAYER for key in (*NAMES[name], *MORE_NAMES.get(name, ()))]
    for key in names:
        if isinstance(_of_every_layer(config.get(key)), list):
            raise InvalidInput(
                "config", f"has layers that differ from one another ({key}); {BESIDE}"
            )


def _family(config: Mapping[str, Any]) -> str:
    return str(config.get("model_type") or "").casefold()[:50]


def _object(text: str) -> Mapping[str, Any]:
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(
            "config", f"has {len(text):,} characters; allowed are {MOST_CHARACTERS:,}"
        )
    try:
        config = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("config", "is not JSON; paste the model's config.json whole") from error
    if not isinstance(config, Mapping):
        raise InvalidInput("config", "is not a JSON object; paste the model's config.json whole")
    return config


def _language_model(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part that describes the language model, where others stand beside it."""
    thinker = config.get("thinker_config")
    config = thinker if isinstance(thinker, Mapping) else config
    for part in ("text_config", "llm_config", "language_config"):
        inner = config.get(part)
        if isinstance(inner, Mapping):
            usual = NESTED_DEFAULTS.get(_family(inner), {})
            return {"tie_word_embeddings": config.get("tie_word_embeddings"), **usual, **inner}
    nested = [config[name] for name in NESTED if isinstance(config.get(name), Mapping)]
    return {**{key: size for parts in nested for key, size in parts.items()}, **config}


def _size(config: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = _of_every_layer(config.get(name))
        if value is None or isinstance(value, bool):
            continue
        if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST:
            value = int(value)
        if not isinstance(value, int):
            continue
        if name == "vocab_size" and value == LEFT_TO_TOKENIZER:
            raise InvalidInput(
                "config",
                f"{name} is {value}, as Meta's params.json leaves it to the tokenizer; write its "
                "size in its place, 32000 of Llama 1 and 2",
            )
        if not 0 <= value <= LARGEST:
            raise InvalidInput("config", f"{name} is {value}; allowed are 0 to {LARGEST:,}")
        return value
    return None


def _of_every_layer(value: object) -> object:
    """A size that is listed by layer, where all are alike (Hunyuan); any other value as it is."""
    is_alike = isinstance(value, list) and value and all(one == value[0] for one in value)
    return value[0] if is_alike and isinstance(value, list) else value
