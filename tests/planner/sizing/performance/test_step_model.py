"""The terms of a step and of a team, each worked out by hand from the documented formula.

A 7B model with 32 layers of 4,096 units on one A100 of 80 GB: 312 TFLOP/s of dense peak, of which a
well-tuned framework sustains 0.56, and 2,040 GB/s of memory.
"""

import math

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.performance.confidence import team_fit
from planner.sizing.performance.goodput import start_hours
from planner.sizing.performance.levels import cluster_share, matmul_share, rates_on
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get, resolve

A100, H100 = get("nvidia-a100-80gb-sxm"), get("nvidia-h100-80gb-sxm")
SEVEN = {
    "kind": "training",
    "parameters": 7e9,
    "tokens": 1e9,
    "layers": 32,
    "hidden_size": 4096,
    "stage": "fine_tuning",
}
MATRIX_FLOPS_PER_S = 0.56 * 0.96 * 312e12
ATTENTION_FLOPS_PER_POSITION = 12 * 32 * 4096


def training(**changes):
    return parse(Training, SEVEN | changes)


def size(count=1, one=A100, **changes):
    return placed_on(training(**changes), one).at(count)


def micro_batch_seconds(length, **changes):
    """Of one sequence at a time."""
    sized = size(sequence_length=length, micro_batch_size=1, **changes)
    return length / sized.step_tokens_per_second


@pytest.mark.parametrize(
    ("optimizer", "recomputes", "seconds"),
    [
        ("adamw_bf16", False, 32 * 2.8e-3),
        ("adamw_bf16", True, 4 / 3 * 32 * 2.8e-3),
        ("lora", False, 32 * 4.5e-3),
        ("lora", True, 4 / 3 * 32 * 4.5e-3),
        ("qlora", False, 32 * 4.5e-3 + 2 * 2.5 * 7e9 / (0.24 * 2040e9)),
        ("qlora", True, 4 / 3 * 32 * 4.5e-3 + 3 * 2.5 * 7e9 / (0.24 * 2040e9)),
    ],
)
def test_128_tokens_take_the_start_of_their_kernels_and_the_dequantisation(
    optimizer, recomputes, seconds
):
    """A layer starts in 2.8 ms, with adapters in 4.5, a third more where it is passed once more.
    4-bit weights are made 16-bit ones in every pass, 2.5 bytes each, at 0.24 of the bandwidth."""
    asked = {"optimizer": optimizer, "activation_checkpointing": recomputes}
    assert micro_batch_seconds(128, **asked) == pytest.approx(seconds, rel=1e-6)


@pytest.mark.parametrize("length", [4096, 8192, 16384])
def test_long_sequences_take_their_matrices_and_half_of_their_attention(length):
    """Recomputation takes 1.13 times as long, and 150 tokens half fill the matrices."""
    flops = length * (6 * 7e9 + ATTENTION_FLOPS_PER_POSITION * length / 2)
    seconds = 1.13 * (1 + 150 / length) * flops / MATRIX_FLOPS_PER_S
    asked = {"optimizer": "adamw_bf16", "activation_checkpointing": True}
    assert micro_batch_seconds(length, **asked) == pytest.approx(seconds, rel=1e-6)


def test_adapters_work_at_the_rate_of_full_training_on_two_thirds_of_its_operations():
    flops = 4096 * (4 * 7e9 + ATTENTION_FLOPS_PER_POSITION * 4096 / 2)
    seconds = (1 + 150 / 4096) * flops / MATRIX_FLOPS_PER_S
    asked = {"optimizer": "lora", "activation_checkpointing": False}
    assert micro_batch_seconds(4096, **asked) == pytest.approx(seconds, rel=1e-6)


def test_attention_stays_in_16_bits_where_matrices_take_8():
    """0.41 of 989.4 TFLOP/s on an H100, and half of the term is worked on."""
    rates = rates_on(training(), H100, "fp8")
    assert rates.attention == pytest.approx(2 * 0.41 * 0.96 * 989.4e12, rel=1e-3)
    assert rates.matrix > 1.2 * rates_on(training(), H100, "bf16").matrix


