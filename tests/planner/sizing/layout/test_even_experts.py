"""Experts are spread evenly: over ranks of a stage that they divide."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

H100 = get("nvidia-h100-80gb-sxm")
OWN = {"model": "gpt-oss-120b", "layout": {"pipeline": 4, "expert": 8}}


def placed(**asked):
    return placed_on(parse(Training, {"kind": "training", "tokens": 1e12} | asked), H100)


def ranks(layout):
    return layout.tensor * layout.context * layout.data


@pytest.mark.parametrize(
    ("model", "experts"),
    [("gpt-oss-120b", 128), ("Llama-4-Scout", 16), ("DBRX", 16), ("Qwen3-30B-A3B", 128)],
)
@pytest.mark.parametrize("count", [None, 48, 56, 72, 100])
def test_what_is_advised_divides_ranks_and_experts(model, experts, count):
    task = placed(model=model, tokens=1e9)
    if count is not None and count < task.min_accelerators:
        return
    layout = task.at(count).layout
    assert ranks(layout) % layout.expert == 0
    assert experts % layout.expert == 0


def test_rules_of_before_did_not_look():
    layout = placed(model="gpt-oss-120b").at(56).layout
    assert (layout.data, layout.expert) == (14, 8)


def test_a_layout_of_ones_own_takes_the_replicas_that_its_experts_divide():
    task = placed(**OWN)
    assert task.min_accelerators % 32 == 0
    size = task.at(task.min_accelerators + 24)
    assert (size.layout.unused, ranks(size.layout) % 8) == (24, 0)
    assert any("no multiple of the 32 that spread experts evenly" in w for w in size.warnings)


def test_too_few_for_experts_and_states_are_refused_with_how_many_would_do():
    with pytest.raises(InvalidInput) as refused:
        placed(**OWN).at(56)
    assert refused.value.field == "accelerators"
    assert "allowed are 64 or more (another layout" in refused.value.message


def test_experts_that_do_not_divide_the_ranks_are_spread_over_what_does():
    """60 experts over 4 ranks, not 8."""
    own = {"parameters": 14e9, "active_parameters": 2.7e9, "experts": 60, "experts_per_token": 4}
    layout = placed(**own, zero_stage=1).at(8).layout
    assert layout.expert in (1, 4)
