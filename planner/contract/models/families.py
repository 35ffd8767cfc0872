"""What the code of model families does that their configs do not say. PURE."""

from __future__ import annotations

PLAIN_FAMILIES = frozenset(
    {"gpt2", "gpt_neo", "gpt_neox", "gptj", "opt", "bloom", "falcon", "phi", "mpt", "gpt_bigcode"}
    | {"starcoder2", "bert", "roberta", "xlm-roberta", "distilbert", "electra", "clip_text_model"}
    | {"vit", "deit", "dinov2", "nemotron", "persimmon", "codegen", "xglm", "biogpt", "esm"}
    | {"deberta", "deberta-v2", "mpnet", "camembert", "longformer", "big_bird", "xlm-roberta-xl"}
    | {"xlnet"}
)
"""Families whose feed-forward part has no gate (their code in huggingface/transformers, 2025)."""
TIED_FAMILIES = frozenset(
    {"gpt2", "gpt_neo", "opt", "bloom", "mpt", "gpt_bigcode", "starcoder2", "cohere", "cohere2"}
    | {"gemma", "gemma2", "gemma3", "gemma3_text", "bert", "roberta", "xlm-roberta", "electra"}
    | {"distilbert", "modernbert", "deberta", "deberta-v2", "mpnet", "camembert", "longformer"}
    | {"big_bird", "xlm-roberta-xl", "esm", "xglm", "biogpt", "nomic_bert", "xlnet"}
)
"""Families that share input and output embedding unless the config says otherwise (same source,
2025)."""
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
    | {"camembert", "mpnet", "longformer", "big_bird"}
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
NEW_PLAIN_FAMILIES = frozenset(
    {"apertus", "arcee", "openai-gpt", "ctrl", "ernie", "megatron-bert", "layoutlm", "layoutlmv3"}
    | {"roformer", "data2vec-text", "ibert", "gpt_neox_japanese", "chatglm_6b"}
)
"""Further families without a gate, which rules 6 know (same source, 2026)."""
NEW_TIED_FAMILIES = frozenset(
    {"minicpm", "minicpm3", "phi3small", "clip_text_model", "openai-gpt", "ctrl", "ernie"}
    | {"megatron-bert", "layoutlm", "layoutlmv3", "roformer", "data2vec-text", "ibert", "new"}
    | {"chatglm_6b"}
)
"""Further families that share both embeddings (same source, 2026)."""
NEW_POSITION_FAMILIES = frozenset(
    {"clip_text_model", "openai-gpt", "ernie", "megatron-bert", "layoutlm", "layoutlmv3"}
    | {"data2vec-text", "ibert"}
)
"""Further families that learn positions (same source, 2026)."""
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
KNOWN_FAMILIES = (
    GATED_FAMILIES
    | PLAIN_FAMILIES
    | TIED_FAMILIES
    | POSITION_FAMILIES
    | NEW_PLAIN_FAMILIES
    | NEW_TIED_FAMILIES
)
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
