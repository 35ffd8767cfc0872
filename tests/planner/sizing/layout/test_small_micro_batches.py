"""Stages work on micro-batches small enough to keep them at work."""

import itertools

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get

H100 = get("nvidia-h100-80gb-sxm")
MIXTURE = {
    "parameters": 235e9,
    "active_parameters": 22e9,
    "experts": 128,
    "experts_per_token": 8,
    "tokens": 1e12,
}


def size_of(count, **asked):
    return placed_on(parse(Training, {"kind": "training", **asked}), H100).at(count)


def test_a_larger_batch_takes_no_more_hours():
    """85 sequences over 16 stages took 1.42 times the hours of 77: two at once, as fit memory, left
    10 micro-batches for 16 stages."""
    batches = [262_144, 288_358, 317_194, 348_913, 383_805, 422_185, 464_404]
    sizes = [size_of(512, global_batch_tokens=batch, **MIXTURE) for batch in batches]
    for before, after in itertools.pairwise(sizes):
        assert after.hours < 1.02 * before.hours
    assert max(size.layout.pipeline for size in sizes) >= 8


@pytest.mark.parametrize("batch", [348_913, 464_404])
def test_a_step_fills_the_stages(batch):
    layout = size_of(512, global_batch_tokens=batch, **MIXTURE).layout
    assert layout.pipeline > 1
    assert (layout.micro_batch, layout.micro_batches >= layout.pipeline) == (1, True)


def test_short_sequences_still_share_a_micro_batch():
    """Their kernels take as long to start as several of them take to work on."""
    own = {"tensor": 1, "pipeline": 4}
    short = size_of(8, parameters=3e9, tokens=1e10, sequence_length=128, layout=own)
    assert short.layout.micro_batch > 1
