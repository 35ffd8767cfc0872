"""Tensor parallelism takes whole heads of attention, where they are known."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.planner.contract.models.configs import QWEN2_7B

H100 = get("nvidia-h100-80gb-sxm")


def placed(**asked):
    return placed_on(parse(Training, {"kind": "training", "tokens": 1e10} | asked), H100)


@pytest.mark.parametrize("count", [2, 3, 4, 8, 64])
def test_what_is_advised_divides_the_heads(count):
    """Falcon 7B has 71 heads, a prime: no tensor parallelism goes."""
    assert placed(model="falcon-7b", optimizer="adamw_8bit").at(count).layout.tensor == 1
    assert 28 % placed(model="Qwen2.5-7B", optimizer="adamw_8bit").at(count).layout.tensor == 0


@pytest.mark.parametrize("asked", [{"model": "Qwen2.5-7B"}, {"config": QWEN2_7B}])
def test_a_tensor_size_of_ones_own_divides_the_heads(asked):
    workload = {"kind": "training", "tokens": 1e9, "layout": {"tensor": 8}, **asked}
    request = {"workload": workload, "accelerator": "H100", "accelerators": 8}
    with pytest.raises(InvalidInput) as refused:
        estimate(request)
    assert refused.value.field == "workload.layout"
    assert "tensor 8 does not divide the 28 attention heads" in refused.value.message
    assert "1, 2, 4, 7, 14 or 28 do" in refused.value.message
    assert estimate({**request, "workload": workload | {"layout": {"tensor": 4}}})


def test_heads_that_keys_and_values_share_may_be_repeated():
    """Llama 3.1 8B has 32 heads and 8 of keys and values."""
    assert placed(model="Llama-3.1-8B", layout={"tensor": 16}).at(16).layout.tensor == 16


def test_heads_that_are_not_known_refuse_nothing():
    own = {"parameters": 7e9, "hidden_size": 4544, "layers": 32, "layout": {"tensor": 8}}
    assert placed(**own).at(8).layout.tensor == 8
    assert placed(model="7B", layout={"tensor": 8}).at(8).layout.tensor == 8
