"""Image models that no benchmark measures, sized by the FLOPs of a sample."""

import pytest

from planner.contract.request.workload import Samples
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.runs.sample_run import size_samples
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

A100 = get("nvidia-a100-80gb-sxm")
CASES = [
    # samples, forward GFLOPs, accelerators, hours published: open_clip docs/PRETRAINED.md @89fb801
    (12.8e9, 14.8, 128, 4600),
    (12.8e9, 175.0, 400, 50800),
    # NVIDIA/DeepLearningExamples SE-ResNeXt101 90 epochs @729963dd47e7
    (1_281_167 * 90, 16.0, 1, 40),
    # NVIDIA/DeepLearningExamples ResNet-50 at 2,470 images/s, 90 epochs @729963dd47e7
    (1_281_167 * 90, 8.2, 1, 12.97),
]


def size(samples, gflops, accelerators):
    asked = {"kind": "samples", "samples": samples, "epochs": 1}
    workload = parse(Samples, {**asked, "forward_gflops_per_sample": gflops})
    return size_samples(workload, A100, accelerators)


@pytest.mark.parametrize(("samples", "gflops", "accelerators", "published"), CASES)
def test_published_trainings_are_inside_the_range(samples, gflops, accelerators, published):
    sized = size(samples, gflops, accelerators)
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