@pytest.mark.parametrize("code", [None, "hand_tuned", "standard", "first_version"])
@pytest.mark.parametrize("stage", ["pretraining", "fine_tuning"])
def test_hours_are_those_of_the_step_model_times_the_team_s(stage, code):
    asked = {"sequence_length": 4096, "stage": stage, "code": code, "optimizer": "adamw_bf16"}
    sized, fit = size(**asked), team_fit()
    per_token = sized.seconds_per_token / sized.layout.share_of_level
    seconds = 1e9 * per_token / cluster_share(sized.accelerators)
    unsaid = fit.unsaid.at(A100, "bf16") if stage == "pretraining" else 0.0
    of_code = fit.codes[stage][code] if code else unsaid
    hours = seconds / 3600 * math.exp(fit.stages[stage] + of_code) / sized.goodput
    starting = start_hours(sized.training)
    assert sized.hours - starting == pytest.approx(hours, rel=1e-6)


@pytest.mark.parametrize("length", [2048, 131072])
def test_hfu_counts_the_half_of_attention_that_is_worked_and_mfu_all_of_it(length):
    sized = size(32, sequence_length=length, activation_checkpointing=True)
    attention = ATTENTION_FLOPS_PER_POSITION * length
    worked, counted = 6 * 7e9 + attention / 2, 6 * 7e9 + attention
    assert sized.hardware_flops == pytest.approx(4 / 3 * worked * 1e9)
    assert sized.hfu == pytest.approx(sized.mfu * 4 / 3 * worked / counted)
    says_so = "of which causal kernels work half" in sized.mfu_source
    assert says_so == (length == 131072)


TUNING = {"kind": "training", "parameters": 7e9, "tokens": 1e9, "stage": "fine_tuning"}


def ask(count=8, **changes):
    asked = {"workload": TUNING | changes, "accelerator": "A100-80GB", "accelerators": count}
    return estimate(asked).answer


def hours(count=8, **changes):
    one = ask(count, **changes).accelerator_hours
    return one.p10, one.p50, one.p90


@pytest.mark.parametrize("optimizer", ["adamw_bf16", "lora", "qlora"])
def test_a_micro_batch_takes_its_start_however_few_its_tokens(optimizer):
    """One example of 128 tokens takes as long as one of 256: hours by the token double."""
    few, more, many = (
        hours(1, optimizer=optimizer, micro_batch_size=1, sequence_length=length)[1]
        for length in (128, 256, 4096)
    )
    assert few / more == pytest.approx(2, rel=0.1)
    assert few > 2.5 * many


@pytest.mark.parametrize("code", [None, "hand_tuned", "standard"])
@pytest.mark.parametrize("accelerator", ["T4", "A100-80GB", "RTX 4090"])
def test_no_end_of_a_range_executes_more_than_a_step_can(accelerator, code):
    workload = TUNING | {"sequence_length": 2048, "code": code}
    asked = {"workload": workload, "accelerator": accelerator, "accelerators": 16}
    found = estimate(asked).answer
    hours = found.accelerator_hours
    most = 0.85 * matmul_share(resolve(accelerator))
    assert found.hfu * hours.p50 / hours.p10 <= most * 1.001


def test_the_rate_of_a_step_follows_the_tuning_of_the_code():
    """What a step shows can never be below what is left after losses."""
    rates = {}
    for code in ("hand_tuned", "standard", "first_version"):
        answer = ask(code=code, stage="pretraining", sequence_length=2048)
        rates[code] = answer.tokens_per_second_per_accelerator
        assert rates[code] > 1e9 / answer.accelerator_hours.p50 / 3600
    assert rates["hand_tuned"] > rates["standard"] > rates["first_version"]


def test_a_stated_micro_batch_runs_on_every_accelerator():
    """GPT-2 124M in micro-batches of 64, as llm.c's: nobody splits it."""
    small = {"parameters": 1.24e8, "tokens": 1e10, "sequence_length": 1024, "stage": "pretraining"}
    answer = ask(micro_batch_size=64, chunked_loss=True, **small)
    assert (answer.parallelism.tensor, answer.parallelism.data) == (1, 8)
