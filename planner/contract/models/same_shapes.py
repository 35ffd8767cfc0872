"""Names of models that have the shapes of one in the table, trained otherwise. PURE.

Their configs say the same layers and widths (those of distilled and fine-tuned models are their
base's); what they were trained on changes nothing here. Where a config says another context,
vocabulary or window, it stands in `OWN_FIELDS`.
"""

from __future__ import annotations

from collections.abc import Mapping

SAME_SHAPES = {
    "Llama-3.1-8B": ("DeepSeek-R1-Distill-Llama-8B", "Hermes-3-Llama-3.1-8B"),
    "Llama-3.1-70B": (
        "DeepSeek-R1-Distill-Llama-70B",
        "Llama-3.1-Nemotron-70B",
        "Hermes-3-Llama-3.1-70B",
    ),
    "Llama-2-7b-hf": ("vicuna-7b-v1.5", "vicuna-7b", "CodeLlama-7b", "Llama-7B"),
    "Llama-2-13b": ("vicuna-13b-v1.5", "vicuna-13b", "CodeLlama-13b", "Llama-13B"),
    "Llama 4 Scout": ("Llama-4-Scout-17B-16E",),
    "Llama-4-Maverick": ("Llama-4-Maverick-17B-128E",),
    "tiny-llama-1.1b": ("TinyLlama", "TinyLlama-1.1B-Chat-v1.0"),
    "Qwen2.5-0.5B": ("Qwen2-0.5B", "Qwen2.5-Coder-0.5B"),
    "Qwen2.5-1.5B": ("Qwen2-1.5B", "Qwen2.5-Coder-1.5B", "Qwen2.5-Math-1.5B"),
    "Qwen2.5-3B": ("Qwen2.5-Coder-3B",),
    "Qwen2.5-7B": (
        "Qwen2-7B",
        "Qwen2.5-Coder-7B",
        "Qwen2.5-Math-7B",
        "DeepSeek-R1-Distill-Qwen-7B",
    ),
    "Qwen2.5-14B": ("Qwen2.5-Coder-14B", "DeepSeek-R1-Distill-Qwen-14B"),
    "Qwen2.5-32B": ("Qwen2.5-Coder-32B", "QwQ-32B", "DeepSeek-R1-Distill-Qwen-32B"),
    "Qwen2.5-72B": ("Qwen2-72B", "Qwen2.5-Math-72B"),
    "Qwen3-8B": ("DeepSeek-R1-0528-Qwen3-8B",),
    "Qwen3-30B-A3B": ("Qwen3-Coder-30B-A3B",),
    "DeepSeek-V3": ("DeepSeek-R1", "DeepSeek-R1-Zero", "DeepSeek-V3.1", "DeepSeek-V3.1-Terminus"),
    "DeepSeek-V2-Lite": ("DeepSeek-Coder-V2-Lite",),
    "DeepSeek-V2": ("DeepSeek-Coder-V2", "DeepSeek-V2.5"),
    "GLM-4.5": ("GLM-4.6",),
    "phi-4": ("phi-4-reasoning", "phi-4-reasoning-plus"),
    "Phi-3-mini-4k-instruct": ("Phi-3-mini-128k", "Phi-3.5-mini"),
    "Mistral-7B-v0.1": ("zephyr-7b-beta",),
    "Mistral-7B-v0.3": ("Mistral-7B-v0.2",),
    "Mistral-Small-24B-2501": ("Devstral-Small", "Magistral-Small"),
    "Mistral-Large-Instruct-2407": ("Mistral-Large-2",),
    "Yi-34B": ("Yi-1.5-34B",),
    "BERT-base": ("bge-base-en-v1.5", "e5-base-v2"),
    "BERT-large": ("bge-large-en-v1.5", "e5-large-v2"),
    "XLM-R-large": ("xlm-roberta-large", "multilingual-e5-large"),
    "gpt2": ("gpt2-small",),
}
"""Name in the table → other names of the same shapes (configs and model cards, 2019-2025)."""

OWN_FIELDS: Mapping[str, Mapping[str, int | None]] = {
    "vicuna-7b": {"positions": 2048},
    "Llama-7B": {"positions": 2048},
    "CodeLlama-7b": {"positions": 16384, "vocabulary": 32016},
    "Llama-13B": {"positions": 2048},
    "vicuna-13b": {"positions": 2048},
    "CodeLlama-13b": {"positions": 16384, "vocabulary": 32016},
    "Qwen2-0.5B": {"positions": 131072},
    "Qwen2.5-Coder-1.5B": {"positions": 32768},
    "Qwen2.5-Math-1.5B": {"positions": 4096},
    "Qwen2.5-Coder-7B": {"positions": 32768},
    "Qwen2.5-Math-7B": {"positions": 4096},
    "Qwen2.5-Coder-14B": {"positions": 32768},
    "Qwen2.5-Coder-32B": {"positions": 32768},
    "Qwen2.5-Math-72B": {"positions": 4096},
    "DeepSeek-R1-0528-Qwen3-8B": {"positions": 131072},
    "Qwen3-Coder-30B-A3B": {"positions": 262144},
    "GLM-4.6": {"positions": 202752},
    "phi-4-reasoning": {"positions": 32768},
    "phi-4-reasoning-plus": {"positions": 32768},
    "Phi-3-mini-128k": {"positions": 131072, "sliding_window": None},
    "Phi-3.5-mini": {"positions": 131072, "sliding_window": None},
    "Mistral-7B-v0.2": {"vocabulary": 32000},
    "Devstral-Small": {"positions": 131072},
    "Magistral-Small": {"positions": 40960},
}
"""Name → what its config says otherwise than that of its twin; None for a field that it lacks, or
whose value no sequence reaches (the window of 262,144 tokens of Phi-3-mini-128k and Phi-3.5-mini).
From the config.json of each at huggingface.co, 2023-2025."""
