"""What a config or a name says of a model: parameters, those at work, and the cache."""

import json

import pytest

from planner.contract.models.count_parameters import read_config
from planner.contract.models.known_models import find_model, known_models, same_shapes
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.performance.replicas import served_model
from pricing.common.invalid_input import InvalidInput

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
DEEPSEEK = json.loads(find_model("DeepSeek-V3").config)


def figures(**changes):
    return read_config(json.dumps({**LLAMA, **changes}))


def training(**changes):
    return parse(Training, {"kind": "training", "tokens": 1e9, **changes})


def test_parameters_are_within_2_per_cent_of_the_published_and_those_at_work_within_6():
    for model in known_models():
        total, active = model.published_parameters, model.published_active
        assert not total or model.figures.parameters == pytest.approx(total, rel=0.02), model.name
        at_work = model.figures.active_parameters
        assert not active or at_work == pytest.approx(active, rel=0.06), model.name


@pytest.mark.parametrize(
    "name", ["Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct", "llama 3.1 8b"]
)
def test_a_model_is_found_by_any_usual_writing(name):
    assert find_model(name).name == "Llama-3.1-8B"


def test_an_unknown_model_is_refused_with_the_closest():
    with pytest.raises(InvalidInput, match=r"closest are .*Llama-3"):
        training(model="Llama-3.3-9B")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("deepseek-ai/DeepSeek-R1-0528", "DeepSeek-V3"),
        ("DeepSeek-R1-Distill-Qwen-7B", "Qwen2.5-7B"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "Qwen3-30B-A3B"),
        ("unsloth/Llama-3.2-1B-Instruct-bnb-4bit", "Llama-3.2-1B"),
        ("google/gemma-3-12b-pt", "Gemma-3-12b-it"),
        ("Meta-Llama-3.1-8B-Instruct", "Llama-3.1-8B"),
        ("bert-base-uncased", "BERT-base"),
        ("Llama-4-Scout-17B-16E-Instruct", "Llama 4 Scout"),
    ],
)
def test_models_of_the_same_shapes_are_found_by_their_own_names(name, known):
    assert find_model(name).name == known


def test_a_name_of_the_same_shapes_keeps_what_its_own_config_says_otherwise():
    own_rows = [row for row in same_shapes() if row["positions"] or row["vocabulary"]]
    assert len(own_rows) >= 20
    for row in own_rows:
        figures, twin = find_model(row["name"]).figures, find_model(row["model"]).figures
        assert (figures.layers, figures.hidden_size) == (twin.layers, twin.hidden_size)
        assert figures != twin
        assert figures.positions == int(row["positions"] or twin.positions)
        assert figures.vocabulary_size == int(row["vocabulary"] or twin.vocabulary_size)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("openai/whisper-large-v3", "no model of text; a workload of kind samples"),
        ("black-forest-labs/FLUX.1-dev", "no model of text"),
        ("stabilityai/stable-diffusion-xl-base-1.0", "no model of text"),
        ("google/flan-t5-large", "two stacks.*give parameters, layers and hidden_size"),
        ("google/mt5-xl", "two stacks.*half of the tokens of both stacks"),
        ("Llama-9", "closest are"),
    ],
)
def test_names_of_other_kinds_of_models_say_how_to_size_them(name, words):
    with pytest.raises(InvalidInput, match=words):
        find_model(name)


def test_a_config_within_a_config_is_that_of_the_language_model():
    whole = {"model_type": "llava", "text_config": LLAMA, "vision_config": {"hidden_size": 1024}}
    assert read_config(json.dumps(whole)).parameters == figures().parameters


def test_shared_embeddings_count_once():
    one, two = figures(tie_word_embeddings=True), figures(tie_word_embeddings=False)
    assert two.parameters - one.parameters == 128256 * 4096


def test_experts_work_as_many_as_a_token_visits():
    sparse = figures(num_experts=8, num_experts_per_tok=2)
    matrices = 3 * 4096 * 14336 * 32
    assert sparse.parameters - sparse.active_parameters == 6 * matrices


def test_a_config_fills_what_the_request_leaves_open():
    pasted = training(config=LLAMA)
    assert pasted.parameters == figures().parameters
    assert (pasted.layers, pasted.hidden_size, pasted.vocabulary_size) == (32, 4096, 128256)
    assert pasted.feed_forward_size == 14336
    assert training(config=LLAMA, layers=16).layers == 16
    assert training(config=json.dumps(LLAMA)) == pasted


def test_a_mixture_fills_its_experts():
    mixture = training(model="Mixtral-8x7B")
    assert (mixture.experts, mixture.experts_per_token) == (8, 2)
    assert mixture.active_parameters == pytest.approx(12.9e9, rel=0.01)


def cache_bytes_of(work, tokens):
    return served_model(work).sequence_bytes(tokens, 2.0)


def test_what_a_token_keeps_is_what_its_attention_keeps():
    whole = cache_bytes_of(training(model="Llama-2-7b-hf"), 1)
    grouped = cache_bytes_of(training(model="Llama-3.1-8B"), 1)
    latent = cache_bytes_of(training(config=DEEPSEEK), 1)
    assert (whole, grouped, latent) == (524288, 131072, 61 * 576 * 2)


