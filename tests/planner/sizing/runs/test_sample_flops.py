"""Image models that no benchmark measures, sized by the FLOPs of a sample."""

import pytest

from planner.contract.request.workload import Samples
from planner.contract.validation import parse
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


def test_twice_the_operations_take_twice_the_hours():
    assert size(1e6, 20, 1).hours == pytest.approx(2 * size(1e6, 10, 1).hours)


def test_without_any_rate_it_is_refused():
    with pytest.raises(InvalidInput, match="forward_gflops_per_sample"):
        parse(Samples, {"kind": "samples", "samples": 1, "epochs": 1})
