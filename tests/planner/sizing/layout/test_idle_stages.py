"""Stages that wait for one another, by the schedule written out."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.search import LayoutTask
from planner.sizing.performance.levels import rates_on
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get

H100 = get("nvidia-h100-80gb-sxm")
SEVENTY = {
    "kind": "training",
    "parameters": 70e9,
    "tokens": 1e10,
    "layers": 80,
    "hidden_size": 8192,
    "sequence_length": 4096,
    "micro_batch_size": 1,
}


def bubble(micro_batches, tensor=8, stages=8):
    work = parse(
        Training,
        SEVENTY
        | {
            "layout": {"tensor": tensor, "pipeline": stages},
            "global_batch_tokens": 4096 * micro_batches,
        },
    )
    return placed_on(work, H100).at(64).layout.pipeline_bubble


@pytest.mark.parametrize(
    ("micro_batches", "idle_over_work"),
    [
        (1, 7.0),  # one stage of eight works at a time
        (4, (4 + 3 / 4) / 4),  # at most four of eight, filled and drained in quarter passes
        (8, 7 / 4 / 8),
        (64, 7 / 4 / 64),
    ],
)
def test_no_more_stages_work_than_there_are_micro_batches(micro_batches, idle_over_work):
    assert bubble(micro_batches) == pytest.approx(idle_over_work / (1 + idle_over_work))


def test_a_small_model_takes_no_stages_that_would_only_wait():
    asked = {"kind": "training", "model": "BERT-base", "tokens": 2e8, "sequence_length": 2048}
    work = parse(Training, {**asked, "stage": "fine_tuning"})
    assert placed_on(work, H100).at(8).layout.pipeline == 1


def test_a_tpu_starts_no_kernels():
    work = parse(Training, {**SEVENTY, "optimizer": "lora"})
    assert rates_on(work, get("google-tpu-v5e"), "bf16").launch_seconds == 0
    assert rates_on(work, H100, "bf16").launch_seconds > 0


def test_accelerators_that_the_advised_split_leaves_over_are_told():
    work = parse(Training, {**SEVENTY, "parameters": 1e9, "layers": 16, "hidden_size": 2048})
    for count in (8, 7):
        task = LayoutTask(work, H100, "bf16", rates_on(work, H100, "bf16"))
        is_told = any("idle" in one for one in placed_on(work, H100).at(count).warnings)
        assert is_told is (task.on(count).unused > 0)
