"""Configs whose layers the count does not cover are refused, and sizes left out are known."""

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


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (NEMOTRON_H, r"layers of another kind \(hybrid_override_pattern\)"),
        ({**GRANITE, "layer_types": ["mamba", "attention"]}, r"another kind \(mamba\)"),
        ({**SHAPE, "model_type": "qwen3_next", "full_attention_interval": 4}, "another kind"),
        ({**SHAPE, "model_type": "falcon_h1", "mamba_d_ssm": 3072}, "another kind"),
        ({**MINIMAX, "attn_type_list": [0, 0, 1]}, r"another kind \(attn_type_list\)"),
        ({"text_config": {**SHAPE, "layer_types": ["linear_attention"]}}, "another kind"),
        ({**SHAPE, "model_type": "nemotron-nas", "block_configs": [{}]}, "differ from one another"),
        ({**SHAPE, "model_type": "gemma3n_text"}, "an embedding for every layer"),
        ({**ENCODER, "model_type": "albert", "vocab_size": 30000}, "of one layer in all"),
        ({"model_type": "clip", "text_config": TOWER}, "two towers.*workload of kind samples"),
        ({**ENCODER, "model_type": "wav2vec2", "vocab_size": 32}, "hears sound"),
        ({**ENCODER, "model_type": "vit_mae", "image_size": 224}, "reads images"),
        (FLUX, "FluxTransformer2DModel.*workload of kind samples"),
        ({"model_type": "t5", "num_layers": 12}, "give parameters, layers and hidden_size"),
    ],
    ids=lambda one: one.get("model_type", "") if isinstance(one, dict) else "",
)
def test_what_is_not_counted_is_refused_with_what_to_do(config, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        read_config(json.dumps(config))
    assert refused.value.field == "config"


@pytest.mark.parametrize(
    "config",
    [
        {**GRANITE, "layer_types": ["attention"] * 32},
        {**SHAPE, "model_type": "minimax_m2", "attn_type_list": [1] * 32},
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


def test_so_do_language_models_of_llava_and_the_thinker_of_qwen_omni():
    llava = {"text_config": {"model_type": "llama", "vocab_size": 32064}}
    assert read_config(json.dumps(llava)).parameters == pytest.approx(6.74e9, rel=0.001)
    omni = {"thinker_config": {"text_config": SHAPE}, "talker_config": {"hidden_size": 896}}
    assert read_config(json.dumps(omni)) == read_config(json.dumps(SHAPE))


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
    ("config", "words"),
    [
        ('{"model_type": "whisper", "d_model": 1280}', "whisper hears sound.*kind samples"),
        ('{"model_type": "resnet", "depths": [3, 4]}', "resnet reads images.*kind samples"),
        ('{"architecture": "resnet50", "num_classes": 1000}', "resnet50 reads images"),
        (
            '{"peft_type": "LORA", "r": 16, "base_model_name_or_path": "meta-llama/Llama-3.1-8B"}',
            "adapters .LORA. of meta-llama/Llama-3.1-8B; give that model by its name",
        ),
    ],
)
def test_configs_of_other_things_say_what_to_give(config, words):
    with pytest.raises(InvalidInput, match=words):
        read_config(config)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("efficientnet-b0", "images or sound"),
        ("facebook/sam2-hiera-large", "images or sound"),
        ("DLRM", "no language model; a workload of kind samples"),
        ("OpenFold", "no language model"),
        ("state-spaces/mamba-2.8b", "no transformer.*sliding_window of 128"),
    ],
)
def test_names_of_other_things_say_what_to_give(name, words):
    with pytest.raises(InvalidInput, match=words):
        find_model(name)
