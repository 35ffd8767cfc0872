"""Configs of other forms and of families that were read as another: counted as published, or
refused with what to do."""

import json

import pytest

from planner.contract.models.count_parameters import read_config
from pricing.common.invalid_input import InvalidInput

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
GGUF = {
    "general.architecture": "llama",
    "llama.block_count": 32,
    "llama.embedding_length": 4096,
    "llama.feed_forward_length": 14336,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.vocab_size": 128256,
}
MISTRAL = {
    "dim": 4096,
    "n_layers": 32,
    "head_dim": 128,
    "hidden_dim": 14336,
    "n_heads": 32,
    "n_kv_heads": 8,
    "vocab_size": 32000,
}
LITGPT = {
    "block_size": 131072,
    "padded_vocab_size": 128256,
    "vocab_size": 128000,
    "n_layer": 32,
    "n_head": 32,
    "n_embd": 4096,
    "n_query_groups": 8,
    "mlp_class_name": "LLaMAMLP",
    "intermediate_size": 14336,
}
GPT2 = {"n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257}
FALCON = {"model_type": "falcon", "bias": False, "alibi": False}
FALCON_7B = {
    "hidden_size": 4544,
    "num_hidden_layers": 32,
    "num_attention_heads": 71,
    "vocab_size": 65024,
    "multi_query": True,
}
RW_1B = {
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_attention_heads": 32,
    "vocab_size": 50304,
    "multi_query": False,
}
REFINED_40B = {
    "model_type": "RefinedWeb",
    "hidden_size": 8192,
    "n_layer": 60,
    "n_head": 128,
    "n_head_kv": 8,
    "vocab_size": 65024,
}
BASE = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "vocab_size": 50265,
}


def wide(family, hidden, layers, heads, feed_forward, vocabulary, **more):
    return {
        "model_type": family,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": feed_forward,
        "vocab_size": vocabulary,
        **more,
    }


def as_text(config):
    """Every number and yes or no written as text."""
    return {key: str(value).lower() for key, value in config.items()}


@pytest.mark.parametrize(
    ("config", "published"),
    [
        (as_text(LLAMA), 8.03e9),
        (GGUF, 8.03e9),
        (LITGPT, 8.03e9),
        (MISTRAL, 7.24e9),
        ({**MISTRAL, "moe": {"num_experts": 8, "num_experts_per_tok": 2}}, 46.7e9),
        ({**GPT2, "block_size": 1024, "bias": False}, 124e6),
        ({**GPT2, "architectures": ["GPT2LMHeadModel"], "n_positions": 1024}, 124e6),
        (FALCON | FALCON_7B, 7.217e9),
        (FALCON | RW_1B, 1.31e9),
        (REFINED_40B, 41.8e9),
        (FALCON_7B | {"model_type": "RefinedWebModel"}, 7.217e9),
        (wide("minicpm", 2304, 40, 36, 5760, 122753), 2.72e9),
        (wide("apertus", 4096, 32, 32, 21504, 131072, num_key_value_heads=8), 8.05e9),
        (wide("arcee", 2560, 36, 20, 18432, 128005, num_key_value_heads=4, head_dim=128), 4.6e9),
        (wide("clip_text_model", 768, 12, 12, 3072, 49408, max_position_embeddings=77), 123e6),
        (wide("phi3small", 4096, 32, 32, None, 100352, num_key_value_heads=8,
              ff_intermediate_size=14336), 7.39e9),
        (wide("chatglm", 4096, None, 32, None, 130528, num_layers=28, inner_hidden_size=16384),
         6.17e9),
        ({"model_type": "hf_olmo", "d_model": 4096, "mlp_hidden_size": 22016, "n_layers": 32,
          "n_heads": 32, "vocab_size": 50280, "embedding_size": 50304, "weight_tying": False},
         6.89e9),
        ({"model_type": "llada", "d_model": 4096, "mlp_hidden_size": 12288, "n_layers": 32,
          "n_heads": 32, "vocab_size": 126464, "weight_tying": False}, 8.02e9),
        ({**BASE, "model_type": "deberta", "max_position_embeddings": 512,
          "pos_att_type": "c2p|p2c"}, 139e6),
        ({**BASE, "model_type": "roformer", "vocab_size": 50000, "embedding_size": 768}, 124e6),
        ({**BASE, "model_type": "longformer", "max_position_embeddings": 4098}, 149e6),
        ({**BASE, "model_type": "bert", "vocab_size": 30528, "max_position_embeddings": 8192,
          "position_embedding_type": "alibi", "feed_forward_type": "geglu"}, 137e6),
        ({"model_type": "openai-gpt", "n_embd": 768, "n_layer": 12, "n_head": 12,
          "vocab_size": 40478, "n_positions": 512}, 117e6),
        ({"model_type": "ctrl", "n_embd": 1280, "n_layer": 48, "n_head": 16, "dff": 8192,
          "vocab_size": 246534}, 1.63e9),
        (wide("minicpm3", 2560, 62, 40, 6400, 73448, q_lora_rank=768, kv_lora_rank=256,
              qk_nope_head_dim=64, qk_rope_head_dim=32), 4.07e9),
        (wide("grok2", 8192, 64, 64, 32768, 131072, moe_intermediate_size=16384, head_dim=128,
              num_key_value_heads=8, num_local_experts=8, num_experts_per_tok=2,
              residual_moe=True, tie_word_embeddings=False), 270e9),
    ],
    ids=lambda one: str(one.get("model_type", "")) if isinstance(one, dict) else "",
)  # fmt: skip
def test_it_is_counted_as_published(config, published):
    assert read_config(json.dumps(config)).parameters == pytest.approx(published, rel=0.02)


