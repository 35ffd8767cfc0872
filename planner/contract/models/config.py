"""What the code of model families does that their configs do not say. PURE."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pricing.common.invalid_input import InvalidInput

PLAIN_FAMILIES = frozenset(
    {"gpt2", "gpt_neo", "gpt_neox", "gptj", "opt", "bloom", "falcon", "phi", "mpt", "gpt_bigcode"}
    | {"starcoder2", "bert", "roberta", "xlm-roberta", "distilbert", "electra", "clip_text_model"}
    | {"vit", "deit", "dinov2", "nemotron", "persimmon", "codegen", "xglm", "biogpt", "esm"}
    | {"deberta", "deberta-v2", "mpnet", "camembert", "longformer", "big_bird", "xlm-roberta-xl"}
    | {"xlnet", "apertus", "arcee", "openai-gpt", "ctrl", "ernie", "megatron-bert", "layoutlm"}
    | {"layoutlmv3", "roformer", "data2vec-text", "ibert", "gpt_neox_japanese", "chatglm_6b"}
)
"""Families whose feed-forward part has no gate (their code in huggingface/transformers, 2026)."""
TIED_FAMILIES = frozenset(
    {"gpt2", "gpt_neo", "opt", "bloom", "mpt", "gpt_bigcode", "starcoder2", "cohere", "cohere2"}
    | {"gemma", "gemma2", "gemma3", "gemma3_text", "bert", "roberta", "xlm-roberta", "electra"}
    | {"distilbert", "modernbert", "deberta", "deberta-v2", "mpnet", "camembert", "longformer"}
    | {"big_bird", "xlm-roberta-xl", "esm", "xglm", "biogpt", "nomic_bert", "xlnet", "minicpm"}
    | {"minicpm3", "phi3small", "clip_text_model", "openai-gpt", "ctrl", "ernie", "megatron-bert"}
    | {"layoutlm", "layoutlmv3", "roformer", "data2vec-text", "ibert", "new", "chatglm_6b"}
)
"""Families that share input and output embedding unless the config says otherwise (same source,
2026)."""
BIASED_FAMILIES = frozenset({"qwen", "qwen2", "qwen2_moe", "qwen2_vl", "gpt_oss"})
"""Families with a bias on queries, keys and values that the config does not name."""
NORMED_HEADS = frozenset({"qwen3", "qwen3_moe", "gemma3", "gemma3_text"})
"""Families that scale queries and keys, with one vector of a head's size each (Qwen3 and Gemma 3
reports, 2025)."""
NORMED_PROJECTIONS = frozenset({"olmo2", "olmo3"})
"""The same with a vector over all heads (OLMo 2 report, 2024)."""
BIASED_EXPERTS = frozenset({"gpt_oss"})
"""Families whose router, experts and output of attention have a bias, and each head a sink
(gpt-oss model card, 2025)."""
POSITION_FAMILIES = frozenset(
    {"gpt2", "gpt_neo", "opt", "bert", "roberta", "distilbert", "electra", "xlm-roberta"}
    | {"camembert", "mpnet", "longformer", "big_bird", "clip_text_model", "openai-gpt", "ernie"}
    | {"megatron-bert", "layoutlm", "layoutlmv3", "data2vec-text", "ibert"}
)
"""Families that learn an embedding of each position."""
PADDED_POSITIONS = 2
"""Positions that RoBERTa, XLM-R, CamemBERT and OPT keep beside those of a sequence (their code in
huggingface/transformers, 2019-2022)."""
VISION_FAMILIES = frozenset(["vit", "deit", "dinov2"])
"""Families whose input is patches of an image."""
UNCOUNTED_INPUT = frozenset(
    {"gpt_oss", "deepseek_v2", "deepseek_v3", "ernie4_5_moe", "glm4_moe", "granitemoe"}
    | {"minimax", "minimax_m2"}
)
"""Families whose published active figure leaves the input embedding out (model cards of gpt-oss,
ERNIE 4.5, GLM-4.5 and MiniMax-M2, 2025, DeepSeek-V2-Lite, Granite 3.1 and Kimi K2, 2024-2025)."""
ENCODER_FAMILIES = frozenset(
    {"bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "distilbert", "electra", "deberta"}
    | {"deberta-v2", "mpnet", "camembert", "longformer", "big_bird", "esm", "modernbert", "new"}
    | {"nomic_bert", "eurobert", "neobert", "ernie", "megatron-bert", "layoutlm", "layoutlmv3"}
    | {"roformer", "data2vec-text", "ibert", "clip_text_model", "albert", "mobilebert"}
)
"""Families that read a text whole and write none (same source, 2026)."""
HALVED_FAMILIES = frozenset({"qwen", "hf_olmo", "molmo"})
"""Families whose feed-forward size holds the gate too (their code, 2023-2024)."""
NARROW_EMBEDDINGS = frozenset({"electra", "opt", "roformer"})
"""Families that may embed in fewer units than they work in (same source, 2025)."""
FURTHER_MATRICES = {"xlnet": 1, "longformer": 3}
"""Matrices of a layer's attention beside four: of distances (XLNet, arXiv 1906.08237, 2019), and
queries, keys and values of tokens that see all (Longformer, arXiv 2004.05150, 2020)."""
GATED_FAMILIES = frozenset(
    {"llama", "llama4", "llama4_text", "mllama_text_model", "mistral", "mistral3", "ministral"}
    | {"mixtral", "qwen", "qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl"}
    | {"qwen2_5_vl_text", "qwen2_5_omni", "qwen2_5_omni_text", "qwen2_5_omni_thinker", "qwen3"}
    | {"qwen3_moe", "qwen3_vl", "qwen3_vl_text", "qwen3_vl_moe_text", "qwen3_next", "qwen3_5_text"}
    | {"phi3", "phi3small", "phi3_v", "phi4mm", "phimoe", "gemma", "gemma2", "gemma3"}
    | {"gemma3_text", "gemma3n_text", "stablelm", "internlm", "internlm2", "internlm3", "baichuan"}
    | {"chatglm", "glm", "glm4", "glm4_moe", "glm4v_text", "yi", "cohere", "cohere2", "olmo"}
    | {"olmo2", "olmo3", "olmoe", "exaone", "exaone4", "minicpm", "minicpm3", "deepseek"}
    | {"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "dbrx", "grok-1", "helium"}
    | {"hunyuan_v1_moe", "hunyuan_v1_dense", "hunyuan", "ernie4_5", "ernie4_5_moe", "granite"}
    | {"granitemoe", "granitemoeshared", "granitemoehybrid", "jetmoe", "seed_oss", "dots1"}
    | {"minimax", "minimax_m2", "minimax_text_01", "smollm3", "arcee", "aquila", "orion"}
    | {"apertus", "modernbert", "nomic_bert", "bailing_moe", "longcat_flash", "mimo", "gpt_oss"}
    | {"openelm", "xverse", "diffllama", "nemotron-nas", "nemotron_h", "falcon_h1", "bamba"}
    | {"zamba2", "lfm2", "lfm2_moe", "kimi_linear", "plamo2", "afmoe", "solar_open"}
    | {"hf_olmo", "llada", "molmo", "new", "glm4_moe_lite", "glm_moe_dsa", "bailing_moe_v2"}
    | {"ministral3", "bitnet", "cwm", "chameleon", "dream", "aria_text", "falcon3"}
)
"""Families of a gated feed-forward part, or whose configs say it all (same source, 2023-2026)."""
KNOWN_FAMILIES = GATED_FAMILIES | PLAIN_FAMILIES | TIED_FAMILIES | POSITION_FAMILIES
"""Families whose configs are read as their code builds the model."""
NORMS = {"gemma2": 4, "gemma3": 4, "gemma3_text": 4, "olmo2": 2, "gpt_neox": 4, "gpt2": 4}
"""Vectors of the hidden size that a layer's norms hold, 2 elsewhere (scale and shift each)."""
WHOLE_EVERY = {
    **{"gemma2": 2, "gpt_oss": 2, "gemma3": 6, "gemma3_text": 6, "olmo2": 4, "olmo3": 4},
    "modernbert": 3,
}
"""Every how many layers one looks at the whole sequence, in families that mix them, where a config
does not list its layers (Gemma 2 and 3 reports, gpt-oss and OLMo 3 configs, ModernBERT,
2024-2025)."""


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
    return next((name for name in sorted(KNOWN_FAMILIES) if _squeezed(name) == squeezed), None)


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


