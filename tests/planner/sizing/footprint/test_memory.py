"""Memory of training and serving against published figures, and the least accelerators."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.workload import Training
from planner.sizing.evidence.published_runs import published_runs
from planner.sizing.footprint.memory import (
    GIB,
    Split,
    kv_cache_bytes,
    memory_on,
    min_accelerators,
    training_states,
    weight_bytes,
)
from planner.sizing.footprint.parallelism import layout_on
from planner.sizing.footprint.serving_memory import serving
from planner.sizing.footprint.training_flops import Shape
from planner.sizing.performance.throughput import training_from_run
from pricing.market.accelerators import get
from tests.properties import examples

A100 = get("nvidia-a100-80gb-sxm")


def training(**changes):
    return Training(**{"kind": "training", "parameters": 7e9, "tokens": 1e12, **changes})


@pytest.mark.parametrize(
    ("precision", "gigabytes"), [("fp32", 28), ("fp16", 14), ("bf16", 14), ("int8", 7)]
)
def test_weights_of_seven_billion_parameters(precision, gigabytes):
    assert weight_bytes(7e9, precision) == gigabytes * 1e9


@pytest.mark.parametrize(
    ("precision", "optimizer", "bytes_each"),
    [
        ("bf16", "adamw", 16),
        ("fp16", "adamw", 16),
        ("fp32", "adamw", 16),
        ("bf16", "sgd", 12),
        ("fp32", "sgd", 12),
        ("fp8", "adamw", 15),
    ],
)
def test_bytes_of_each_parameter(precision, optimizer, bytes_each):
    assert training_states(training(optimizer=optimizer), precision).total == 7e9 * bytes_each


def test_the_naive_full_precision_finetune_of_alpaca():
    assert training_states(training(), "fp32").total == 112e9


@pytest.mark.parametrize(
    ("stage", "kept"), [(0, 16), (1, 4 + 12 / 8), (2, 2 + 14 / 8), (3, 16 / 8)]
)
def test_zero_stages_divide_what_the_paper_says(stage, kept):
    split = Split(8, zero_stage=stage)
    memory = memory_on(training(), "bf16", 80, split)
    held = memory.weights_gib + memory.gradients_gib + memory.optimizer_gib
    assert held * GIB == pytest.approx(7e9 * kept)


def test_qlora_of_65_billion_fits_one_card_of_48_gb():
    assert min_accelerators(training(parameters=65.2e9, optimizer="qlora"), "bf16", 48) == 1


def test_lora_of_7_billion_fits_a_card_of_24_gb():
    assert min_accelerators(training(optimizer="lora"), "bf16", 24) == 1


def test_checkpointing_keeps_less():
    kept = memory_on(training(), "bf16", 80, Split(8, recompute=True)).activations_gib
    assert kept < memory_on(training(), "bf16", 80, Split(8, recompute=False)).activations_gib / 5


def test_tensor_and_pipeline_parallelism_divide_the_states():
    whole = memory_on(training(), "bf16", 80, Split(16, 1, 1, 0))
    parts = memory_on(training(), "bf16", 80, Split(16, 4, 2, 0))
    assert parts.weights_gib == pytest.approx(whole.weights_gib / 8)


def test_nobody_trained_on_fewer_than_it_says_is_possible():
    for run in published_runs("ABX"):
        if run.accelerators and run.parameters:
            memory = get(run.accelerator).memory_gib
            least = min_accelerators(training_from_run(run), run.precision, memory)
            assert least is not None
            assert least <= run.accelerators, run.run


def test_what_fits_nowhere_has_no_least_number():
    assert min_accelerators(training(sequence_length=10_000_000), "bf16", 16) is None


def test_a_stage_without_sharding_still_fits_by_splitting_the_model():
    assert min_accelerators(training(parameters=70e9, zero_stage=0), "bf16", 80) == 16


def test_no_checkpointing_needs_at_least_as_many():
    kept = training(parameters=70e9, activation_checkpointing=False)
    assert min_accelerators(kept, "bf16", 80) >= min_accelerators(
        training(parameters=70e9), "bf16", 80
    )


sizes = st.floats(min_value=1e6, max_value=2e12)
memories = st.sampled_from([16.0, 24.0, 40.0, 80.0, 141.0, 180.0])


@examples(20, 2000)
@given(sizes, sizes, memories)
def test_more_parameters_never_need_fewer_accelerators(one, other, memory):
    small, large = sorted((one, other))
    few = min_accelerators(training(parameters=small), "bf16", memory)
    many = min_accelerators(training(parameters=large), "bf16", memory)
    assert many is None or few <= many


@examples(20, 2000)
@given(sizes, st.sampled_from([None, 0, 1, 2, 3]), st.sampled_from([None, True, False]))
def test_from_the_least_number_on_there_is_a_layout(parameters, stage, checkpointing):
    work = training(parameters=parameters, zero_stage=stage, activation_checkpointing=checkpointing)
    one = get("nvidia-a100-80gb-sxm")
    least = min_accelerators(work, "bf16", one.memory_gib)
    for count in (least, least + 1, 3 * least):
        layout = layout_on(work, "bf16", one, count)
        assert layout is not None
        assert layout.memory.total_gib <= one.memory_gib
        assert layout.split.tensor * layout.split.pipeline * layout.split.data <= count


@pytest.mark.parametrize("accelerators", [14, 16, 29, 31, 100, 1031])
def test_a_layout_uses_what_it_counts(accelerators):
    llama = training(parameters=65.2e9, sequence_length=2048)
    layout = layout_on(llama, "bf16", A100, accelerators).parallelism.model_dump()
    parts = layout["tensor"] * layout["pipeline"] * layout["data"]
    assert parts + layout["unused"] == accelerators
    assert layout["unused"] < layout["tensor"] * layout["pipeline"]
    assert accelerators > 512 or layout["unused"] == 0


def test_what_is_left_over_holds_nothing():
    some, none = (
        memory_on(training(), "bf16", 80, Split(n, tensor=8, zero_stage=3)) for n in (15, 8)
    )
    assert some == none


def test_keys_and_values_of_a_7b_model_at_4096_tokens_take_2_gib():
    assert kv_cache_bytes(Shape(32, 4096), 4096, 1, "fp16") / GIB == 2


def test_what_was_trained_can_be_served_on_fewer():
    answer = serving(training(parameters=70e9), get("nvidia-h100-80gb-sxm"))
    assert answer.min_accelerators == {"fp16": 2, "int8": 1, "int4": 1}
