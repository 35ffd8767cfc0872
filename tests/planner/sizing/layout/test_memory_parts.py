"""What trainings of adapters hold, by hand."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.splits import splits_of

D, F, L, V, N = 4096, 11008, 32, 32000, 6.738e9
LLAMA = {"parameters": N, "layers": L, "hidden_size": D, "vocabulary_size": V}
ADAPTERS = 4_194_304
EMBEDDING = V * D
NF4 = 0.5 + 1 / 64 + 4 / (64 * 256)
LAYER = (N - 2 * EMBEDDING) / L


def memory(checkpointing=False, zero_stage=0, **changes):
    request = {
        "kind": "training",
        "tokens": 1e9,
        "sequence_length": 1000,
        "trainable_parameters": ADAPTERS,
        "activation_checkpointing": checkpointing,
        "zero_stage": zero_stage,
        "layout": {"tensor": 1},
        **LLAMA,
        **changes,
    }
    return splits_of(parse(Training, request), "bf16", 1).memory


def test_vocabulary_is_not_quantised_and_a_layer_works_in_16_bits():
    frozen = NF4 * (N - 2 * EMBEDDING) + 3 * 2 * EMBEDDING
    weights = memory(optimizer="qlora").weights.fixed[0]
    assert weights == pytest.approx(frozen + 2 * ADAPTERS + 2 * LAYER)


def test_zero_stage_3_gathers_weights_in_4_bits():
    beside = memory(optimizer="qlora", zero_stage=3).weights.fixed[0]
    assert beside == pytest.approx(NF4 * LAYER + 3 * EMBEDDING + 2 * LAYER)
    small = memory(optimizer="qlora", zero_stage=3, vocabulary_size=1000)
    layer = (N - 2 * 1000 * D) / L
    assert small.weights.fixed[0] == pytest.approx(2 * NF4 * layer + 2 * layer)


def test_matrices_in_4_bits_keep_their_inputs():
    lora = memory(optimizer="lora", feed_forward_size=F)
    qlora = memory(optimizer="qlora", feed_forward_size=F)
    assert qlora.layers[0] - lora.layers[0] == pytest.approx(1000 * L * 2 * (3 * D + F))
    usual = memory(optimizer="qlora").layers[0] - memory(optimizer="lora").layers[0]
    assert usual == pytest.approx(1000 * L * 2 * (3 * D + 4 * D))


def test_checkpointing_keeps_inputs_of_layers_alone():
    lora = memory(optimizer="lora", checkpointing=True)
    qlora = memory(optimizer="qlora", checkpointing=True)
    assert qlora.layers[0] == lora.layers[0] == pytest.approx(1000 * L * 2 * D)


@pytest.mark.parametrize(
    ("changes", "per_unit"),
    [
        ({"feed_forward_size": F}, 18 + 8 * F / D),
        ({"feed_forward_size": F, "is_gated": False}, 0.8 * (18 + 4 * F / D)),
        ({}, 0.8 * 34),
    ],
)
def test_a_gate_spares_frozen_weights_nothing(changes, per_unit):
    layers = memory(optimizer="lora", **changes).layers[0]
    assert layers == pytest.approx(1000 * L * D * per_unit)


def test_logits_are_gone_before_a_layer_is_computed_again():
    changes = {"optimizer": "lora", "checkpointing": True}
    step = memory(**changes)
    layer = 1000 * 0.8 * 34 * D
    assert step.at_work[0] == pytest.approx(layer)
    assert step.logits[0] == pytest.approx(1000 * 14 * V - layer)
    assert memory(chunked_loss=True, **changes).logits[0] == 0.0
    trained = memory(optimizer="adamw", trainable_parameters=None, checkpointing=True)
    assert trained.logits[0] == pytest.approx(1000 * 10 * V)
