"""FLOPs and bytes of a model, by hand and as published: attention, windows, classifiers."""

import math

import pytest

from planner.contract.request.comparison import read_request
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.footprint.memory import weight_bytes
from planner.sizing.footprint.training_flops import (
    attention_flops_per_token,
    attention_span,
    checked_training,
    compute_work,
    size_at_work,
    transformer_shape,
)
from planner.sizing.layout.search import LayoutTask, splits_of
from planner.sizing.layout.shapes import model_shape
from planner.sizing.performance.levels import rates_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tools.sizing_fit.evidence import with_attention


def training(**changes):
    return Training(**{"kind": "training", "parameters": 175e9, "tokens": 300e9, **changes})


def test_six_times_parameters_times_tokens():
    assert compute_work(training()).model_flops == 6 * 175e9 * 300e9


def test_attention_counts_where_the_sequence_length_is_given():
    work = compute_work(training(layers=96, hidden_size=12288, sequence_length=2048))
    attention = 12 * 96 * 12288 * 2048 * 300e9
    assert work.model_flops == 6 * 175e9 * 300e9 + attention
    assert work.attention_flops == attention


def test_the_attention_term_has_its_published_size():
    """s / (6 d): 8 % at 2,048 of 4,096, 33 % at 8,192."""
    for length, share in ((2048, 0.083), (8192, 0.333)):
        work = compute_work(
            training(
                parameters=12 * 32 * 4096**2, layers=32, hidden_size=4096, sequence_length=length
            )
        )
        assert work.attention_flops / (work.model_flops - work.attention_flops) == pytest.approx(
            share, abs=0.001
        )


def test_only_active_parameters_work_on_a_token():
    work = compute_work(training(parameters=671e9, active_parameters=37e9))
    assert work.model_flops == 6 * 37e9 * 300e9


@pytest.mark.parametrize("optimizer", ["lora", "qlora"])
def test_frozen_weights_need_no_weight_gradients(optimizer):
    assert compute_work(training(optimizer=optimizer)).model_flops == 4 * 175e9 * 300e9


def test_gopher_and_palm_come_out_as_published():
    gopher = compute_work(training(parameters=280e9, tokens=300e9)).model_flops
    assert gopher * 4 / 3 == pytest.approx(6.31e23, rel=0.07)
    palm = compute_work(training(parameters=540.35e9, tokens=780e9)).model_flops
    assert palm == pytest.approx(2.5272e24, rel=0.01)


@pytest.mark.parametrize(
    ("parameters", "layers", "hidden"), [(6.7e9, 32, 4096), (65.2e9, 80, 8192), (175e9, 96, 12288)]
)
def test_a_usual_shape_is_close_to_published_models(parameters, layers, hidden):
    shape = transformer_shape(parameters, None, None)
    assert shape.layers == pytest.approx(layers, rel=0.2)
    assert shape.hidden_size == pytest.approx(hidden, rel=0.1)


def test_a_given_half_of_the_shape_leads_to_the_other():
    assert transformer_shape(12 * 32 * 4096**2, 32, None).hidden_size == pytest.approx(4096)
    assert transformer_shape(12 * 32 * 4096**2, None, 4096).layers == pytest.approx(32)


QWEN = {
    "model_type": "qwen3",
    "hidden_size": 1024,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 3072,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}


def attending(**fields):
    return parse(Training, {"kind": "training", "tokens": 1, "sequence_length": 4096, **fields})


def test_qwen3_06b_by_hand():
    """28 layers of 16 heads of 128 over 4,096 tokens: 12 x 28 x 2,048 x 4,096 a token, twice what
    its hidden size of 1,024 says."""
    by_hand = 12 * 28 * 2048 * 4096
    for model in (attending(config=QWEN), attending(model="Qwen3-0.6B")):
        assert model.attention_width == 2048
        assert attention_flops_per_token(model) == by_hand
        assert compute_work(model).model_flops == 6 * model.parameters + by_hand
        assert size_at_work(model) == pytest.approx(model.parameters + by_hand / 6)


def test_deepseek_v3_by_hand():
    """128 heads, queries and keys 128 + 64 wide, values 128: scores take 6 x 128 x 192 and sums of
    values 6 x 128 x 128 a layer and position, forward and backward."""
    model = attending(model="DeepSeek-V3")
    by_hand = 61 * 4096 * (6 * 128 * 192 + 6 * 128 * 128)
    assert attention_flops_per_token(model) == by_hand == 12 * 61 * 20480 * 4096
    assert compute_work(model).model_flops == pytest.approx(6 * model.active_parameters + by_hand)


def test_gemma_3_by_hand():
    """62 layers of 32 heads of 128, 52 of them with a window of 1,024: a causal token attends to
    1,024 - 1,024^2 / (2 x 32,768) = 1,008 tokens in the mean, counted twice as 16,384 are."""
    model = attending(model="Gemma-3-27b-it", sequence_length=32768)
    assert (model.attention_width, model.sliding_window, model.sliding_layers) == (4096, 1024, 52)
    by_hand = 12 * 4096 * (10 * 32768 + 52 * 2016)
    assert attention_flops_per_token(model) == pytest.approx(by_hand)


