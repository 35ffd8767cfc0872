"""Stages hold whole layers: the fullest decides on memory and pace."""

import math

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.shapes import MARGIN, usable_gib
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


def size(count=64, **asked):
    work = parse(Training, {"kind": "training", "tokens": 1e12} | asked)
    return placed_on(work, H100).at(count)


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


def test_no_pipeline_is_advised_where_the_output_outweighs_a_stage():
    """Of Llama 3.2 1B the output is worth 5.9 of 16 layers, more than the 2 of each of 8 stages."""
    asked = {"model": "Llama-3.2-1B", "tokens": 2e10}
    work = parse(Training, {"kind": "training", **asked})
    assert placed_on(work, get("nvidia-rtx-4090")).at(8).layout.pipeline <= 2


def test_the_words_on_uneven_stages_agree_with_what_is_counted():
    uneven = {"layers": 126, "layout": {"tensor": 8, "pipeline": 16}}
    asked = {"parameters": 405e9, "hidden_size": 16384, "count": 16384, **uneven}
    words = " ".join(size(**asked).warnings)
    assert "126 layers do not divide into 16 stages: the fullest holds 8 and" in words
    assert "do not count" not in words
