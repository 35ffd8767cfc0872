"""What the code of model families does that their configs do not say. PURE."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows, read_table

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Family:
    """What the code of a model family does (huggingface/transformers, 2026), a row of
    `model_families.csv`. Its traits are words:

    - gated, plain: its feed-forward part has a gate, or none;
    - tied: it shares input and output embedding unless the config says otherwise;
    - learned_positions: each position has an embedding;
    - encoder, vision: it reads a text whole and writes none; it reads patches of an image;
    - biased: queries, keys and values have a bias that the config does not name;
    - biased_experts: so have router, experts and output of attention, and each head has a sink
      (gpt-oss model card, 2025);
    - normed_heads, normed_projections: queries and keys are scaled by a vector of a head's size
      (Qwen3 and Gemma 3 reports, 2025), or of all heads (OLMo 2 report, 2024);
    - uncounted_input: its published active figure leaves the input embedding out (model cards of
      gpt-oss, ERNIE 4.5, GLM-4.5, MiniMax-M2, DeepSeek-V2-Lite, Granite 3.1, Kimi K2, 2024-2025);
    - halved_feed_forward: its feed-forward size holds the gate too;
    - narrow_embedding, padded_vocabulary: its embedding may have fewer units than it works in, or
      is `embedding_size` high;
    - mixed_layers: it mixes attention with other layers and does not list them in every config;
    - odd_layers: it has layers or parts that the count does not cover (model cards, 2019-2025);
    - two_stacks, no_transformer, no_text: it has two stacks; has layers of another kind (also
      fla-org/flash-linear-attention, 2026); reads images or hears sound and writes no text.
    """

    family: str
    traits: frozenset[str] = frozenset()
    norms: int = 2
    """Vectors of the hidden size that a layer's norms hold, scale and shift each."""
    whole_every: int = 0
    """Every how many layers one looks at the whole sequence, in families that mix them, where a
    config does not list its layers (Gemma 2 and 3 reports, gpt-oss, OLMo 3 and ModernBERT configs,
    2024-2025)."""
    further_matrices: int = 0
    """Matrices of a layer's attention beside four: of distances (XLNet, arXiv 1906.08237, 2019),
    and queries, keys and values of tokens that see all (Longformer, arXiv 2004.05150, 2020)."""

    @property
    def is_known(self) -> bool:
        return bool(self.traits & {"gated", "plain", "tied", "learned_positions"})


@cache
def _families() -> Mapping[str, Family]:
    return {row.family: row for row in read_table(_FOLDER / "model_families.csv", Family)}


def find_family(name: str) -> Family:
    """The family of this name; without traits where the table does not have it.

    >>> find_family("gpt2").traits >= {"plain", "tied"}, find_family("of our own").is_known
    (True, False)
    """
    return _families().get(name) or Family(name)


PADDED_POSITIONS = 2
"""Positions that RoBERTa, XLM-R, CamemBERT and OPT keep beside those of a sequence (their code in
huggingface/transformers, 2019-2022)."""
OLDER_NAMES = {"refinedweb": "falcon", "refinedwebmodel": "falcon", "stablelm_epoch": "stablelm"}
"""Name that a family bore → the one that it has now (configs of Falcon and StableLM, 2023)."""
_TASKS = re.compile(r"(LMHead|DoubleHeads|For[A-Z]\w*|LMHeadModel|Model)*$")


