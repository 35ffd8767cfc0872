"""FLOPs of a training: the published totals, attention, recomputation, adapters, experts."""

import pytest

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import compute_work, transformer_shape


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
