"""Trainings and sample-based work as monthly demand."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from planner.contract.request.workload import Workload
from planner.sizing.demand import compute_demand
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators
from pricing.market.offers import HOURS_PER_MONTH
from tests.properties import examples

START = dt.date(2027, 1, 1)
RUNS = [{"start": "2027-03", "deadline": "2027-04"}]
IMAGENET = {"kind": "samples", "samples": 1.281e6, "epochs": 90, "benchmark": "resnet50-lambda"}


def training(**changes):
    return {"kind": "training", "parameters": 7e9, "tokens": 1e12, **changes}


def demand(workload, months=12, accelerators=None):
    return compute_demand(
        TypeAdapter(Workload).validate_python(workload), START, months, accelerators
    )


def refusal(workload, months=12, accelerators=None):
    with pytest.raises(InvalidInput) as caught:
        demand(workload, months, accelerators)
    return caught.value


def test_a_run_falls_between_its_start_and_its_deadline():
    found = demand(training(runs=RUNS))
    assert np.flatnonzero(found.hours_per_month).tolist() == [2, 3]
    assert np.flatnonzero(found.peak_accelerators).tolist() == [2, 3]


def test_the_peak_is_the_fewest_that_finish_in_time():
    found = demand(training(runs=RUNS, accelerator="H100 SXM"))
    hours, peak = found.hours_per_month.sum(), found.peak_accelerators.max()
    assert hours <= peak * 2 * HOURS_PER_MONTH


def test_a_later_deadline_never_needs_more_at_once():
    peaks = [
        demand(
            training(runs=[{"start": "2027-01", "deadline": f"2027-{m:02d}"}])
        ).peak_accelerators.max()
        for m in (1, 2, 3, 6, 12)
    ]
    assert peaks == sorted(peaks, reverse=True)


def test_runs_of_the_same_month_add_up():
    one = demand(training(runs=[{"start": "2027-03", "deadline": "2027-03"}]))
    two = demand(training(runs=[{"start": "2027-03", "deadline": "2027-03", "count": 2}]))
    pair = demand(training(runs=[{"start": "2027-03", "deadline": "2027-03"}] * 2))
    assert two.hours_per_month[2] == pytest.approx(2 * one.hours_per_month[2])
    assert two.peak_accelerators[2] == 2 * one.peak_accelerators[2]
    assert pair.hours_per_month.tolist() == two.hours_per_month.tolist()


def test_experiments_multiply_the_hours():
    plain = demand(training(mfu=0.4, goodput=0.9))
    with_experiments = demand(training(mfu=0.4, goodput=0.9, experiments_factor=1.5))
    assert with_experiments.hours_per_month.sum() == pytest.approx(
        1.5 * plain.hours_per_month.sum()
    )


def test_without_runs_one_begins_at_the_start():
    found = demand(training())
    assert found.hours_per_month[0] > 0
    assert found.hours_per_month[-1] == 0


def test_a_run_without_a_deadline_ends_with_the_horizon():
    found = demand(training(tokens=1e14), months=2)
    assert (found.hours_per_month <= found.peak_accelerators * HOURS_PER_MONTH).all()


def test_an_accelerator_of_the_workload_is_the_only_candidate():
    found = demand(training(accelerator="H100 SXM"))
    assert [c.accelerator for c in found.candidates] == ["nvidia-h100-80gb-sxm"]
    assert found.excluded == {}


def test_without_one_everything_is_a_candidate_or_excluded_with_a_reason():
    found = demand(training())
    candidates = [c.accelerator for c in found.candidates]
    assert found.candidates[0].accelerator == found.accelerator
    assert found.candidates[0].relative_throughput == 1
    assert sorted([*candidates, *found.excluded]) == sorted(a.slug for a in all_accelerators())
    assert all(found.excluded.values())


def test_retired_and_inference_accelerators_are_never_proposed():
    excluded = demand(training()).excluded
    assert "retired" in excluded["nvidia-k80"]
    assert "inference" in excluded["aws-inferentia2"]


def test_a_precision_excludes_those_that_lack_it():
    excluded = demand(training(precision="fp8")).excluded
    assert "has no fp8" in excluded["nvidia-a100-80gb-sxm"]


def test_candidates_can_be_limited():
    found = demand(training(), accelerators=["nvidia-l4", "nvidia-t4"])
    assert {c.accelerator for c in found.candidates} == {"nvidia-l4", "nvidia-t4"}


def test_an_h100_does_the_work_of_two_to_three_a100():
    by_slug = {c.accelerator: c.relative_throughput for c in demand(training()).candidates}
    ratio = by_slug["nvidia-h100-80gb-sxm"] / by_slug["nvidia-a100-80gb-sxm"]
    assert 2 < ratio < 3


def test_the_range_and_the_method_come_along():
    found = demand(training())
    low, high = found.range_p10_p90
    assert low < 1 < high
    assert "MFU" in found.method
    assert "Llama 3" in found.method


def test_epochs_of_samples_on_a_measured_accelerator():
    work = IMAGENET | {"accelerator": "nvidia-a100-80gb-sxm", "goodput": 1}
    hours = demand(work).hours_per_month.sum()
    assert 8 < hours < 25


def test_samples_on_any_accelerator_follow_the_measured_ratio():
    by_slug = {c.accelerator: c.relative_throughput for c in demand(IMAGENET).candidates}
    assert by_slug["nvidia-h100-80gb-sxm"] > by_slug["nvidia-a100-80gb-sxm"] > by_slug["nvidia-t4"]


def test_a_measured_sample_rate_is_taken_as_it_is():
    work = {"kind": "samples", "samples": 3600, "epochs": 10, "samples_per_second": 10}
    found = demand(work | {"goodput": 1}, accelerators=["nvidia-t4"])
    assert found.hours_per_month.sum() == pytest.approx(1)
    assert found.accelerator == "nvidia-t4"


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("workload", "field", "words"),
    [
        (training(runs=[{"start": "2026-12"}]), "runs.0.start", "allowed are 2027-01 to 2027-12"),
        (training(runs=[{"start": "2028-01"}]), "runs.0.start", "outside the horizon"),
        (
            training(runs=[*RUNS, {"start": "2027-03", "deadline": "2028-01"}]),
            "runs.1.deadline",
            "after the horizon",
        ),
        (training(accelerator="H1000"), "accelerator", "not a known accelerator"),
        (training(accelerator="A100"), "accelerator", "ambiguous"),
        (training(accelerator="T4", precision="bf16"), "precision", "has no bf16"),
        (training(tokens_per_second_per_accelerator=3000), "accelerator", "where was it measured"),
        (training(measured_accelerator_hours=3000), "accelerator", "where was it measured"),
        (
            {"kind": "samples", "samples": 1, "epochs": 1, "samples_per_second": 1},
            "accelerator",
            "where was it measured",
        ),
        (IMAGENET | {"benchmark": "resnet"}, "benchmark", "closest are"),
        (IMAGENET | {"precision": "fp8"}, "benchmark", "was not measured at fp8; allowed"),
        (training(sequence_length=100_000_000), "accelerator", "no accelerator can do this"),
        (
            training(tokens=1e18, accelerator="T4", runs=RUNS),
            "runs.0.deadline",
            "more than 200,000 accelerators",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_field(workload, field, words):
    error = refusal(workload)
    assert error.field == f"workload.{field}"
    assert words in error.message


@examples(20, 2000)
@given(
    st.floats(1e8, 1e11),
    st.floats(1e9, 1e13),
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(1, 5),
)
def test_every_month_can_be_met_at_its_peak(parameters, tokens, first, last, count):
    first, last = sorted((first, last))
    run = {"start": f"2027-{first:02d}", "deadline": f"2027-{last:02d}", "count": count}
    work = training(parameters=parameters, tokens=tokens, runs=[run], accelerator="H100 SXM")
    found = demand(work)
    assert (found.hours_per_month <= found.peak_accelerators * HOURS_PER_MONTH + 1e-6).all()
    assert (found.hours_per_month > 0).sum() == last - first + 1
    assert (found.peak_accelerators % count == 0).all()
