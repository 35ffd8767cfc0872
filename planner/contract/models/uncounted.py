"""Configs of models that the count of parameters does not cover, and what to do instead. PURE.

Layers of another kind than attention and a feed-forward part (state spaces, linear attention,
convolutions), layers that differ from one another, two towers, images and sound. Where a request
gives `parameters` itself, mixed layers are read for what is left: layers, width, vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pricing.common.invalid_input import InvalidInput

ENCODER_DECODERS = frozenset(
    {"t5", "mt5", "umt5", "bart", "mbart", "pegasus", "marian", "m2m_100", "led", "longt5"}
    | {"blenderbot", "blenderbot-small", "pegasus_x", "bigbird_pegasus", "nllb-moe", "plbart"}
    | {"switch_transformers", "prophetnet", "xlm-prophetnet", "fsmt", "mvp", "t5gemma", "t5gemma2"}
    | {"encoder-decoder", "vision-encoder-decoder", "speech-encoder-decoder", "pix2struct", "udop"}
    | {"florence2", "kosmos-2.5", "nougat", "donut", "trocr"}
)
"""Families of two stacks (huggingface/transformers, 2026)."""
TWO_STACKS = (
    ("encoder_layers", "decoder_layers"),
    ("num_encoder_layers", "num_decoder_layers"),
)
"""Keys that a config has together where it has two stacks."""
NOT_TRANSFORMERS = frozenset(
    {"mamba", "mamba2", "falcon_mamba", "rwkv", "rwkv7", "jamba", "recurrent_gemma", "xlstm"}
    | {"unet", "rwkv5", "rwkv6", "gated_deltanet", "delta_net", "gla", "retnet", "hgrn", "hgrn2"}
    | {"gsa", "lightnet", "linear_attn", "based", "abc", "mesa_net", "kda", "comba", "mega", "ttt"}
    | {"gated_deltaproduct", "stripedhyena", "log_linear_mamba2", "nystromformer", "fnet"}
)
"""Families whose layers are something else (their configs, and fla-org/flash-linear-attention,
2026)."""
TWO_TOWERS = frozenset(
    {"clip", "siglip", "siglip2", "chinese_clip", "altclip", "align", "clap", "flava", "owlvit"}
    | {"owlv2", "groupvit", "clipseg", "xclip", "vision-text-dual-encoder"}
)
"""Families that hold a text and an image (or sound) encoder of which neither writes text
(huggingface/transformers, 2025)."""
SOUND = frozenset(
    {"wav2vec2", "wav2vec2-conformer", "wav2vec2-bert", "hubert", "wavlm", "unispeech", "sew"}
    | {"data2vec-audio", "whisper", "speech_to_text", "speecht5", "moonshine", "seamless_m4t"}
    | {"seamless_m4t_v2", "audio-spectrogram-transformer", "encodec", "parakeet_ctc"}
)
"""Families that hear sound behind convolutions (same source, 2025)."""
IMAGES = frozenset(
    {"resnet", "regnet", "bit", "convnext", "convnextv2", "swin", "swinv2", "segformer", "upernet"}
    | {"mobilenet_v1", "mobilenet_v2", "mobilevit", "efficientnet", "focalnet", "poolformer"}
    | {"levit", "cvt", "pvt", "pvt_v2", "efficientformer", "dpt", "glpn", "maskformer"}
    | {"mask2former", "oneformer", "sam", "sam2", "detr", "conditional_detr", "deformable_detr"}
    | {"rt_detr", "rt_detr_v2", "yolos", "table-transformer", "timm_wrapper", "beit", "hiera"}
    | {"data2vec-vision", "vitdet", "eva02"}
)
"""Families that read images in stages of several widths, or find things in them (same source,
2025)."""
MIXED_FAMILIES = frozenset(
    {"nemotron_h", "zamba", "zamba2", "bamba", "falcon_h1", "lfm2", "lfm2_moe", "qwen3_next"}
    | {"kimi_linear", "minimax_text_01", "plamo2"}
)
"""Families that mix attention with layers of another kind and do not list them by name in every
config (same source and their model cards, 2024-2025)."""
BESIDE = "give parameters beside it"
ODD_LAYERS = {
    "albert": "uses the weights of one layer in all; give as parameters beside it those of one "
    "times their number, as many as work on a token",
    "arctic": f"has a dense part beside the experts of every layer; {BESIDE}, and "
    "active_parameters",
    "gemma3n": f"keeps an embedding for every layer; {BESIDE}",
    "gemma3n_text": f"keeps an embedding for every layer; {BESIDE}",
    "longcat_flash": "has two attentions and two dense parts beside the experts of every layer; "
    f"{BESIDE}, and active_parameters",
    "jetmoe": f"has a mixture of experts in its attention too; {BESIDE}, and active_parameters",
    "step3p5": f"has layers that differ from one another; {BESIDE}, and active_parameters",
    "mimo_v2_flash": f"has layers that differ from one another; {BESIDE}, and active_parameters",
    "openelm": f"has layers that differ from one another; {BESIDE}, layers and hidden_size",
    "cogvlm": f"has further weights for images in every layer; {BESIDE}",
    "moshi": f"writes sound through a second decoder; {BESIDE}",
    "csm": f"writes sound through a second decoder; {BESIDE}",
    **dict.fromkeys(
        ("mobilebert", "funnel", "reformer", "transfo-xl", "convbert", "squeezebert"),
        f"has layers of another kind than BERT's; {BESIDE}",
    ),
    **dict.fromkeys(
        ("rembert", "canine", "xmod", "perceiver", "tapas", "luke", "layoutlmv2"),
        f"has parts beside its layers that the count does not cover; {BESIDE}",
    ),
}
"""Family → what the count does not cover of it, and what to do (model cards, 2019-2025)."""
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
AS_SAMPLES = "a workload of kind samples with forward_gflops_per_sample sizes it"


def refuse_uncounted(config: Mapping[str, Any], family: str, is_size_given: bool) -> None:
    """Refuses, on `config`, what is not counted and says what to do.

    >>> refuse_uncounted({"layer_types": ["mamba", "attention"]}, "granitemoehybrid", True)
    >>> refuse_uncounted({"layer_types": ["attention"]}, "granitemoehybrid", False)
    """
    _refuse_adapter(config)
    pipeline = config.get("_class_name")
    if isinstance(pipeline, str) and not family:
        _refuse(f"is that of a {pipeline[:60]}, which makes images or video; {AS_SAMPLES}")
    is_timm = not family and {"architecture", "num_classes"} <= config.keys()
    if family in IMAGES or is_timm:
        name = family or str(config["architecture"])[:60]
        _refuse(f"{name} reads images and writes no text; {AS_SAMPLES}")
    if family in TWO_TOWERS or _has_two_towers(config):
        _refuse(
            f"{family or 'the model'} has two towers, of which neither writes text; {AS_SAMPLES}"
        )
    if family in SOUND:
        _refuse(f"{family} hears sound behind convolutions; {AS_SAMPLES}")
    has_two = any(all(config.get(key) for key in keys) for keys in TWO_STACKS)
    if family in ENCODER_DECODERS or config.get("is_encoder_decoder") is True or has_two:
        name = family or "an encoder-decoder"
        _refuse(f"{name} has two stacks, which are not counted; {IN_ITS_PLACE}, {HALF_THE_TOKENS}")
    if family in NOT_TRANSFORMERS:
        _refuse(
            f"{family} is no transformer; {IN_ITS_PLACE}, and as many sliding_layers with a "
            f"sliding_window of {STATE_WINDOW}, whose work is about theirs"
        )
    other = "" if is_size_given else other_layers(config, family)
    if other:
        _refuse(
            f"{family or 'the model'} mixes attention with layers of another kind ({other}), which "
            f"are not counted; {BESIDE}, and active_parameters of a mixture"
        )
    differs = f"has layers that differ from one another; {BESIDE}"
    folds = config.get("is_folding_model") is True
    is_odd = config.get("block_configs") or folds
    odd = ODD_LAYERS.get(family, differs if is_odd else "")
    if odd and not is_size_given:
        _refuse(f"{family or 'the model'} {odd}")


def _has_two_towers(config: Mapping[str, Any]) -> bool:
    """Whether it is OpenCLIP's own form of two towers."""
    inner = config.get("model_cfg")
    whole = inner if isinstance(inner, Mapping) else config
    return {"vision_cfg", "text_cfg"} <= whole.keys()


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
    stated = [key for key in _MIXING_KEYS if config.get(key)]
    numbers = config.get(_BY_NUMBER)
    if isinstance(numbers, list) and 0 in numbers:
        stated.append(_BY_NUMBER)
    return stated[0] if stated else family if family in MIXED_FAMILIES else ""


