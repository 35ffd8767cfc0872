"""Splits of one's own that cannot be are refused with the reason that holds."""

import pytest

from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput

DENSE = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 1e9}
MIXTURE = {"kind": "training", "parameters": 6e11, "active_parameters": 3e10, "tokens": 1e9}


def refusal(work, count=64):
    asked = {"workload": work, "accelerator": "H100", "accelerators": count}
    with pytest.raises(InvalidInput) as refused:
        estimate(asked)
    return refused.value.field, refused.value.message


@pytest.mark.parametrize("stage", [2, 3])
def test_zero_stages_that_gather_do_not_go_with_pipeline_stages(stage):
    field, message = refusal({**DENSE, "zero_stage": stage, "layout": {"pipeline": 4}})
    assert field == "workload.zero_stage"
    assert "4 pipeline stages" in message
    assert "0 to 1" in message


def test_more_ranks_than_the_experts_that_are_taken():
    field, message = refusal({**MIXTURE, "layout": {"expert": 128}}, count=1024)
    assert field == "workload.layout"
    assert "more than the 64 experts" in message
    named = {**MIXTURE, "experts": 128, "experts_per_token": 8, "layout": {"expert": 128}}
    assert estimate({"workload": named, "accelerator": "H100", "accelerators": 1024})


def test_a_tensor_size_divides_the_width():
    work = {**DENSE, "layout": {"tensor": 3}}
    assert "does not divide the 4,096" in refusal(work)[1]
    usual = {"kind": "training", "parameters": 8e9, "tokens": 1e9, "layout": {"tensor": 3}}
    assert estimate({"workload": usual, "accelerator": "H100", "accelerators": 12})


def test_states_that_another_stage_or_split_divides():
    large = {**DENSE, "model": "Llama-3.1-70B"}
    field, message = refusal({**large, "zero_stage": 0, "layout": {"tensor": 2}})
    assert field == "workload.layout"
    assert "under zero_stage 0" in message
    assert "under this layout" in refusal({**large, "layout": {"pipeline": 2}})[1]


def test_a_card_too_small_under_a_stage_is_left_out_and_others_are_not():
    work = {**DENSE, "zero_stage": 0, "activation_checkpointing": False}
    one = estimate({"workload": work, "accelerator": "MI300X"})
    assert any("under zero_stage 0" in left_out.why_not for left_out in one.answer.candidates)