@pytest.mark.parametrize(
    ("name", "windowed"),
    [("gpt-oss-20b", 12), ("gpt-oss-120b", 18), ("Gemma-2-9b", 21), ("Gemma-3-27b-it", 52),
     ("OLMo 3 7B", 24), ("Mistral-7B-v0.1", 32)],
)  # fmt: skip
def test_families_mix_layers_with_and_without_a_window(name, windowed):
    assert find_model(name).figures.sliding_layers == windowed


def test_a_sliding_window_bounds_the_cache():
    oss = training(model="gpt-oss-20b")
    assert cache_bytes_of(oss, 128) == 24 * 128 * 2 * 1024
    windowed = {**LLAMA, "sliding_window": 1024}
    assert cache_bytes_of(training(config=windowed), 1e6) == cache_bytes_of(
        training(config=windowed), 1024
    )


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("not json", "is not JSON"),
        ("[1, 2]", "not a JSON object"),
        ("{}", "has no num_hidden_layers"),
        ('{"model_type": "t5", "num_layers": 12}', "two stacks"),
        ('{"model_type": "mamba", "num_hidden_layers": 12}', "no transformer"),
        (json.dumps({**LLAMA, "num_hidden_layers": 10**12}), "allowed are 0 to"),
        (json.dumps({**LLAMA, "num_hidden_layers": 20_000}), "allowed are 1 to 10,000"),
        (json.dumps({**LLAMA, "num_attention_heads": 0}), "0 attention heads"),
        (json.dumps({**LLAMA, "num_experts": 8}), "no number of them"),
        (json.dumps({**LLAMA, "num_experts": 8, "num_experts_per_tok": 9}), "uses 9 of 8"),
    ],
)
def test_what_is_no_config_is_refused(config, words):
    with pytest.raises(InvalidInput, match=words) as refused:
        read_config(config)
    assert refused.value.field == "config"


def test_a_name_and_a_config_are_not_both_taken():
    with pytest.raises(InvalidInput, match="allowed is one of the two"):
        training(model="gpt2", config=LLAMA)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("Qwen3-8B", 8_190_735_360), ("Qwen3-235B-A22B", 235_093_634_560),
     ("gpt-oss-20b", 20_914_757_184)],
)  # fmt: skip
def test_norms_of_heads_and_biases_of_experts_are_counted(name, parameters):
    """The tensors of the published weights, counted by hand."""
    assert find_model(name).figures.parameters == parameters


DBRX = {
    "model_type": "dbrx",
    "d_model": 6144,
    "n_layers": 40,
    "n_heads": 48,
    "vocab_size": 100352,
    "attn_config": {"kv_n_heads": 8},
    "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
    "tie_word_embeddings": False,
}
HUNYUAN = {
    "model_type": "hunyuan_v1_moe",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "attention_head_dim": 128,
    "intermediate_size": 3072,
    "moe_intermediate_size": [3072] * 32,
    "num_experts": 64,
    "moe_topk": [8] * 32,
    "num_shared_expert": [1] * 32,
    "vocab_size": 128167,
    "tie_word_embeddings": True,
}
ERNIE = {
    "model_type": "ernie4_5_moe",
    "hidden_size": 2560,
    "num_hidden_layers": 28,
    "num_attention_heads": 20,
    "num_key_value_heads": 4,
    "intermediate_size": 12288,
    "moe_intermediate_size": 1536,
    "moe_num_experts": 64,
    "moe_k": 6,
    "moe_num_shared_experts": 2,
    "moe_layer_start_index": 1,
    "vocab_size": 103424,
    "tie_word_embeddings": True,
}
CHATGLM = {
    "model_type": "chatglm",
    "hidden_size": 4096,
    "num_layers": 28,
    "num_attention_heads": 32,
    "multi_query_attention": True,
    "multi_query_group_num": 2,
    "kv_channels": 128,
    "ffn_hidden_size": 13696,
    "padded_vocab_size": 65024,
}
MODERNBERT = {
    "model_type": "modernbert",
    "hidden_size": 768,
    "num_hidden_layers": 22,
    "num_attention_heads": 12,
    "intermediate_size": 1152,
    "vocab_size": 50368,
    "local_attention": 128,
    "global_attn_every_n_layers": 3,
}


@pytest.mark.parametrize(
    ("config", "published"),
    [(DBRX, 132e9), (HUNYUAN, 80e9), (ERNIE, 21.8e9), (CHATGLM, 6.24e9), (MODERNBERT, 149e6)],
    ids=lambda one: one["model_type"] if isinstance(one, dict) else "",
)
def test_a_family_s_own_form_is_read(config, published):
    assert read_config(json.dumps(config)).parameters == pytest.approx(published, rel=0.01)


def test_layers_with_a_window_are_counted_as_the_config_says():
    model = read_config(json.dumps(MODERNBERT))
    assert (model.sliding_window, model.sliding_layers) == (128, 15)
