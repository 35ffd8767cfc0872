"""Hours of work on samples: parts of a sample's time by hand, and published trainings."""

import datetime as dt
import math

import pytest

from planner.contract.request.workload import Samples
from planner.contract.validation import parse
from planner.sizing.demand import compute_demand
from planner.sizing.estimate import estimate
from planner.sizing.evidence.benchmarks import FULL, MIXED
from planner.sizing.performance.goodput import estimate_goodput
from planner.sizing.performance.levels import throughput_index
from planner.sizing.runs.sample_run import Sample, parts, scaling_efficiency, size_samples, time_fit
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

WORK = {"kind": "samples", "samples": 1.281e6, "epochs": 90, "forward_gflops_per_sample": 8.2}
A100, V100 = get("nvidia-a100-80gb-sxm"), get("nvidia-v100-16gb-sxm")


def size(one=A100, **changes):
    return size_samples(parse(Samples, {**WORK, **changes}), one, 8)


def hours(**changes):
    return size(**changes).hours


def test_a_hand_tuned_loader_takes_fewer_hours_than_a_usual_one():
    assert hours(loader="hand_tuned") < hours() < hours(loader="usual")
    told = {"architecture": "convolutional"}
    assert hours(loader="hand_tuned", **told) < hours(loader="usual", **told)


@pytest.mark.parametrize("told", [{}, {"loader": "usual"}, {"architecture": "detector"}])
def test_the_better_tuned_the_code_the_fewer_the_hours(told):
    tuned, standard, first = (
        hours(code=code, **told) for code in ("hand_tuned", "standard", "first_version")
    )
    assert tuned < 0.9 * standard
    assert standard < 0.8 * first
    assert tuned < hours(**told) < first


def test_a_loader_matters_less_the_more_work_an_image_is():
    def ratio(gflops):
        asked = {"architecture": "transformer", "forward_gflops_per_sample": gflops}
        return hours(loader="usual", **asked) / hours(loader="hand_tuned", **asked)

    assert ratio(1.0) > ratio(10.0) > ratio(600.0) > 1
    assert ratio(600.0) < 1.05


@pytest.mark.parametrize("gflops", [0.01, 1.0, 100.0])
def test_more_work_takes_more_hours_and_never_more_than_in_proportion(gflops):
    once = hours(forward_gflops_per_sample=gflops)
    assert once < hours(forward_gflops_per_sample=2 * gflops) < 2 * once


SAID = [("architecture", "detector"), ("code", "hand_tuned")]


@pytest.mark.parametrize(("field", "value"), SAID)
@pytest.mark.parametrize("rate", [{"benchmark": "resnet50-lambda"}, {"samples_per_second": 100.0}])
def test_what_is_said_beside_a_measured_rate_is_refused(rate, field, value):
    with pytest.raises(InvalidInput) as refused:
        size(accelerator="A100-80GB", **{field: value}, **rate)
    assert refused.value.field == field


def test_an_accelerator_without_a_datasheet_is_refused():
    with pytest.raises(InvalidInput) as refused:
        size(one=get("intel-gaudi"))
    assert refused.value.field == "accelerator"


A100_BY_HAND = get("nvidia-a100-80gb-sxm")
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
    assert parts(half, A100_BY_HAND) == pytest.approx(expected)


def test_fp32_values_are_twice_as_wide():
    full = parts(Sample(TWICE_A_RESNET_50, FULL, "convolutional", "usual"), A100_BY_HAND)
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


def hours_by_hand(one=A100_BY_HAND, **said):
    return size_samples(parse(Samples, {**ASKED, **said}), one, 8).hours


@pytest.mark.parametrize("loader", ["usual", "hand_tuned"])
def test_hours_add_up_the_parts(loader):
    c = time_fit("architecture", "loader").coefficients
    seconds = (
        c["matrix"] * MATRIX_SECONDS + c["convolutional"] * MEMORY_SECONDS + c["reading " + loader]
    )
    assert hours_by_hand(loader=loader) == pytest.approx(90e6 * seconds / 3600 / LOST)


@pytest.mark.parametrize("code", ["hand_tuned", "standard", "first_version"])
def test_the_tuning_of_the_code_stretches_the_whole_sum(code):
    c = time_fit("architecture", "loader", "code").coefficients
    seconds = (
        c["matrix"] * MATRIX_SECONDS + c["convolutional"] * MEMORY_SECONDS + c["reading usual"]
    ) * c["code " + code]
    asked = {"loader": "usual", "code": code}
    assert hours_by_hand(**asked) == pytest.approx(90e6 * seconds / 3600 / LOST)


def test_a_tpu_has_a_coefficient_of_its_own():
    """TPU v3: 123 TFLOP/s, moved by the index, and 900 GB/s (Google's documentation)."""
    tpu = get("google-tpu-v3")
    c = time_fit("architecture", "loader", "code").coefficients
    peak = 312e12 * throughput_index().ratio(tpu, A100_BY_HAND, MIXED, "vision")
    memory = MEMORY_SECONDS * 2040 / tpu.memory_bandwidth_gb_per_s
    seconds = (
        c["systolic"] * 3 * TWICE_A_RESNET_50 / peak
        + c["convolutional"] * memory
        + c["reading usual"]
    ) * c["code standard"]
    asked = {"loader": "usual", "code": "standard"}
    assert hours_by_hand(tpu, **asked) == pytest.approx(90e6 * seconds / 3600 / LOST)
    assert c["systolic"] < 0.6 * c["matrix"]


