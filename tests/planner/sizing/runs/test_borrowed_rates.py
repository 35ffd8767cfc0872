"""A rate that rests on another accelerator is said to, and published runs go by their names."""

from __future__ import annotations

import re

import pytest

from planner.sizing.estimate import estimate
from planner.sizing.performance.confidence import calibrated_bounds

WORK = {"kind": "training", "parameters": 7e9, "tokens": 1e11}


def told(accelerator: str, **work: object) -> list[str]:
    asked = {"workload": WORK | work, "accelerator": accelerator}
    return [w for w in estimate(asked).warnings if "benchmark of" in w or "language-model" in w]


@pytest.mark.parametrize(
    ("accelerator", "whose"),
    [
        ("google-tpu-v7", "Google TPU v7 (Ironwood) itself is in its rate"),
        (
            "google-tpu-v7",
            "that of the TPU v6e, as published steps of v7 itself are all of mixtures",
        ),
        ("google-tpu-v3", "that of the TPU v4"),
        ("intel-gaudi3", "that of the H100, moved by the best matrix products of both"),
        ("nvidia-a100-80gb-pcie", "that of the A100 SXM"),
    ],
)
def test_an_accelerator_without_a_benchmark_of_its_own_says_whose_it_is(
    accelerator: str, whose: str
) -> None:
    (words,) = told(accelerator)
    assert whose in words


@pytest.mark.parametrize("accelerator", ["nvidia-h100-80gb-sxm", "google-tpu-v6e", "google-tpu-v4"])
def test_one_that_was_measured_says_nothing(accelerator: str) -> None:
    assert not told(accelerator)


def test_a_rate_of_one_s_own_rests_on_nobody_s() -> None:
    assert not told("google-tpu-v7", mfu=0.4)


def test_one_placed_by_its_datasheet_names_the_other_by_its_name() -> None:
    (words,) = told("nvidia-v100s")
    assert words.startswith("Tesla V100S PCIe 32 GB has no language-model benchmark at fp16")
    assert "its rate is that of the A100 SXM4 80 GB adjusted by other workloads and the" in words


@pytest.mark.parametrize("is_mixture", [False, True])
def test_the_largest_published_runs_go_by_the_names_that_people_use(is_mixture: bool) -> None:
    known = calibrated_bounds(is_mixture)
    for largest in (known.largest_model, known.largest_cluster):
        assert re.match(r"[A-Z]", largest.run), largest.run
