"""A global batch that is asked for is kept as nearly as replicas and micro-batches can."""

import numpy as np
import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.search import micro_batches_for
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators, get

A100, H100 = get("nvidia-a100-80gb-sxm"), get("nvidia-h100-80gb-sxm")
NANOGPT = {"model": "gpt2", "sequence_length": 1024, "global_batch_tokens": 491_520}
SMALL = {"model": "Llama-3.2-1B", "sequence_length": 2048, "global_batch_tokens": 24 * 2048}
LARGE = {"model": "Llama-2-7B", "sequence_length": 4096, "global_batch_tokens": 4_000_000}


def task(one=H100, **asked):
    return placed_on(parse(Training, {"kind": "training", "tokens": 1e11} | asked), one)


def words_on_batch(size):
    return [words for words in size.warnings if "global_batch_tokens" in words]


@pytest.mark.parametrize("asked", [NANOGPT, SMALL])
def test_a_batch_that_divides_is_kept_to_the_token(asked):
    size = task(**asked).at(8)
    assert size.layout.global_batch_tokens == asked["global_batch_tokens"]
    assert not words_on_batch(size)


def test_the_micro_batch_is_the_largest_that_divides_and_fits():
    layout = task(**NANOGPT).at(8).layout
    assert (layout.data, layout.micro_batch, layout.micro_batches) == (8, 30, 2)
    layout = task(**SMALL).at(8).layout
    assert (layout.data, layout.micro_batch, layout.micro_batches) == (8, 3, 1)


def test_a_few_replicas_stay_idle_where_half_of_the_batch_would_be_lost():
    """976 sequences over 500 replicas are one round, over 488 two."""
    size = task(A100, **LARGE).at(2000)
    assert size.layout.global_batch_tokens == 976 * 4096
    assert 0 < size.layout.unused <= 0.05 * 2000
    assert not words_on_batch(size)


@pytest.mark.parametrize(
    ("model", "slug", "count", "sequences"),
    [
        ("Llama-4-Maverick", "nvidia-l4", 2048, 8),
        ("Llama-3.1-8B", "nvidia-h100-80gb-sxm", 2048, 4),
        ("Llama-3.1-8B", "nvidia-a100-40gb-sxm", 96, 8),
    ],
)
def test_no_step_works_on_more_than_the_batch(model, slug, count, sequences):
    """More accelerators than a small batch keeps at work: some idle, and the batch is kept."""
    batch = sequences * 8192
    asked = {"model": model, "sequence_length": 8192, "global_batch_tokens": batch}
    size = task(get(slug), **asked, optimizer="qlora").at(count)
    assert size.layout.global_batch_tokens == batch
    assert any("idle" in words for words in size.warnings)
    assert not any("not on the" in words for words in size.warnings)


def test_a_batch_that_nothing_keeps_is_said():
    size = task(**{**SMALL, "global_batch_tokens": 13 * 2048}, layout={"tensor": 1}).at(8)
    assert size.layout.global_batch_tokens == 8 * 2048
    assert words_on_batch(size)


def test_no_micro_batch_that_fits_comes_nearer():
    """Each number of sequences up to the room, tried."""
    data, room = np.repeat(np.arange(1.0, 40.0), 16), np.tile(np.arange(1.0, 17.0), 39)
    for batch in (24.0, 97.0, 480.0, 488.0, 512.0):
        sizes = micro_batches_for(batch, data, room)
        for replicas, most, size in zip(data, room, sizes, strict=True):
            own = max(1, batch // replicas)
            kept = {m: m * (own // m) for m in range(1, int(most) + 1)}
            nearest = max(kept.values())
            assert size == max(m for m, sequences in kept.items() if sequences == nearest)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("batch", [2048 * 61, 2048 * 100, 4_000_000])
@pytest.mark.parametrize("model", ["Llama-2-7B", "Mixtral-8x7B"])
def test_the_least_number_holds_it_with_any_batch(model, batch):
    for one in all_accelerators():
        try:
            run = task(one, model=model, sequence_length=2048, global_batch_tokens=batch)
        except InvalidInput:
            continue
        for count in (run.min_accelerators, run.min_accelerators + 5):
            assert run.layouts.on(count) is not None


def test_a_batch_below_one_micro_batch_is_worked_out_and_said():
    with np.errstate(all="raise"):
        size = task(model="Llama-3.1-8B", sequence_length=4096, global_batch_tokens=2048).at(16)
    assert size.layout.global_batch_tokens == 4096
    assert any("not the 2,048 of global_batch_tokens" in words for words in size.warnings)