A100_OF_FLOPS = get("nvidia-a100-80gb-sxm")
CASES = [
    # samples, forward GFLOPs, accelerators, hours published: open_clip docs/PRETRAINED.md @89fb801
    (12.8e9, 14.8, 128, 4600),
    (12.8e9, 175.0, 400, 50800),
    # NVIDIA/DeepLearningExamples SE-ResNeXt101 90 epochs @729963dd47e7
    (1_281_167 * 90, 16.0, 1, 40),
    # NVIDIA/DeepLearningExamples ResNet-50 at 2,470 images/s, 90 epochs @729963dd47e7
    (1_281_167 * 90, 8.2, 1, 12.97),
]


def size_of_flops(samples, gflops, accelerators):
    asked = {"kind": "samples", "samples": samples, "epochs": 1}
    workload = parse(Samples, {**asked, "forward_gflops_per_sample": gflops})
    return size_samples(workload, A100_OF_FLOPS, accelerators)


@pytest.mark.parametrize(("samples", "gflops", "accelerators", "published"), CASES)
def test_published_trainings_are_inside_the_range(samples, gflops, accelerators, published):
    sized = size_of_flops(samples, gflops, accelerators)
    low, high = sized.range_p10_p90
    assert sized.hours * low <= published <= sized.hours * high


def test_without_any_rate_it_is_refused():
    with pytest.raises(InvalidInput, match="forward_gflops_per_sample"):
        parse(Samples, {"kind": "samples", "samples": 1, "epochs": 1})


def measured(rate, **changes):
    work = {"kind": "samples", "samples": 1_281_167, "epochs": 90, "samples_per_second": rate}
    work |= {"forward_gflops_per_sample": 123, "accelerator": "T4", **changes}
    return estimate({"workload": work, "accelerators": 1}).answer


def test_a_rate_above_the_peak_is_refused_with_the_highest_possible():
    """65 TFLOP/s are 176 samples of 3 x 123 GFLOPs a second."""
    with pytest.raises(InvalidInput, match=r"566,820% of .*Tesla T4.*up to 176,") as refusal:
        measured(1e6)
    assert refusal.value.field == "workload.samples_per_second"
    assert measured(176).accelerator_hours.p50 > 180


@pytest.mark.parametrize("changes", [{"forward_gflops_per_sample": None}])
def test_a_rate_is_held_against_the_peak_by_its_flops(changes):
    asked = {"forward_gflops_per_sample": 123, **changes}
    assert measured(1e6, **asked).accelerator_hours.p50 < 0.1


@pytest.mark.parametrize(
    ("gflops", "more", "is_named"),
    [
        (0.0048, {}, True),
        (0.2, {}, False),
        (8.2, {}, False),
        (0.0048, {"samples_per_second": 1e6, "accelerator": "nvidia-a100-80gb-sxm"}, False),
    ],
)
def test_samples_far_smaller_than_any_image_are_named(gflops, more, is_named):
    """A recommendation model is not read like images: its hours are a guess and are said to be."""
    clicks = {"kind": "samples", "samples": 4.2e9, "epochs": 1, "forward_gflops_per_sample": gflops}
    request = {"workload": {**clicks, **more}, "accelerator": "nvidia-a100-80gb-sxm"}
    answer = estimate(request).answer
    named = [words for words in answer.warnings if "reading an image" in words]
    assert bool(named) is is_named
    assert answer.accelerator_hours.holds is not is_named


def sized(one, count=None, **work):
    described = {"kind": "samples", "samples": 1e6, "epochs": 1, **work}
    return size_samples(parse(Samples, described), get(one), count)


def test_a_card_too_small_for_the_states_is_refused():
    """16 bytes a parameter: 298 GiB, of which eight T4 hold 110, and 15 GiB, which take two."""
    work = {"forward_gflops_per_sample": 6000}
    with pytest.raises(InvalidInput, match=r"298.0 GiB .* has 16 GiB"):
        sized("nvidia-t4", parameters=20e9, **work)
    two = sized("nvidia-t4", parameters=1e9, **work)
    assert two.min_accelerators == 2
    words = "hold the 1,000,000,000 parameters trained with AdamW: they are sharded over 2 or more"
    assert any(words in one for one in two.warnings)
    assert two.memory_gib == pytest.approx(14.9 / 2 + 1.1, abs=0.1)
    with pytest.raises(InvalidInput, match="allowed are 2 or more"):
        sized("nvidia-t4", 1, parameters=1e9, **work)


@pytest.mark.parametrize(
    ("name", "parameters", "gib"),
    [("whisper-large-v3", 1.55e9, 24.8), ("SDXL", 2.567e9, 40.8), ("resnet152", 60e6, 1)],
)
def test_models_are_known_by_name(name, parameters, gib):
    run = sized("nvidia-a100-80gb-sxm", model=name)
    assert run.workload.parameters == pytest.approx(parameters, rel=0.01)
    assert run.memory_gib == pytest.approx(gib, rel=0.05)
    with pytest.raises(InvalidInput, match=r"is no benchmark; model .* sizes it"):
        sized("nvidia-a100-80gb-sxm", benchmark=name)


def test_long_runs_and_a_cpu_that_is_enough_are_said_where_money_is_decided():
    long = sized("nvidia-t4", 1, samples=1e9, epochs=30, forward_gflops_per_sample=8)
    assert any(words.endswith("days: use more, or do less work") for words in long.warnings)
    small = {"kind": "samples", "samples": 1e5, "epochs": 3, "forward_gflops_per_sample": 0.05}
    demand = compute_demand(parse(Samples, small), dt.date(2027, 1, 1), 12)
    assert "rent no accelerator" in demand.warnings_on(["nvidia-t4"])[0]
