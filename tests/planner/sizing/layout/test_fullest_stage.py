"""Stages hold whole layers: the fullest decides on memory and pace under rules 6."""

import math

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.usable_memory import MARGIN, usable_gib
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get

H100 = get("nvidia-h100-80gb-sxm")
LAYERS = {"gpt-oss-120b": 36, "Qwen3-235B-A22B": 94, "DBRX": 40, "Mixtral-8x22B": 56}
SEVENTY = {
    "parameters": 70e9,
    "tokens": 1e10,
    "hidden_size": 8192,
    "sequence_length": 4096,
    "micro_batch_size": 1,
    "activation_checkpointing": False,
    "zero_stage": 1,
    "global_batch_tokens": 4096 * 4096,
}


def size(rules=6, count=64, **asked):
    work = parse(Training, {"kind": "training", "tokens": 1e12} | asked)
    return placed_on(work, H100, rules).at(count)


@pytest.mark.parametrize(
    ("model", "count"),
    [("gpt-oss-120b", 64), ("Qwen3-235B-A22B", 256), ("DBRX", 64), ("Mixtral-8x22B", 256)],
)
def test_what_is_advised_holds_the_layers_of_its_fullest_stage(model, count):
    """Of the layers alone 6 bytes a parameter that replicas do not share, 2 where they share
    gradients too."""
    one = size(model=model, count=count)
    layout, work = one.layout, one.training
    fullest = math.ceil(LAYERS[model] / layout.pipeline)
    share = fullest / LAYERS[model] / max(layout.tensor, layout.expert)
    per_parameter = {0: 6, 1: 6, 2: 2, 3: 0}[layout.zero_stage]
    states = per_parameter * share * 0.9 * work.parameters / 2**30
    assert states <= layout.memory.total_gib <= MARGIN * usable_gib(H100)
    assert fullest * layout.pipeline / LAYERS[model] < 1.4


def test_an_uneven_pipeline_holds_and_takes_as_much_as_its_fullest_stage():
    """37 layers in 4 stages of 10 take the memory of 40 in 4 stages, and 40 / 37 of the time."""
    uneven = size(layers=37, layout={"tensor": 8, "pipeline": 4}, **SEVENTY).layout
    before = size(5, layers=37, layout={"tensor": 8, "pipeline": 4}, **SEVENTY).layout
    over = 40 / 37
    assert uneven.memory.activations_gib == pytest.approx(
        over * before.memory.activations_gib, rel=0.01
    )
    assert uneven.memory.weights_gib > 1.06 * before.memory.weights_gib
    assert uneven.share_of_level == pytest.approx(before.share_of_level / over, rel=0.01)


def test_stages_of_as_many_layers_hold_no_more_and_wait_for_the_output_alone():
    """The output is 0.41 of 70 billion parameters, worth 0.24 of 40 layers: the last of 4 stages
    does 10.24 layers' work where the mean does 10.06."""
    even = {"layers": 40, "layout": {"tensor": 8, "pipeline": 4}, **SEVENTY}
    now, before = size(6, **even).layout, size(5, **even).layout
    assert before.share_of_level / now.share_of_level == pytest.approx(10.24 / 10.06, rel=0.002)
    assert now.memory == before.memory


def test_no_pipeline_is_advised_where_the_output_outweighs_a_stage():
    """Of Llama 3.2 1B the output is worth 5.9 of 16 layers, more than the 2 of each of 8 stages."""
    asked = {"model": "Llama-3.2-1B", "tokens": 2e10}
    work = parse(Training, {"kind": "training", **asked})
    assert placed_on(work, get("nvidia-rtx-4090"), 6).at(8).layout.pipeline <= 2
    staged = parse(Training, {"kind": "training", **asked, "layout": {"pipeline": 8}})
    one = placed_on(staged, get("nvidia-rtx-4090"), 6).at(8).layout
    two = placed_on(staged, get("nvidia-rtx-4090"), 5).at(8).layout
    assert two.share_of_level / one.share_of_level == pytest.approx(5.9 * 8 / 21.9, rel=0.05)


def test_the_words_on_uneven_stages_agree_with_what_is_counted():
    uneven = {"layers": 126, "layout": {"tensor": 8, "pipeline": 16}}
    asked = {"parameters": 405e9, "hidden_size": 16384, "count": 16384, **uneven}
    words = " ".join(size(**asked).warnings)
    assert "126 layers do not divide into 16 stages: the fullest holds 8 and" in words
    assert "do not count" not in words
    assert "these hours do not count that" in " ".join(size(5, **asked).warnings)


def test_who_names_stages_and_no_layers_has_layers_that_fill_them():
    own = {"parameters": 70e9, "layout": {"tensor": 8, "pipeline": 7}, "count": 56}
    assert size(**own).layout.share_of_level == size(5, **own).layout.share_of_level


def test_the_output_is_left_to_a_stage_that_holds_fewer_layers():
    """126 layers in 16 stages of 8: the output is worth 2.10 of (406 - 2 2.10) / 126 billion
    parameters, 0.66 layers, of the 2 that the others lack: a step is 128 / 126.66 longer."""
    split = {"layout": {"tensor": 8, "pipeline": 16}, "micro_batch_size": 1, "count": 2048}
    asked = {"model": "Llama-3.1-405B", "global_batch_tokens": 160e6, **split}
    now, before = size(**asked).layout, size(5, **asked).layout
    assert before.share_of_level / now.share_of_level == pytest.approx(128 / 126.66, rel=0.002)
