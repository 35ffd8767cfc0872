"""Memory of training and serving against published figures, and the least accelerators."""

import pytest

from planner.contract.request.workload import Training
from planner.sizing.footprint.memory import (
    GIB,
    kv_cache_bytes,
    serving,
    weight_bytes,
)
from planner.sizing.footprint.training_flops import Shape
from pricing.market.accelerators import get

A100 = get("nvidia-a100-80gb-sxm")


def training(**changes):
    return Training(**{"kind": "training", "parameters": 7e9, "tokens": 1e12, **changes})


@pytest.mark.parametrize(
    ("precision", "gigabytes"), [("fp32", 28), ("fp16", 14), ("bf16", 14), ("int8", 7)]
)
def test_weights_of_seven_billion_parameters(precision, gigabytes):
    assert weight_bytes(7e9, precision) == gigabytes * 1e9


def test_keys_and_values_of_a_7b_model_at_4096_tokens_take_2_gib():
    assert kv_cache_bytes(Shape(32, 4096), 4096, 1, "fp16") / GIB == 2


def test_what_was_trained_can_be_served_on_fewer():
    answer = serving(training(parameters=70e9), get("nvidia-h100-80gb-sxm"))
    assert answer.min_accelerators == {"fp16": 2, "int8": 1, "int4": 1}