def layers_without_attention(config: Mapping[str, Any], layers: int) -> int:
    """How many of a model's layers have no attention, as far as its config says.

    >>> layers_without_attention({"hybrid_override_pattern": "M-M*"}, 4)
    3
    >>> layers_without_attention({"full_attention_interval": 4}, 48)
    36
    >>> layers_without_attention({"linear_attn_config": {"full_attn_layers": [4, 8]}}, 8)
    6
    """
    listed = _listed_layers(config)
    if listed:
        return sum(kind not in ATTENTION_LAYERS for kind in listed[:layers])
    pattern, every = config.get("hybrid_override_pattern"), config.get("full_attention_interval")
    if isinstance(pattern, str) and pattern:
        return max(0, layers - pattern.count("*"))
    every = every or config.get("attn_layer_period")
    if isinstance(every, int) and every > 0:
        return layers - layers // every
    numbers = config.get(_BY_NUMBER)
    if isinstance(numbers, list):
        return sum(number == 0 for number in numbers[:layers])
    linear = config.get("linear_attn_config")
    parts = [config, linear] if isinstance(linear, Mapping) else [config]
    named = [part.get(key) for part in parts for key in _ATTENTION_KEYS]
    with_attention = [len(places) for places in named if isinstance(places, list)]
    return max(0, layers - with_attention[0]) if with_attention else 0


def _listed_layers(config: Mapping[str, Any]) -> list[str]:
    """Kinds of the layers in order, where a config lists them."""
    lists = (config.get(key) for key in ("layer_types", "layers_block_type"))
    listed = next((one for one in lists if isinstance(one, list) and one), [])
    return [str(kind)[:40] for kind in listed]


_ATTENTION_KEYS = (
    "full_attn_layers",
    "full_attn_idxs",
    "attn_layer_indices",
    "hybrid_layer_ids",
)
"""Keys under which layers with attention are listed by their place."""
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


_BY_NUMBER = "attn_type_list"
"""Of MiniMax: 1 is attention, 0 linear attention (model cards of Text-01 and M2, 2025)."""


def _refuse(words: str) -> None:
    raise InvalidInput("config", words)