@pytest.mark.parametrize(("length", "window"), [(64, 7), (1000, 999), (512, 1), (300, 300)])
def test_a_window_s_term_is_twice_the_mean_of_what_tokens_attend_to(length, window):
    model = attending(
        parameters=1e9, sequence_length=length, sliding_window=window, layers=4, sliding_layers=4
    )
    attended = sum(min(position + 0.5, window) for position in range(length)) / length
    assert attention_span(model) == pytest.approx(2 * attended, rel=0.01)


def test_a_wider_attention_keeps_its_queries_keys_values_and_output():
    model = attending(config=QWEN)
    narrow = model.model_copy(update={"attention_width": None})
    assert model_shape(model).kept_bytes - model_shape(narrow).kept_bytes == 8 * (2048 - 1024)
    per_token = []
    for one in (model, narrow):
        selective = one.model_copy(update={"activation_checkpointing": "selective"})
        per_token.append(float(splits_of(selective, "bf16", 1).memory.layers[0]) / 4096 / 28)
    assert math.isclose(per_token[0] - per_token[1], 4 * (2048 - 1024))


def test_published_runs_have_the_attention_of_their_model():
    run = attending(parameters=3.05e10, active_parameters=3.3e9, hidden_size=2048, layers=48)
    assert with_attention(run, "Qwen3 30B-A3B").attention_width == 4096
    assert with_attention(run, "DeepSeek-V3") is run
    assert with_attention(attending(parameters=8.5e9), "jetmoe-8b").attention_width == 4096


@pytest.mark.parametrize(
    ("precision", "gigabytes"), [("fp32", 28), ("fp16", 14), ("bf16", 14), ("fp8", 7)]
)
def test_weights_of_seven_billion_parameters(precision, gigabytes):
    assert weight_bytes(7e9, precision) == gigabytes * 1e9


BERT = {
    "kind": "training",
    "parameters": 1.1e8,
    "tokens": 1.5e8,
    "layers": 12,
    "hidden_size": 768,
    "vocabulary_size": 30_522,
    "sequence_length": 128,
    "stage": "fine_tuning",
}
EMBEDDING = 30_522 * 768
TITAN = get("nvidia-titan-rtx")


def classifying(**changes):
    return parse(Training, BERT | changes)


def test_the_embedding_is_not_multiplied():
    words, classes = (compute_work(classifying()), compute_work(classifying(is_classifier=True)))
    assert words.model_flops - classes.model_flops == pytest.approx(6 * EMBEDDING * 1.5e8)
    assert words.attention_flops == classes.attention_flops


def test_memory_holds_one_embedding_and_no_logits():
    def held(is_classifier):
        task = classifying(is_classifier=is_classifier, micro_batch_size=32)
        rates = rates_on(task, TITAN, "fp16")
        placed = LayoutTask(task, TITAN, "fp16", rates).on(1)
        return placed.memory

    words, classes = held(False), held(True)
    assert classes.logits_gib == 0 < words.logits_gib
    assert classes.weights_gib == pytest.approx(words.weights_gib)
    assert classes.total_gib < words.total_gib


def test_where_sizes_are_usual_values_the_embedding_is_at_most_a_quarter_of_what_is_at_work():
    asked = {"parameters": 4e9, "active_parameters": 1e8, "vocabulary_size": 1_000_000}
    own = {**asked, "layers": None, "hidden_size": None, "tokens": 1e12}
    words, classes = (compute_work(classifying(**own, is_classifier=on)) for on in (False, True))
    matrices = words.model_flops - words.attention_flops
    assert classes.model_flops - classes.attention_flops == pytest.approx(0.75 * matrices)


def test_an_embedding_of_more_than_the_model_is_refused():
    with pytest.raises(InvalidInput, match="leaves nothing of the 1e\\+08") as refused:
        classifying(parameters=1e8, vocabulary_size=250_002, is_classifier=True)
    assert refused.value.field.endswith("vocabulary_size")


@pytest.mark.parametrize(("name", "output"), [("Llama-3.1-8B", 128_256 * 4096), ("gpt2", 0)])
def test_a_named_model_that_classifies_has_no_output_over_words(name, output):
    """Where it is the embedding itself there is none to leave out."""
    asked = {"kind": "training", "model": name, "tokens": 1e8}
    words, classes = (parse(Training, {**asked, **more}) for more in ({}, {"is_classifier": True}))
    assert words.parameters - classes.parameters == pytest.approx(output)


def test_a_classifier_writes_no_answers():
    with pytest.raises(InvalidInput, match="answers that it writes") as refused:
        classifying(is_classifier=True, rollouts={"response_tokens": 100, "per_step": 64})
    assert refused.value.field.endswith("is_classifier")


@pytest.mark.parametrize(("is_classifier", "more"), [(True, 201_088 * 2880), (False, 0)])
def test_a_mixture_that_classifies_works_with_its_input_embedding(is_classifier, more):
    """Published active parameters of gpt-oss-20b leave the input embedding out."""
    mixture = {"kind": "training", "model": "gpt-oss-20b", "tokens": 1e9}
    workload = mixture | {"is_classifier": is_classifier}
    training = read_request(
        {"start": "2027-01", "horizon_months": 12, "workload": workload}
    ).workload
    assert checked_training(training).active_parameters == training.active_parameters + more
