"""Configs of families whose code builds another model than their sizes say."""

import json

import pytest

from planner.contract.models.count_parameters import read_config
from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput
from tests.planner.contract.models.configs import QWEN2_7B

QWEN = {
    "model_type": "qwen",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "intermediate_size": 22016,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
}
XLNET = {
    "model_type": "xlnet",
    "d_model": 1024,
    "n_layer": 24,
    "n_head": 16,
    "d_inner": 4096,
    "vocab_size": 32000,
}
ELECTRA = {
    "model_type": "electra",
    "hidden_size": 256,
    "embedding_size": 128,
    "num_hidden_layers": 12,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
}
OPT = {
    "model_type": "opt",
    "hidden_size": 1024,
    "word_embed_proj_dim": 512,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "ffn_dim": 4096,
    "vocab_size": 50272,
    "max_position_embeddings": 2048,
}
QWEN2 = QWEN2_7B | {"use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 14}
VIT = {
    "model_type": "vit",
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "image_size": 224,
    "patch_size": 16,
}


def ask(config, **work):
    workload = {"kind": "training", "tokens": 1e9, "config": config, "sequence_length": 512, **work}
    asked = {"workload": workload, "accelerator": "H100", "accelerators": 8}
    return estimate(asked).answer


@pytest.mark.parametrize(
    ("config", "published"), [(QWEN, 7.721e9), (XLNET, 3.60e8), (ELECTRA, 1.35e7), (OPT, 3.312e8)]
)
def test_a_family_is_counted_as_its_code_builds_it(config, published):
    assert read_config(json.dumps(config)).parameters == pytest.approx(published, rel=0.01)
    attention = 12 * ask_layers(config) * 512 * 1e9
    flops = ask(config).training_flops
    assert flops - attention == pytest.approx(6 * published * 1e9, rel=0.01)


def ask_layers(config):
    """Layers times width."""
    figures = read_config(json.dumps(config))
    return figures.layers * figures.hidden_size


def test_windows_of_qwen_leave_its_first_layers_out():
    assert read_config(json.dumps(QWEN2)).sliding_layers == 14
    assert read_config(json.dumps({**QWEN2, "max_window_layers": 28})).sliding_window is None
    assert read_config(json.dumps({**QWEN2, "use_sliding_window": False})).sliding_layers == 0


def test_an_unknown_family_is_read_as_a_llama_and_said_to_be():
    words = "the model_type foo of the config is not known"
    assert words in " ".join(ask({**QWEN, "model_type": "foo"}).warnings)
    own = ask({**QWEN, "model_type": "foo"}, parameters=7e9)
    assert words not in " ".join(own.warnings)
    assert "not known" not in " ".join(ask(QWEN).warnings)


def test_a_model_of_images_is_no_training_on_tokens():
    with pytest.raises(InvalidInput, match=r"images.*kind samples") as refusal:
        ask(VIT)
    assert refusal.value.field == "workload.config"
