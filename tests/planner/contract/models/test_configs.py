"""Configs are counted as their models are published, or refused with what to do."""

import json

import pytest

from planner.contract.models.count_parameters import read_config
from planner.contract.models.known_models import fill_from_model, find_model
from pricing.common.invalid_input import InvalidInput

SHAPE = {
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
NEMOTRON_H = {**SHAPE, "model_type": "nemotron_h", "hybrid_override_pattern": "M-M*"}
GRANITE = {**SHAPE, "model_type": "granitemoehybrid", "mamba_d_state": 128}
MINIMAX = {**SHAPE, "model_type": "minimax_text_01"}
TOWER = {**SHAPE, "model_type": "clip_text_model"}
FLUX = {"_class_name": "FluxTransformer2DModel", "num_layers": 19, "num_attention_heads": 24}
ENCODER = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}

TEXT = {**ENCODER, "vocab_size": 50265}
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


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (NEMOTRON_H, r"layers of another kind \(hybrid_override_pattern\)"),
        ({**GRANITE, "layer_types": ["mamba", "attention"]}, r"another kind \(mamba\)"),
        ({**SHAPE, "model_type": "qwen3_next", "full_attention_interval": 4}, "another kind"),
        ({**SHAPE, "model_type": "falcon_h1", "mamba_d_ssm": 3072}, "another kind"),
        ({**MINIMAX, "attn_type_list": [0, 0, 1]}, r"another kind \(minimax_text_01\)"),
        ({"text_config": {**SHAPE, "layer_types": ["linear_attention"]}}, "another kind"),
        ({**SHAPE, "model_type": "nemotron-nas", "block_configs": [{}]}, "differ from one another"),
        ({**SHAPE, "model_type": "gemma3n_text"}, "parts that are not counted"),
        ({**ENCODER, "model_type": "albert", "vocab_size": 30000}, "parts that are not counted"),
        ({"model_type": "clip", "text_config": TOWER}, "writes no text.*workload of kind samples"),
        ({**ENCODER, "model_type": "wav2vec2", "vocab_size": 32}, "writes no text"),
        ({**ENCODER, "model_type": "vit_mae", "image_size": 224}, "reads images"),
        (FLUX, "FluxTransformer2DModel.*workload of kind samples"),
        ({"model_type": "t5", "num_layers": 12}, "give parameters, layers and hidden_size"),
        (wide("longcat_flash", 6144, 28, 64, 12288, 131072), "differ.*give parameters"),
        (wide("mobilebert", 512, 24, 4, 512, 30522), "differ from one another"),
        (wide("rwkv5", 2048, 24, 64, 7168, 65536), "no transformer"),
        (wide("led", 1024, 12, 16, 4096, 50265), "two stacks"),
        ({"encoder_layers": 24, "decoder_layers": 24, "d_model": 2048}, "two stacks"),
        (wide("beit", 768, 12, 12, 3072, 8192, image_size=224), "reads or makes images"),
        (wide("esm", 2560, 36, 40, 10240, 33, is_folding_model=True), "differ from one another"),
        ({**SHAPE, "intermediate_size": [8192, 14336]}, "differ.*intermediate_size"),
        ({**SHAPE, "num_key_value_heads_per_layer": [4, 2], "num_key_value_heads": None},
         "differ.*num_key_value_heads_per_layer"),
        ({**SHAPE, "intermediate_size": None}, "has no intermediate_size"),
        ({"model_type": "openelm", "model_dim": 2048}, "differ from one another"),
    ],
    ids=lambda one: one.get("model_type", "") if isinstance(one, dict) else "",
)  # fmt: skip
def test_what_is_not_counted_is_refused_and_never_read_as_a_llama(config, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        read_config(json.dumps(config))
    assert refused.value.field == "config"


@pytest.mark.parametrize(
    "config",
    [
        {**GRANITE, "layer_types": ["attention"] * 32},
        {**SHAPE, "layer_types": ["sliding_attention", "full_attention"] * 16},
    ],
)
def test_attention_in_every_layer_is_counted(config):
    assert read_config(json.dumps(config)).parameters == pytest.approx(8e9, rel=0.05)


def test_parameters_beside_it_stand_and_the_rest_is_read():
    filled = fill_from_model({"config": NEMOTRON_H, "parameters": 8.1e9, "tokens": 1e9})
    assert (filled["parameters"], filled["layers"], filled["hidden_size"]) == (8.1e9, 32, 4096)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}, "4b"),
        ({"hidden_size": 3840, "intermediate_size": 15360, "num_hidden_layers": 48,
          "num_attention_heads": 16, "num_key_value_heads": 8}, "12b-it"),
        ({"hidden_size": 5376, "intermediate_size": 21504, "num_hidden_layers": 62, "head_dim": 128,
          "num_attention_heads": 32, "num_key_value_heads": 16}, "27b-it"),
    ],
)  # fmt: skip
def test_gemma_s_own_configs_leave_out_what_is_usual(changes, name):
    text = {"model_type": "gemma3_text", "sliding_window": 1024, **changes}
    read = read_config(json.dumps({"model_type": "gemma3", "text_config": text}))
    known = find_model(f"Gemma-3-{name}").figures
    assert read.parameters == pytest.approx(known.parameters, rel=0.001)
    assert read.sliding_layers == known.sliding_layers
    assert read.attention_width == known.attention_width


