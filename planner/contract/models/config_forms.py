"""Configs of other forms than Hugging Face's, by its names. PURE.

GGUF's metadata, Mistral's and Meta's `params.json`, litgpt's and nanoGPT's settings, numbers and
yes or no written as text, a family that only `architectures` names, and older names of a family.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planner.contract.models.families import KNOWN_FAMILIES

OLDER_NAMES = {
    "refinedweb": "falcon",
    "refinedwebmodel": "falcon",
    "stablelm_epoch": "stablelm",
    "olmo_native": "hf_olmo",
}
"""Name that a family bore → the one that it has now (configs of Falcon and StableLM, 2023)."""
GGUF_NAMES = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "context_length": "max_position_embeddings",
    "vocab_size": "vocab_size",
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
}
"""Key of GGUF's metadata after the architecture → Hugging Face's (ggml docs/gguf.md, 2024)."""
GGUF_FAMILIES = {"qwen2moe": "qwen2_moe", "qwen3moe": "qwen3_moe", "gptneox": "gpt_neox"}
"""Architecture of GGUF → family, where they differ (same source, 2024)."""
_DIGITS = re.compile(r"\d{1,12}")
_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None, "none": None}
_TASKS = re.compile(r"(LMHead|DoubleHeads|For[A-Z]\w*|LMHeadModel|Model)*$")


def as_hugging_face(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """A config by the names of Hugging Face, of whichever form it is; one of them as it is.

    >>> as_hugging_face({"architectures": ["GPT2LMHeadModel"], "n_layer": "12"})["model_type"]
    'gpt2'
    >>> as_hugging_face({"general.architecture": "llama", "llama.block_count": 32})
    {'model_type': 'llama', 'num_hidden_layers': 32}
    >>> as_hugging_face({"dim": 4096, "hidden_dim": 14336})["intermediate_size"]
    14336
    """
    read = {key: _value(value) for key, value in config.items()}
    if isinstance(read.get("general.architecture"), str):
        return _of_gguf(read)
    if read.get("model_type") is None:
        read |= _of_no_family(read)
    name = str(read.get("model_type") or "").casefold()
    if name in OLDER_NAMES:
        read["model_type"] = OLDER_NAMES[name]
        if read.get("n_head_kv"):
            read["new_decoder_architecture"] = True
    if name == "chatglm" and read.get("inner_hidden_size"):
        read |= {"model_type": "chatglm_6b", "intermediate_size": read["inner_hidden_size"]}
    if "weight_tying" in read:
        read.setdefault("tie_word_embeddings", read["weight_tying"])
    return read


def _value(value: object) -> object:
    """A number or a yes or no that is written as text, as what it says."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if _DIGITS.fullmatch(text):
        return int(text)
    return _WORDS.get(text.casefold(), value)


def _of_gguf(read: Mapping[str, Any]) -> dict[str, Any]:
    architecture = str(read["general.architecture"])
    family = GGUF_FAMILIES.get(architecture, architecture.replace("-", "_"))
    named = {ours: read.get(f"{architecture}.{theirs}") for theirs, ours in GGUF_NAMES.items()}
    sizes = {name: size for name, size in named.items() if size is not None}
    return {"model_type": family, **sizes}


def _of_no_family(read: Mapping[str, Any]) -> dict[str, Any]:
    """What a config that names no family says of it by its architecture, or by its form."""
    named = read.get("architectures")
    if isinstance(named, list) and named:
        return {"model_type": family_of(str(named[0])[:80])}
    if "n_query_groups" in read:
        is_gated = read.get("mlp_class_name") != "GptNeoxMLP"
        return {
            "model_type": "llama" if is_gated else "gpt_neox",
            "num_key_value_heads": read["n_query_groups"],
            "vocab_size": read.get("padded_vocab_size") or read.get("vocab_size"),
        }
    if {"n_embd", "n_layer", "block_size"} <= read.keys():
        return {"model_type": "gpt2", "n_positions": read["block_size"]}
    if "ssm_cfg" in read:
        return {"model_type": "mamba"}
    if {"dim", "hidden_dim"} <= read.keys() and "intermediate_size" not in read:
        moe = read.get("moe")
        beside = moe if isinstance(moe, Mapping) else {}
        return {"model_type": "mistral", "intermediate_size": read["hidden_dim"], **beside}
    if {"dim", "multiple_of"} <= read.keys():
        return {"model_type": "llama"}
    return {}


def family_of(architecture: str) -> str | None:
    """The known family that a class of Hugging Face's is of; None of another.

    >>> family_of("Qwen2MoeForCausalLM"), family_of("GPTNeoXForCausalLM"), family_of("MyModel")
    ('qwen2_moe', 'gpt_neox', None)
    """
    squeezed = _squeezed(_TASKS.sub("", architecture))
    return next((name for name in sorted(KNOWN_FAMILIES) if _squeezed(name) == squeezed), None)


def _squeezed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