ENCODER_DECODERS = frozenset(
    {"t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "m2m_100", "led", "longt5"}
    | {"blenderbot", "blenderbot-small", "pegasus_x", "bigbird_pegasus", "nllb-moe", "plbart"}
    | {"switch_transformers", "prophetnet", "xlm-prophetnet", "fsmt", "mvp", "t5gemma", "t5gemma2"}
    | {"encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder", "pix2struct", "udop"}
    | {"florence2", "kosmos-2.5", "nougat", "donut", "trocr"}
)
"""Families of two stacks (huggingface/transformers, 2026)."""
TWO_STACKS = (("encoder_layers", "decoder_layers"), ("num_encoder_layers", "num_decoder_layers"))
"""Keys that a config has together where it has two stacks."""
NOT_TRANSFORMERS = frozenset(
    {"mamba", "mamba2", "falcon_mamba", "rwkv", "rwkv7", "jamba", "recurrent_gemma", "xlstm"}
    | {"unet", "rwkv5", "rwkv6", "gated_deltanet", "delta_net", "gla", "retnet", "hgrn", "hgrn2"}
    | {"gsa", "lightnet", "linear_attn", "based", "abc", "mesa_net", "kda", "comba", "mega", "ttt"}
    | {"gated_deltaproduct", "stripedhyena", "log_linear_mamba2", "nystromformer", "fnet"}
)
"""Families whose layers are something else (their configs, and fla-org/flash-linear-attention,
2026)."""
NO_TEXT = frozenset(
    {"clip", "siglip", "siglip2", "chinese_clip", "altclip", "align", "clap", "flava", "owlvit"}
    | {"owlv2", "groupvit", "clipseg", "xclip", "vision-text-dual-encoder", "wav2vec2", "hubert"}
    | {"wavlm", "data2vec-audio", "whisper", "speecht5", "seamless_m4t", "encodec", "resnet"}
    | {"convnext", "convnextv2", "swin", "swinv2", "segformer", "mobilenet_v2", "mobilevit"}
    | {"efficientnet", "dpt", "maskformer", "mask2former", "sam", "sam2", "detr", "rt_detr"}
    | {"yolos", "beit", "hiera", "data2vec-vision", "eva02"}
)
"""Families that read images or hear sound and write no text (huggingface/transformers, 2025)."""
MIXED_FAMILIES = frozenset(
    {"nemotron_h", "zamba", "zamba2", "bamba", "falcon_h1", "lfm2", "lfm2_moe", "qwen3_next"}
    | {"kimi_linear", "minimax_text_01", "plamo2"}
)
"""Families that mix attention with layers of another kind and do not list them by name in every
config (same source and their model cards, 2024-2025)."""
BESIDE = "give parameters beside it"
ODD_LAYERS = frozenset(
    {"albert", "arctic", "gemma3n", "gemma3n_text", "longcat_flash", "jetmoe", "step3p5"}
    | {"mimo_v2_flash", "openelm", "cogvlm", "moshi", "csm", "mobilebert", "funnel", "reformer"}
    | {"transfo-xl", "convbert", "squeezebert", "rembert", "canine", "xmod", "perceiver", "tapas"}
    | {"luke", "layoutlmv2"}
)
"""Families with layers or parts that the count does not cover (model cards, 2019-2025)."""
STATE_WINDOW = 128
"""Tokens of a window of attention whose work is about that of a layer of linear attention or a
state space: they keep 64 to 256 values for each channel (configs of Qwen3-Next, Nemotron-H, Granite
4, MiniMax-Text-01, 2025)."""
ATTENTION_LAYERS = frozenset(
    {"attention", "full_attention", "sliding_attention", "chunked_attention", "hybrid_attention"}
)
"""Names of attention in a config's list of layers (same source, 2025)."""
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
    if family in NO_TEXT or (not family and isinstance(config.get("_class_name"), str)):
        _refuse(f"{name} reads or makes images or sound and writes no text; {AS_SAMPLES}")
    has_two = any(all(config.get(key) for key in keys) for keys in TWO_STACKS)
    if family in ENCODER_DECODERS or config.get("is_encoder_decoder") is True or has_two:
        _refuse(f"{name} has two stacks, which are not counted; {IN_ITS_PLACE}, {HALF_THE_TOKENS}")
    if family in NOT_TRANSFORMERS:
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
    if family in ODD_LAYERS or config.get("block_configs") or config.get("is_folding_model"):
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
    return stated or (family if family in MIXED_FAMILIES else "")


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
        "n_query_groups",
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
"""The same, after those (Phi-3-small, OLMo's own form, CTRL, Mistral Large 3,
AFMoE, Granite and Step-3.5, 2019-2026); `embedding_size` of OLMo and LLaDA alone."""
BY_LAYER = (
    *("feed_forward", "heads", "key_value_heads", "hidden_size", "experts"),
    *("expert_feed_forward", "shared_experts", "head_size"),
)
"""Sizes that make a model uncounted where a config lists others for other layers."""
PADDED_VOCABULARY = frozenset({"hf_olmo", "llada"})
"""Families whose embedding is `embedding_size` high (their code, 2024-2025)."""
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
    sizes = {name: _size(config, names) for name, names in NAMES.items()}
    if not is_size_given:
        for key in (key for name in BY_LAYER for key in (*NAMES[name], *MORE_NAMES.get(name, ()))):
            if isinstance(_of_every_layer(config.get(key)), list):
                _refuse(f"has layers that differ from one another ({key}); {BESIDE}")
    sizes |= _further(family, config, sizes)
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
    further: dict[str, int | None] = {}
    for name, names in MORE_NAMES.items():
        is_vocabulary = name == "vocabulary"
        if is_vocabulary and family not in PADDED_VOCABULARY:
            continue
        if is_vocabulary or not sizes[name]:
            further[name] = _size(config, names) or sizes[name]
    return further


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
        if not 0 <= value <= LARGEST:
            raise InvalidInput("config", f"{name} is {value}; allowed are 0 to {LARGEST:,}")
        return value
    return None


def _of_every_layer(value: object) -> object:
    """A size that is listed by layer, where all are alike (Hunyuan); any other value as it is."""
    is_alike = isinstance(value, list) and value and all(one == value[0] for one in value)
    return value[0] if is_alike and isinstance(value, list) else value
