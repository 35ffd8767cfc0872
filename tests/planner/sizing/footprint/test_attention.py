"""Width and windows of attention: work by hand, what rules read, and what holds for any of them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.evidence.training_runs import with_attention
from planner.sizing.footprint.training_flops import (
    attention_flops_per_token,
    attention_span,
    compute_work,
    size_at_work,
)
from planner.sizing.layout.shapes import model_shape
from planner.sizing.layout.splits import splits_of
from tests.properties import examples

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


def training(**fields):
    return parse(Training, {"kind": "training", "tokens": 1, "sequence_length": 4096, **fields})


def test_qwen3_06b_by_hand():
    """28 layers of 16 heads of 128 over 4,096 tokens: 12 x 28 x 2,048 x 4,096 a token, twice what
    its hidden size of 1,024 says."""
    by_hand = 12 * 28 * 2048 * 4096
    for model in (training(config=QWEN), training(model="Qwen3-0.6B")):
        assert model.attention_width == 2048
        assert attention_flops_per_token(model) == by_hand
        assert compute_work(model).model_flops == 6 * model.parameters + by_hand
        assert size_at_work(model) == pytest.approx(model.parameters + by_hand / 6)


def test_deepseek_v3_by_hand():
    """128 heads, queries and keys 128 + 64 wide, values 128: scores take 6 x 128 x 192 and sums of
    values 6 x 128 x 128 a layer and position, forward and backward."""
    model = training(model="DeepSeek-V3")
    by_hand = 61 * 4096 * (6 * 128 * 192 + 6 * 128 * 128)
    assert attention_flops_per_token(model) == by_hand == 12 * 61 * 20480 * 4096
    assert compute_work(model).model_flops == pytest.approx(6 * model.active_parameters + by_hand)


def test_gemma_3_by_hand():
    """62 layers of 32 heads of 128, 52 of them with a window of 1,024: a causal token attends to
    1,024 - 1,024^2 / (2 x 32,768) = 1,008 tokens in the mean, counted twice as 16,384 are."""
    model = training(model="Gemma-3-27b-it", sequence_length=32768)
    assert (model.attention_width, model.sliding_window, model.sliding_layers) == (4096, 1024, 52)
    by_hand = 12 * 4096 * (10 * 32768 + 52 * 2016)
    assert attention_flops_per_token(model) == pytest.approx(by_hand)


@pytest.mark.parametrize(("length", "window"), [(64, 7), (1000, 999), (512, 1), (300, 300)])
def test_a_window_s_term_is_twice_the_mean_of_what_tokens_attend_to(length, window):
    model = training(
        parameters=1e9, sequence_length=length, sliding_window=window, layers=4, sliding_layers=4
    )
    attended = sum(min(position + 0.5, window) for position in range(length)) / length
    assert attention_span(model) == pytest.approx(2 * attended, rel=0.01)


SIZES = st.integers(1, 200_000)


@examples(25, 2000)
@given(SIZES, SIZES, SIZES, st.integers(0, 60), st.integers(1, 50_000))
def test_windows_never_add_work_and_width_is_in_proportion(length, window, wider, layers, width):
    sizes = {"parameters": 1e9, "layers": 48, "sequence_length": length, "attention_width": width}
    own = {"sliding_window": window, "sliding_layers": layers}
    whole, windowed = training(**sizes), training(**sizes, **own)
    most, least = attention_flops_per_token(whole), attention_flops_per_token(windowed)
    assert 0 < least <= most * (1 + 1e-12)
    longer = training(**sizes, **{**own, "sliding_window": window + wider})
    assert least <= attention_flops_per_token(longer) * (1 + 1e-9)
    if window >= length or not layers:
        assert least == most
    doubled = windowed.model_copy(update={"attention_width": 2 * width})
    assert attention_flops_per_token(doubled) == pytest.approx(2 * least)


def test_what_is_stated_goes_before_the_config():
    assert training(config=QWEN, attention_width=1024).attention_width == 1024
    whole = training(model="Gemma-3-27b-it", sequence_length=32768, sliding_layers=0)
    assert attention_span(whole) == 32768


def test_a_wider_attention_keeps_its_queries_keys_values_and_output():
    model = training(config=QWEN)
    narrow = model.model_copy(update={"attention_width": None})
    assert model_shape(model).kept_bytes - model_shape(narrow).kept_bytes == 8 * (2048 - 1024)
    per_token = []
    for one in (model, narrow):
        selective = one.model_copy(update={"activation_checkpointing": "selective"})
        per_token.append(float(splits_of(selective, "bf16", 1).memory.layers[0]) / 4096 / 28)
    assert math.isclose(per_token[0] - per_token[1], 4 * (2048 - 1024))


def test_published_runs_have_the_attention_of_their_model():
    run = training(parameters=3.05e10, active_parameters=3.3e9, hidden_size=2048, layers=48)
    assert with_attention(run, "Qwen3 30B-A3B").attention_width == 4096
    assert with_attention(run, "DeepSeek-V3") is run
    assert with_attention(training(parameters=8.5e9), "jetmoe-8b").attention_width == 4096