@pytest.mark.parametrize(
    ("changes", "published"),
    [
        ({"model_type": "deberta-v2", "vocab_size": 128100}, 184e6),
        ({"model_type": "mpnet", "vocab_size": 30527, "max_position_embeddings": 514}, 109e6),
        ({"model_type": "esm", "vocab_size": 33, "hidden_size": 1280, "num_hidden_layers": 33,
          "num_attention_heads": 20, "intermediate_size": 5120}, 652e6),
        ({"model_type": "xlm-roberta", "vocab_size": 250002, "hidden_size": 1024,
          "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
          "max_position_embeddings": 8194}, 568e6),
        ({"model_type": "codegen", "vocab_size": 51200, "hidden_size": 2560, "intermediate_size":
          10240, "num_hidden_layers": 32, "num_attention_heads": 32}, 2.78e9),
    ],
    ids=lambda one: one["model_type"] if isinstance(one, dict) else "",
)  # fmt: skip
def test_encoders_without_a_gate_are_counted_as_published(changes, published):
    counted = read_config(json.dumps({**ENCODER, **changes})).parameters
    assert counted == pytest.approx(published, rel=0.02)


def test_a_pattern_of_letters_says_which_layers_have_a_window():
    read = read_config(
        json.dumps({**SHAPE, "sliding_window": 4096, "sliding_window_pattern": "LLLG"})
    )
    assert read.sliding_layers == 24


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("efficientnet-b0", "no model of text"),
        ("DLRM", "no model of text; a workload of kind samples"),
        ("state-spaces/mamba-2.8b", "no transformer.*sliding_window of 128"),
    ],
)
def test_names_of_other_things_say_what_to_give(name, words):
    with pytest.raises(InvalidInput, match=words):
        find_model(name)


@pytest.mark.parametrize(
    ("config", "published"),
    [
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
        ({"model_type": "hf_olmo", "d_model": 4096, "mlp_hidden_size": 22016, "n_layers": 32,
          "n_heads": 32, "vocab_size": 50280, "embedding_size": 50304, "weight_tying": False},
         6.89e9),
        ({"model_type": "llada", "d_model": 4096, "mlp_hidden_size": 12288, "n_layers": 32,
          "n_heads": 32, "vocab_size": 126464, "weight_tying": False}, 8.02e9),
        ({**TEXT, "model_type": "deberta", "max_position_embeddings": 512,
          "pos_att_type": "c2p|p2c"}, 139e6),
        ({**TEXT, "model_type": "roformer", "vocab_size": 50000, "embedding_size": 768}, 124e6),
        ({**TEXT, "model_type": "longformer", "max_position_embeddings": 4098}, 149e6),
        ({**TEXT, "model_type": "bert", "vocab_size": 30528, "max_position_embeddings": 8192,
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


def test_parameters_of_one_s_own_stand_in_for_what_a_config_lacks():
    for config in ({**SHAPE, "intermediate_size": None}, {**SHAPE, "intermediate_size": [8192, 9]}):
        assert read_config(json.dumps(config), is_size_given=True).layers == 32
