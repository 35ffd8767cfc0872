"""Hours change little where a little more makes a training of another kind."""

import itertools
import math

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.evidence.training_runs import finetune_runs, framework_rates, published_runs
from planner.sizing.footprint.training_flops import MUCH_IDLE
from planner.sizing.runs.placed_run import placed_on
from pricing.market.accelerators import get

H100 = get("nvidia-h100-80gb-sxm")
FORTY = {"parameters": 40e9, "tokens": 2e11}
EIGHT = {"model": "Llama-3.1-8B"}


def size_of(count, **asked):
    training = parse(Training, {"kind": "training", **asked})
    return placed_on(training, H100).at(count)


def most_of_a_step(values):
    return max(abs(math.log(after / before)) for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_no_percent_of_idle_parameters_makes_a_mixture(precision):
    """Was 23 % between 37.9 and 38.1 billion of 40 at work."""
    shares = (1.0, 0.975, 0.951, 0.949, 0.925, 0.9, 0.8, 0.7, 0.62, 0.601, 0.599, 0.58)
    sizes = [
        size_of(64, active_parameters=share * 40e9, precision=precision, **FORTY)
        for share in shares
    ]
    per_parameter = [size.hours / share for size, share in zip(sizes, shares, strict=True)]
    assert most_of_a_step([size.hours for size in sizes[1:5]]) < 0.06
    assert most_of_a_step(per_parameter) < 0.15


def test_no_token_makes_a_pre_training():
    """Was 1.22 times a token where tokens pass the parameters at work."""
    tokens = [8e9 * 2 ** ((step + 0.5) / 4) for step in range(-6, 6)]
    sizes = [size_of(8, tokens=one, **EIGHT) for one in tokens]
    assert (
        most_of_a_step([size.hours / one for size, one in zip(sizes, tokens, strict=True)]) < 0.06
    )
    for end in (0, 1):
        assert most_of_a_step([size.range_p10_p90[end] for size in sizes]) < 0.2
    assert ["state the stage" in " ".join(size.warnings) for size in sizes] == [
        2 <= i <= 9 for i in range(12)
    ]


@pytest.mark.parametrize("stage", ["pretraining", "fine_tuning"])
def test_a_stated_stage_stays(stage):
    stated = [size_of(8, tokens=t, stage=stage, **EIGHT).hours / t for t in (7.9e9, 8.1e9)]
    assert most_of_a_step(stated) < 0.005
    far = size_of(8, tokens=16.2e9 if stage == "pretraining" else 3.9e9, **EIGHT)
    assert far.hours / far.training.tokens == pytest.approx(stated[0], rel=0.01)


def test_every_published_mixture_takes_all_that_mixtures_take():
    trainings = [run.training for run in finetune_runs()]
    trainings += [rate.training for rate in framework_rates()]
    shares = [t.active_parameters / t.parameters for t in trainings if t.active_parameters]
    shares += [
        run.active_parameters / run.parameters for run in published_runs() if run.active_parameters
    ]
    assert len(shares) > 20
    assert max(shares) < 1 - MUCH_IDLE
