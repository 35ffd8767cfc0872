"""Keys and values of a split sequence go round a ring, which slow links do not hide."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get

LONG = {"kind": "training", "tokens": 1e9, "sequence_length": 32_768, "optimizer": "lora"}
EVERY_HEAD, GROUPED = {"model": "Llama-2-7b-hf"}, {"model": "Llama-3.1-8B"}
RING = {"layout": {"context": 8}, "chunked_loss": True}
RTX_4090, H100 = "nvidia-rtx-4090", "nvidia-h100-80gb-sxm"


def sized(accelerator, count=8, **asked):
    return placed_on(parse(Training, LONG | asked), get(accelerator)).at(count)


def test_a_ring_over_pcie_is_waited_for():
    """Of 7 x 32,768 / 8 tokens 16,384 bytes a layer, three times in 32 layers at 4.5 GB/s: 10 s."""
    asked = {**EVERY_HEAD, **RING, "activation_checkpointing": "selective"}
    size = sized(RTX_4090, **asked)
    ring = 3 * 7 / 8 * 32_768 * 2 * 8192 * 32 / 4.5e9
    work = size.seconds_per_token * 32_768 / 8
    assert ring == pytest.approx(10.0, rel=0.01)
    assert size.layout.exposed_communication * ring > 0.5 * work


def test_fast_links_hide_it():
    for model in (EVERY_HEAD, GROUPED):
        size = sized(H100, **model, **RING)
        assert size.layout.exposed_communication < 0.05


def test_grouped_keys_and_values_take_a_fourth_of_the_way():
    waits = [
        sized(RTX_4090, **model, **RING).layout.exposed_communication
        for model in (GROUPED, EVERY_HEAD)
    ]
    assert waits[0] < waits[1]


def test_a_model_typed_by_hand_groups_its_heads_as_models_of_long_sequences_do():
    """The run of Gradient on eight L40S (finetune_runs.csv) took 26.9 h with such a ring."""
    typed = {"parameters": 8.03e9, "layers": 32, "hidden_size": 4096, "vocabulary_size": 128_256}
    asked = {"sequence_length": 65_536, "optimizer": "adamw", "tokens": 62_914_560}
    size = sized("nvidia-l40s", **typed, **asked)
    assert size.layout.context == 8
    assert size.layout.exposed_communication == 0
    assert 0.7 < size.hours / 26.933 < 1.4


def test_the_advised_split_keeps_off_slow_rings():
    own, free = sized(RTX_4090, count=16, **EVERY_HEAD, **RING), sized(RTX_4090, count=16,
                                                                     **EVERY_HEAD)  # fmt: skip
    assert free.hours < own.hours