def as_hugging_face(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A config with the family that it names by `model_type` or by its architecture.

    >>> as_hugging_face({"architectures": ["GPT2LMHeadModel"]})["model_type"]
    'gpt2'
    """
    read = dict(config)
    named = read.get("architectures")
    if read.get("model_type") is None and isinstance(named, list) and named:
        read["model_type"] = family_of(str(named[0])[:80])
    name = str(read.get("model_type") or "").casefold()
    if name in OLDER_NAMES:
        read["model_type"] = OLDER_NAMES[name]
        if read.get("n_head_kv"):
            read["new_decoder_architecture"] = True
    if "weight_tying" in read:
        read.setdefault("tie_word_embeddings", read["weight_tying"])
    return read


def family_of(architecture: str) -> str | None:
    """The known family that a class of Hugging Face's is of; None of another.

    >>> family_of("Qwen2MoeForCausalLM"), family_of("GPTNeoXForCausalLM"), family_of("MyModel")
    ('qwen2_moe', 'gpt_neox', None)
    """
    squeezed = _squeezed(_TASKS.sub("", architecture))
    known = (name for name, row in sorted(_families().items()) if row.is_known)
    return next((name for name in known if _squeezed(name) == squeezed), None)


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


TWO_STACKS = (("encoder_layers", "decoder_layers"), ("num_encoder_layers", "num_decoder_layers"))
"""Keys that a config has together where it has two stacks."""
BESIDE = "give parameters beside it"
STATE_WINDOW = 128
"""Tokens of a window of attention whose work is about that of a layer of linear attention or a
state space: they keep 64 to 256 values for each channel (configs of Qwen3-Next, Nemotron-H, Granite
4, MiniMax-Text-01, 2025)."""
ATTENTION_LAYERS = frozenset(
    {"attention", "full_attention", "sliding_attention", "chunked_attention", "hybrid_attention"}
)
"""Names of attention in a config's list of layers (same source, 2025)."""
NOT_JSON = "is not JSON; paste the model's config.json whole"
IN_ITS_PLACE = "give parameters, layers and hidden_size in its place"
HALF_THE_TOKENS = "and half of the tokens of both stacks, as each passes one of them"
AS_SAMPLES = "a workload of kind samples with its model or forward_gflops_per_sample sizes it"


def refuse_uncounted(config: Mapping[str, Any], family: str, is_size_given: bool) -> None:
    """Refuses, on `config`, what is not counted and says what to do.

    >>> refuse_uncounted({"layer_types": ["mamba", "attention"]}, "granitemoehybrid", True)
    >>> refuse_uncounted({"layer_types": ["attention"]}, "granitemoehybrid", False)
    """
    _refuse_adapter(config)
    name = family or str(config.get("_class_name") or "the model")[:60]
    traits = find_family(family).traits
    if "no_text" in traits or (not family and isinstance(config.get("_class_name"), str)):
        _refuse(f"{name} reads or makes images or sound and writes no text; {AS_SAMPLES}")
    has_two = any(all(config.get(key) for key in keys) for keys in TWO_STACKS)
    if "two_stacks" in traits or config.get("is_encoder_decoder") is True or has_two:
        _refuse(f"{name} has two stacks, which are not counted; {IN_ITS_PLACE}, {HALF_THE_TOKENS}")
    if "no_transformer" in traits:
        _refuse(
            f"{family} is no transformer; {IN_ITS_PLACE}, and as many sliding_layers with a "
            f"sliding_window of {STATE_WINDOW}, whose work is about theirs"
        )
    if is_size_given:
        return
    if other := other_layers(config, family):
        _refuse(
            f"{name} mixes attention with layers of another kind ({other}), which are not counted; "
            f"{BESIDE}, and active_parameters of a mixture"
        )
    if "odd_layers" in traits or config.get("block_configs") or config.get("is_folding_model"):
        _refuse(
            f"{name} has layers that differ from one another or parts that are not counted; "
            f"{BESIDE}, and active_parameters of a mixture"
        )


def _refuse_adapter(config: Mapping[str, Any]) -> None:
    """Refuses the config of adapters, which holds no sizes of the model that they are for."""
    kind, base = config.get("peft_type"), config.get("base_model_name_or_path")
    if not isinstance(kind, str):
        return
    named = f" of {base[:80]}" if isinstance(base, str) and base else ""
    _refuse(
        f"is that of adapters ({kind[:20]}){named}; give that model by its name or its own config, "
        "and the optimizer lora or qlora"
    )


def other_layers(config: Mapping[str, Any], family: str) -> str:
    """What a model's layers are beside attention, in the config's word; nothing where all are.

    >>> other_layers({"layer_types": ["linear_attention", "full_attention"]}, "qwen3_5_text")
    'linear_attention'
    >>> other_layers({"hybrid_override_pattern": "M-M*"}, "nemotron_h")
    'hybrid_override_pattern'
    """
    listed = _listed_layers(config)
    if listed:
        return next((kind for kind in listed if kind not in ATTENTION_LAYERS), "")
    stated = next((key for key in _MIXING_KEYS if config.get(key)), "")
    return stated or (family if "mixed_layers" in find_family(family).traits else "")


def layers_without_attention(config: Mapping[str, Any], layers: int) -> int:
    """How many of a model's layers have no attention, as far as its config says.

    >>> layers_without_attention({"hybrid_override_pattern": "M-M*"}, 4)
    3
    >>> layers_without_attention({"full_attention_interval": 4}, 48)
    36
    """
    listed = _listed_layers(config)
    if listed:
        return sum(kind not in ATTENTION_LAYERS for kind in listed[:layers])
    pattern, every = config.get("hybrid_override_pattern"), config.get("full_attention_interval")
    if isinstance(pattern, str) and pattern:
        return max(0, layers - pattern.count("*"))
    return layers - layers // every if isinstance(every, int) and every > 0 else 0


def _listed_layers(config: Mapping[str, Any]) -> list[str]:
    lists = (config.get(key) for key in ("layer_types", "layers_block_type"))
    listed = next((one for one in lists if isinstance(one, list) and one), [])
    return [str(kind)[:40] for kind in listed]


_MIXING_KEYS = (
    "hybrid_override_pattern",
    "mamba_d_ssm",
    "mamba_d_state",
    "linear_attn_config",
    "attn_layer_period",
    "full_attn_idxs",
    "full_attention_interval",
    "hybrid_layer_ids",
)


def _refuse(words: str) -> None:
    raise InvalidInput("config", words)


MOST_CHARACTERS = 200_000
"""Of a config that is read: the longest published ones have a tenth of that, 2026."""
LARGEST = 1_000_000_000
"""Largest size in a config that is believed, 2026."""


@dataclass(frozen=True)
class ConfigKeys:
    """Keys by which configs give a size, a row of `config_keys.csv`."""

    size: str
    """Our name."""
    keys: tuple[str, ...]
    later_keys: tuple[str, ...] = ()
    """Those of a few families, read after the others (Phi-3-small, OLMo's own form, CTRL, Mistral
    Large 3, AFMoE, Granite and Step-3.5, 2019-2026); of the vocabulary those of OLMo and LLaDA
    alone, whose embedding is `embedding_size` high (their code, 2024-2025)."""
    by_layer: bool = False
    """Whether a config that lists other sizes for other layers makes a model uncounted."""


@cache
def config_keys() -> Mapping[str, ConfigKeys]:
    """Our name of each size → its keys.

    >>> config_keys()["layers"].keys[0]
    'num_hidden_layers'
    """
    return {row.size: row for row in read_table(_FOLDER / "config_keys.csv", ConfigKeys)}


NESTED = ("attn_config", "ffn_config")
"""Parts of a config in which MPT and DBRX keep sizes of a layer (their configs, 2023-2024)."""


@cache
def _nested_defaults() -> Mapping[str, Mapping[str, int]]:
    """Family → sizes that a language model within another config may leave out, since Hugging Face
    writes only others there (configuration_*.py of huggingface/transformers, 2023-2026)."""
    return {
        row.pop("family"): {key: int(size) for key, size in row.items() if size}
        for row in read_rows(_FOLDER / "nested_defaults.csv")
    }


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
    is_size_given: bool = False
    """Whether the request gives the parameters itself."""

    @property
    def code(self) -> Family:
        return find_family(self.family)

    def get(self, name: str) -> int | None:
        return self.sizes.get(name)

    def need(self, name: str) -> int:
        """A size; refuses, on `config`, a config without it."""
        size = self.sizes.get(name)
        if size is None:
            listed = ", ".join(config_keys()[name].keys[:3])
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


def read_fields(text: str, is_size_given: bool = False) -> ConfigFields:
    """The sizes of a config's text; refuses, on `config`, what is no config of a transformer, and
    layers that are not counted unless the request gives the parameters itself.

    >>> fields = read_fields('{"model_type": "gpt2", "n_layer": 12, "n_embd": 768}')
    >>> fields.family, fields.need("layers"), fields.get("experts")
    ('gpt2', 12, None)
    """
    whole = as_hugging_face(_object(text))
    refuse_uncounted(whole, _family(whole), is_size_given)
    config = _language_model(whole)
    family = _family(config)
    refuse_uncounted(config, family, is_size_given)
    sizes = {name: _size(config, row.keys) for name, row in config_keys().items()}
    for row in config_keys().values():
        for key in (*row.keys, *row.later_keys) if row.by_layer and not is_size_given else ():
            if isinstance(_of_every_layer(config.get(key)), list):
                _refuse(f"has layers that differ from one another ({key}); {BESIDE}")
        is_vocabulary, traits = row.size == "vocabulary", find_family(family).traits
        if (is_vocabulary and "padded_vocabulary" in traits) or not (
            is_vocabulary or sizes[row.size]
        ):
            sizes[row.size] = _size(config, row.later_keys) or sizes[row.size]
    sizes |= _by_family(family, config, sizes)
    thinker = whole.get("thinker_config")
    parts = (*whole, *(thinker if isinstance(thinker, Mapping) else ()))
    others = tuple(dict.fromkeys(OTHER_PARTS[key] for key in parts if key in OTHER_PARTS))
    return ConfigFields(family, sizes, config, others, is_size_given)


def _by_family(
    family: str, config: Mapping[str, Any], sizes: Mapping[str, int | None]
) -> dict[str, int | None]:
    """Sizes that some families mean otherwise, or alone have (their code, 2019-2025): the first
    Qwen's feed-forward part is half as wide as its config says, ELECTRA and OPT-350M embed in fewer
    units than they work in, and Qwen's windows leave its first layers out."""
    traits = find_family(family).traits
    if "halved_feed_forward" in traits:
        wide = sizes["feed_forward"]
        if wide is None:
            wide = (_size(config, ("mlp_ratio",)) or 0) * (sizes["hidden_size"] or 0)
        return {"feed_forward": wide // 2 or None}
    if family == "xlnet":
        return {"feed_forward": _size(config, ("d_inner",))}
    if "narrow_embedding" in traits:
        return {"embedding_width": _size(config, ("embedding_size", "word_embed_proj_dim"))}
    if family.startswith(("qwen2", "qwen3")):
        return {"whole_first": _size(config, ("max_window_layers",))}
    return {}


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
        raise InvalidInput("config", NOT_JSON) from error
    if not isinstance(config, Mapping):
        raise InvalidInput("config", "is not a JSON object; paste the model's config.json whole")
    return config


def _language_model(config: Mapping[str, Any]) -> Mapping[str, Any]:
    thinker = config.get("thinker_config")
    config = thinker if isinstance(thinker, Mapping) else config
    for part in ("text_config", "llm_config", "language_config"):
        inner = config.get(part)
        if isinstance(inner, Mapping):
            usual = _nested_defaults().get(_family(inner), {})
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
        if not 0 <= value <= LARGEST:
            raise InvalidInput("config", f"{name} is {value}; allowed are 0 to {LARGEST:,}")
        return value
    return None


def _of_every_layer(value: object) -> object:
    """A size that is listed by layer, where all are alike (Hunyuan); any other value as it is."""
    is_alike = isinstance(value, list) and value and all(one == value[0] for one in value)
    return value[0] if is_alike and isinstance(value, list) else value