def test_heads_and_dense_layers_by_further_names():
    shared = wide("chatglm", 4096, 28, 32, 13696, 65024, multi_query_group_num=2)
    alone = read_config(json.dumps({**shared, "multi_query_attention": False}))
    assert (read_config(json.dumps(shared)).cached_values, alone.cached_values) == (512, 8192)
    mixture = wide("afmoe", 2048, 32, 32, 6144, 200192, moe_intermediate_size=1024, num_experts=128,
                   num_experts_per_tok=8, num_shared_experts=1, num_key_value_heads=4,
                   head_dim=128, tie_word_embeddings=False)  # fmt: skip
    read = read_config(json.dumps({**mixture, "num_dense_layers": 2}))
    assert read.parameters == pytest.approx(26e9, rel=0.02)
    marked = read_config(json.dumps({**mixture, "moe_layer_freq": [0, 0] + [1] * 30}))
    assert marked.parameters == read.parameters


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (wide("longcat_flash", 6144, 28, 64, 12288, 131072), "two attentions.*give parameters"),
        (wide("jetmoe", 2048, 24, 32, 5632, 32000), "mixture of experts in its attention"),
        (wide("mobilebert", 512, 24, 4, 512, 30522), "another kind than BERT's"),
        (wide("rwkv5", 2048, 24, 64, 7168, 65536), "no transformer"),
        (wide("gated_deltanet", 2048, 24, 6, None, 32000), "no transformer"),
        ({"d_model": 2560, "n_layer": 64, "vocab_size": 50277, "ssm_cfg": {}}, "no transformer"),
        (wide("led", 1024, 12, 16, 4096, 50265), "two stacks"),
        ({"encoder_layers": 24, "decoder_layers": 24, "d_model": 2048}, "two stacks"),
        (wide("beit", 768, 12, 12, 3072, 8192, image_size=224), "reads images"),
        ({"embed_dim": 512, "vision_cfg": {"layers": 12}, "text_cfg": {}}, "two towers"),
        (wide("esm", 2560, 36, 40, 10240, 33, is_folding_model=True), "differ from one another"),
        ({**LLAMA, "intermediate_size": [8192, 14336]}, "differ.*intermediate_size"),
        ({**LLAMA, "num_key_value_heads_per_layer": [4, 2], "num_key_value_heads": None},
         "differ.*num_key_value_heads_per_layer"),
        ({**LLAMA, "intermediate_size": None}, "has no intermediate_size"),
        ({"model_type": "openelm", "model_dim": 2048}, "differ from one another"),
    ],
    ids=lambda one: str(one.get("model_type", "")) if isinstance(one, dict) else "",
)  # fmt: skip
def test_what_is_not_counted_is_refused_and_never_read_as_a_llama(config, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        read_config(json.dumps(config))
    assert refused.value.field == "config"


def test_parameters_of_one_s_own_stand_in_for_what_a_config_lacks():
    for config in ({**LLAMA, "intermediate_size": None}, {**LLAMA, "intermediate_size": [8192, 9]}):
        assert read_config(json.dumps(config), is_size_given=True).layers == 32
