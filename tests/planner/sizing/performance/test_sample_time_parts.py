"""The parts of a sample's time, worked out by hand from the documented formula."""

import itertools
import math

import pytest

from planner.contract.request.workload import Samples
from planner.contract.validation import parse
from planner.sizing.evidence.sample_runs import FULL, MIXED
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.levels import throughput_index
from planner.sizing.performance.sample_times import (
    FIRST,
    Sample,
    parts,
    scaling_efficiency,
    time_fit,
)
from planner.sizing.runs.sample_run import size_samples
from pricing.market.accelerators import get

A100 = get("nvidia-a100-80gb-sxm")
TWICE_A_RESNET_50 = 16.4e9
"""FLOPs forward; its layers put out 11.1e6 values times the root of two, of two bytes each."""
MATRIX_SECONDS = 3 * TWICE_A_RESNET_50 / 312e12
MEMORY_SECONDS = 11.1e6 * math.sqrt(2) * 2 / 2040e9


def test_a_convolution_takes_arithmetic_and_memory():
    half = Sample(TWICE_A_RESNET_50, MIXED, "convolutional", "usual", resized_share=0.5)
    expected = {
        "matrix": 0.5 * MATRIX_SECONDS,
        "convolutional": 0.5 * MEMORY_SECONDS,
        "reading usual": 1.0,
    }
    assert parts(half, A100) == pytest.approx(expected)


def test_fp32_values_are_twice_as_wide():
    full = parts(Sample(TWICE_A_RESNET_50, FULL, "convolutional", "usual"), A100)
    assert full["convolutional"] == pytest.approx(2 * MEMORY_SECONDS)
    assert full["matrix"] == pytest.approx(2 * MATRIX_SECONDS)


ASKED = {
    "kind": "samples",
    "samples": 1e6,
    "epochs": 90,
    "forward_gflops_per_sample": TWICE_A_RESNET_50 / 1e9,
    "architecture": "convolutional",
}
LOST = scaling_efficiency(8) * estimate_goodput(8)


def hours(one=A100, **said):
    return size_samples(parse(Samples, {**ASKED, **said}), one, 8).hours


@pytest.mark.parametrize("loader", ["usual", "hand_tuned"])
def test_hours_add_up_the_parts(loader):
    c = time_fit(True, True, False).coefficients
    seconds = (
        c["matrix"] * MATRIX_SECONDS + c["convolutional"] * MEMORY_SECONDS + c["reading " + loader]
    )
    assert hours(loader=loader) == pytest.approx(90e6 * seconds / 3600 / LOST)


@pytest.mark.parametrize("code", ["hand_tuned", "standard", "first_version"])
def test_the_tuning_of_the_code_stretches_the_whole_sum(code):
    c = time_fit(True, True, True).coefficients
    seconds = (
        c["matrix"] * MATRIX_SECONDS + c["convolutional"] * MEMORY_SECONDS + c["reading usual"]
    ) * c["code " + code]
    asked = {"loader": "usual", "code": code}
    assert hours(**asked) == pytest.approx(90e6 * seconds / 3600 / LOST)


def test_a_tpu_has_a_coefficient_of_its_own():
    """TPU v3: 123 TFLOP/s, moved by the index, and 900 GB/s (Google's documentation)."""
    tpu = get("google-tpu-v3")
    c = time_fit(True, True, True).coefficients
    peak = 312e12 * throughput_index().ratio(tpu, A100, MIXED, "vision")
    memory = MEMORY_SECONDS * 2040 / tpu.memory_bandwidth_gb_per_s
    seconds = (
        c["systolic"] * 3 * TWICE_A_RESNET_50 / peak
        + c["convolutional"] * memory
        + c["reading usual"]
    ) * c["code standard"]
    asked = {"loader": "usual", "code": "standard"}
    assert hours(tpu, **asked) == pytest.approx(90e6 * seconds / 3600 / LOST)
    assert c["systolic"] < 0.6 * c["matrix"]


def test_coefficients_stay_near_what_is_known_beforehand():
    """Teams agree on them within a factor of three, and a usual loader is the slower one."""
    known = time_fit(True, True, True).coefficients
    assert all(1 / 3 < known[name] / first < 3 for name, first in FIRST.items())
    assert known["reading hand_tuned"] < known["reading "] < known["reading usual"]
    codes = [known["code " + code] for code in ("hand_tuned", "standard", "first_version")]
    assert codes == sorted(codes)
    assert 0.8 < codes[0] < 1 < codes[2] < 2


def taken_and_predicted(run, fit, is_kind_known, is_loader_known, is_code_known):
    """s of one accelerator for a sample, less what a job of many loses, and those of the fit."""
    forward = run.forward_flops or 400 * (run.parameters or 5e7)
    kept = scaling_efficiency(run.accelerators) * estimate_goodput(run.accelerators)
    sample = Sample(
        forward_flops=forward,
        precision_class=FULL if run.precision == "fp32" else MIXED,
        architecture=run.architecture if is_kind_known and run.is_images else "",
        loader=run.loader if is_loader_known else "",
        code=run.code if is_code_known else "",
        is_read=run.is_images,
        resized_share=run.resized_share,
    )
    taken = run.accelerator_hours * 3600 * kept * 3 * forward / run.training_flops
    return taken, fit.seconds(sample, get(run.accelerator))


@pytest.mark.parametrize("said", list(itertools.product((True, False), repeat=3)))
def test_an_error_is_what_a_run_took_over_what_is_predicted(said):
    """Leaving its team out of the fit moves it by less than a half."""
    fit = time_fit(*said)
    for run, error in fit.errors:
        taken, predicted = taken_and_predicted(run, fit, *said)
        assert error == pytest.approx(math.log(taken / predicted), abs=0.5)


def test_errors_are_of_runs_whose_loader_is_stated_where_it_is_known():
    assert all(run.loader for run, _ in time_fit(True, True, True).errors)
    assert not all(run.loader for run, _ in time_fit(True, False, True).errors)
    assert all(run.is_images for run, _ in time_fit(True, False, True).errors)
    assert not all(run.is_images for run, _ in time_fit(False, False, False).errors)
