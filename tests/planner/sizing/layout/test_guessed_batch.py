"""A step that is not stated grows with the accelerators, which never slow a training down."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get

H100 = get("nvidia-h100-80gb-sxm")


def task(model="Qwen3-0.6B", tokens=1e12, one=H100, **changes):
    asked = {"kind": "training", "model": model, "tokens": tokens}
    return placed_on(parse(Training, asked | changes), one)


def test_each_accelerator_has_a_sequence_up_to_four_million_tokens():
    """At 1,024 a step of 800 sequences left two pipeline stages of each replica waiting."""
    now = task().at(1024)
    assert (now.layout.data, now.layout.pipeline) == (1024, 1)
    assert now.layout.global_batch_tokens == 1024 * 4096
    assert task().at(2048).layout.unused == 1024


def test_a_training_keeps_a_thousand_steps():
    layout = task(tokens=1e7).at(128).layout
    assert layout.global_batch_tokens == task(tokens=1e7).at(64).layout.global_batch_tokens
    assert layout.unused == 64 or layout.data < 128


def test_what_is_stated_stands():
    batch = 2**19
    stated = task(global_batch_tokens=batch).at(1024).layout
    assert stated.global_batch_tokens == pytest.approx(batch, rel=0.05)


@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("gpt2", "nvidia-h100-80gb-sxm"),
        ("Qwen3-0.6B", "nvidia-rtx-4090"),
        ("Qwen3-30B-A3B", "nvidia-l40s"),
    ],
)
def test_more_accelerators_take_no_longer(model, slug):
    """But for what failures, the network and numbers that divide less evenly cost."""
    sized = task(model, 1e11, one=get(slug))
    fastest = None
    for count in (8, 24, 48, 56, 72, 104, 128, 256, 1000, 1024, 1536, 3072):
        if count < sized.min_accelerators:
            continue
        hours = sized.at(count).wall_clock_hours
        assert fastest is None or hours <= 1.15 * fastest, count
        fastest = min(hours, fastest or hours)
