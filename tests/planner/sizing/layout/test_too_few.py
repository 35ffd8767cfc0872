"""A refusal of too few accelerators names the changes that make them hold the training."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

RTX_4090, H100 = "nvidia-rtx-4090", "nvidia-h100-80gb-sxm"
LLAMA = {"kind": "training", "tokens": 1e8, "model": "Llama-3.1-8B", "optimizer": "lora"}


def refusal(accelerator, count, **changes):
    training = parse(Training, {**LLAMA, **changes})
    with pytest.raises(InvalidInput) as refused:
        placed_on(training, get(accelerator)).at(count)
    assert refused.value.field == "accelerators"
    return refused.value.message


@pytest.mark.parametrize(
    ("accelerator", "count", "changes", "named"),
    [
        (RTX_4090, 1, {"sequence_length": 8192}, "chunked_loss or sequence_length 2,048"),
        (H100, 1, {"micro_batch_size": 16}, "micro_batch_size 1, chunked_loss"),
        (RTX_4090, 1, {"optimizer": "adamw", "optimizer_offload": True}, "optimizer qlora"),
        (H100, 16, {"model": "Llama-3.1-70B", "optimizer": "adamw"},
         "optimizer_offload or optimizer adamw_8bit"),
        (RTX_4090, 1, {"sequence_length": 131072, "optimizer": "qlora"}, "sequence_length"),
    ],
)  # fmt: skip
def test_what_would_hold_it_is_named(accelerator, count, changes, named):
    words = refusal(accelerator, count, **changes)
    assert f"{named}" in words
    assert words.endswith(f"would make {count} hold it)")


def test_where_nothing_alone_would_do_it_says_so():
    words = refusal(H100, 1, model="Llama-3.1-405B", optimizer="adamw")
    assert words.endswith("nor shorter sequences would do)")
    assert "112 or more" in words


def test_changes_that_only_do_together_are_named_together():
    words = refusal("nvidia-rtx-3060-12gb", 1, model="Llama-3.2-1B", optimizer="adamw",
                    stage="pretraining")  # fmt: skip
    assert words.endswith("adamw_8bit and sequence_length 512 together would do)")


def test_a_split_of_one_s_own_is_named_where_another_would_hold_it():
    work = {"model": "Qwen3-30B-A3B", "layout": {"tensor": 1, "expert": 16}}
    words = refusal(H100, 8, **work)
    assert "(another layout would make 8 hold it)" in words
    whole = {"model": "Llama-3.1-70B", "layout": {"tensor": 8, "pipeline": 2}}
    with pytest.raises(InvalidInput, match="a split over 8 or fewer, or 16 accelerators"):
        placed_on(parse(Training, {**LLAMA, **whole}), get(H100)).at(8)


T4, L4 = "nvidia-t4", "nvidia-l4"


def nowhere(accelerator, **changes):
    training = parse(Training, {"kind": "training", "tokens": 1e9, **changes})
    with pytest.raises(InvalidInput) as refused:
        placed_on(training, get(accelerator))
    return refused.value.message


@pytest.mark.parametrize(
    ("accelerator", "changes", "remedies"),
    [
        (RTX_4090, {"model": "Llama-3.1-405B"},
         "one sequence does not fit GeForce RTX 4090 (24 GiB), however it is split; a shorter "
         "sequence_length or an accelerator with more memory would"),
        (T4, {"model": "Llama-3.1-405B"},
         "one layer at work does not fit Tesla T4 (16 GiB), however it is split; an accelerator "
         "with more memory would"),
        (L4, {"model": "Grok-1", "micro_batch_size": 3, "zero_stage": 2},
         "; leaving out micro_batch_size and zero_stage or an accelerator with more memory would"),
        (T4, {"model": "GPT-3 175B", "zero_stage": 1},
         "; a shorter sequence_length, chunked_loss and leaving out zero_stage together or an "
         "accelerator with more memory would"),
    ],
)  # fmt: skip
def test_only_what_makes_room_is_named(accelerator, changes, remedies):
    words = nowhere(accelerator, **changes)
    assert words.endswith(remedies)
