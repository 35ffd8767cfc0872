"""Hours and peak of each month, given or sized, and what is refused."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from planner.comparison import compare
from planner.contract.request.workload import AcceleratorHours, Training, Workload
from planner.contract.validation import parse
from planner.portfolio.portfolio import plan_portfolio
from planner.sizing.candidates.candidates import nothing_fits
from planner.sizing.demand import compute_demand
from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators
from pricing.market.offers import HOURS_PER_MONTH
from tests.planner.costing.market_of import H100, TODAY, catalog, offer
from tests.properties import examples

START = dt.date(2027, 1, 1)


def workload(**changes):
    given = {
        "kind": "accelerator_hours",
        "accelerator": "nvidia-a100-80gb-sxm",
        "hours_per_month": 1000,
    }
    return parse(AcceleratorHours, given | changes, "workload")


def refusal(months=3, **changes):
    with pytest.raises(InvalidInput) as caught:
        compute_demand(workload(**changes), START, months)
    return caught.value


def test_a_given_peak_holds_in_the_months_with_work():
    demand = compute_demand(workload(hours_per_month=[0, 10], peak_accelerators=8), START, 2)
    assert demand.peak_accelerators.tolist() == [0, 8]


def test_a_list_of_peaks_gives_each_month():
    given = {"hours_per_month": [0, 730, 1460], "peak_accelerators": [5, 4, 16]}
    assert compute_demand(workload(**given), START, 3).peak_accelerators.tolist() == [0, 4, 16]


def test_the_hours_are_exact_and_for_the_named_accelerator():
    demand = compute_demand(workload(), START, 1)
    assert (demand.range_p10_p90, demand.candidates[0].relative_throughput) == ((1, 1), 1)
    assert demand.candidates[0].accelerator == demand.accelerator == "nvidia-a100-80gb-sxm"


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        (
            {"hours_per_month": [1, 2]},
            "hours_per_month",
            "is of 2 months, and the plan lasts 3: add the 1 month missing (0 where "
            "there is no work), plan for 2 months, or give one number that holds in every month",
        ),
        (
            {"hours_per_month": [1] * 5},
            "hours_per_month",
            "take out the 2 months too many, plan for 5 months",
        ),
        ({"hours_per_month": []}, "hours_per_month", "at least 1"),
        ({"hours_per_month": 0}, "hours_per_month", "0 in every month"),
        ({"hours_per_month": [0, 0, 0]}, "hours_per_month", "0 in every month"),
        ({"hours_per_month": -1}, "hours_per_month", "at least 0"),
        ({"hours_per_month": [1, -2, 3]}, "hours_per_month.1", "at least 0"),
        ({"hours_per_month": float("nan")}, "hours_per_month", "finite"),
        ({"hours_per_month": [1, float("inf"), 1]}, "hours_per_month.1", "finite"),
        ({"hours_per_month": True}, "hours_per_month", "true is not a number"),
        ({"hours_per_month": "100"}, "hours_per_month", "'100' is not a number"),
        ({"hours_per_month": None}, "hours_per_month", "null is not a number"),
        ({"hours_per_month": 1e11}, "hours_per_month", "at most"),
        ({"peak_accelerators": 1}, "peak_accelerators", "allowed are 2 or more"),
        ({"peak_accelerators": 0}, "peak_accelerators", "at least 1"),
        ({"peak_accelerators": 2.5}, "peak_accelerators", "whole number"),
        ({"peak_accelerators": [2, 2]}, "peak_accelerators", "the plan lasts 3: add the 1 month"),
        ({"peak_accelerators": [2, 1, 2]}, "peak_accelerators", "month 2 of 3"),
        ({"peak_accelerators": [2, 2.5, 2]}, "peak_accelerators.1", "whole number"),
        ({"peak_accelerators": [0, 0, 0]}, "peak_accelerators", "0 in every month"),
    ],
)
def test_a_bad_value_is_refused_by_field(changes, field, words):
    error = refusal(**changes)
    assert error.field == f"workload.{field}"
    assert words in error.message


def test_why_nothing_fits_names_the_nearest_and_counts_those_alike():
    reasons = {
        "nvidia-l4": "the training does not fit L4 (24 GiB), however many there are",
        "nvidia-t4": "the training does not fit Tesla T4 (16 GiB), however many there are",
        "nvidia-a10": "the training does not fit A10 (24 GiB), however many there are",
        "nvidia-h100-80gb-sxm": "9,100 accelerator-hours in 2 months are too many",
        "nvidia-h200-141gb-sxm": "5,900 accelerator-hours in 2 months are too many",
        "nvidia-a100-40gb-sxm": "the training does not fit A100 SXM4 40 GB, however many there are",
        "intel-gaudi": "no rate of it is known",
    }
    assert nothing_fits(reasons) == (
        "no accelerator can do this work: on H200 SXM 141 GB 5,900 accelerator-hours in 2 months "
        "are too many (1 other accelerator fails likewise); the training does not fit A100 SXM4 "
        "40 GB, however many there are (3 other accelerators fail likewise); no rate of it is "
        "known (1 accelerator)"
    )


def test_the_reason_of_the_only_accelerator_is_not_counted():
    assert nothing_fits({"nvidia-l4": "no rate of fp8"}) == (
        "no accelerator can do this work: no rate of fp8"
    )


START_SIZED = dt.date(2027, 1, 1)
RUNS = [{"start": "2027-03", "deadline": "2027-04"}]
IMAGENET = {"kind": "samples", "samples": 1.281e6, "epochs": 90, "benchmark": "resnet50-lambda"}


def training(**changes):
    return {"kind": "training", "parameters": 7e9, "tokens": 1e12, **changes}


def demand(workload, months=12, accelerators=None):
    return compute_demand(
        TypeAdapter(Workload).validate_python(workload), START_SIZED, months, accelerators
    )


def refusal_sized(workload, months=12, accelerators=None):
    with pytest.raises(InvalidInput) as caught:
        demand(workload, months, accelerators)
    return caught.value


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


def test_without_one_everything_is_a_candidate_or_excluded_with_a_reason():
    found = demand(training())
    candidates = [c.accelerator for c in found.candidates]
    assert found.candidates[0].accelerator == found.accelerator
    assert found.candidates[0].relative_throughput == 1
    assert sorted([*candidates, *found.excluded]) == sorted(a.slug for a in all_accelerators())
    assert all(found.excluded.values())


def test_the_range_and_the_method_come_along():
    found = demand(training())
    low, high = found.range_p10_p90
    assert low < 1 < high
    assert "MFU" in found.method
    assert "Llama 3" in found.method


def test_a_measured_sample_rate_is_taken_as_it_is():
    work = {"kind": "samples", "samples": 3600, "epochs": 10, "samples_per_second": 10}
    found = demand(work | {"goodput": 1}, accelerators=["nvidia-t4"])
    assert found.hours_per_month.sum() == pytest.approx(1)
    assert found.accelerator == "nvidia-t4"


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
        (training(accelerator="80GB"), "accelerator", "ambiguous"),
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
    error = refusal_sized(workload)
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


MARKET = catalog(offer("40"))
REFUSAL = (
    "a job of 16 accelerators at once is more than the peak of 8 (peak_accelerators); allowed are "
    "at most 8, or give a peak of at least 16"
)


def work(job: int, peak: int | list[int], hours: float | list[float] = 2920) -> dict[str, Any]:
    return {
        "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": hours,
        "peak_accelerators": peak, "accelerators_per_job": job,
    }  # fmt: skip


def refusal_of(ask: Any) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as refused:
        ask()
    return refused.value.field, refused.value.message


def test_it_is_refused_behind_every_question() -> None:
    asked = {"workload": work(16, 8)}
    field = "workload.accelerators_per_job"
    assert refusal_of(lambda: compare(asked, MARKET, today=TODAY)) == (field, REFUSAL)
    assert refusal_of(lambda: estimate(asked)) == (field, REFUSAL)
    several = {"projects": [{"name": "a", **asked}, {"name": "b", "workload": work(8, 8)}]}
    refused = refusal_of(lambda: plan_portfolio(several, MARKET, today=TODAY))
    assert refused == (f"projects.0.{field}", REFUSAL)


@pytest.mark.parametrize(
    ("job", "peak", "hours", "month"),
    [
        (8, [8, 4, 8], 1000, " of month 2"),
        (8, [4, 8, 8], [0, 1000, 1000], None),  # no hours, no job
        (8, 4, [0, 1000, 1000], ""),
        (8, 8, 1000, None),
    ],
)
def test_every_month_with_hours_holds_a_job(
    job: int, peak: Any, hours: Any, month: str | None
) -> None:
    asked = AcceleratorHours.model_validate(work(job, peak, hours))
    if month is None:
        assert compute_demand(asked, TODAY, 3).peak_accelerators.max() == 8
        return
    _, message = refusal_of(lambda: compute_demand(asked, TODAY, 3))
    assert message.startswith(
        f"a job of 8 accelerators at once is more than the peak of 4{month} (peak_accelerators); "
    )


def test_a_job_without_a_stated_peak_sets_it() -> None:
    asked = {key: value for key, value in work(16, 8).items() if key != "peak_accelerators"}
    answer = compare({"workload": asked}, MARKET, today=TODAY)
    assert answer.demand.highest_peak == 16


def test_no_fewer_accelerators_than_its_hours_hold_for_are_planned() -> None:
    """One Gaudi 3 holds the run, but takes many more hours: it is sized on two."""
    given = {"kind": "training", "parameters": 7e9, "tokens": 1e9}
    demand = compute_demand(parse(Training, given, "workload"), START, 36, ["intel-gaudi3", H100])
    least = {one.accelerator: one.min_accelerators for one in demand.candidates}
    for slug, (size,) in demand.sizes.items():
        assert least[slug] == (size.accelerators if size.count_words else size.min_accelerators)
    (gaudi,) = demand.sizes["intel-gaudi3"]
    assert least["intel-gaudi3"] == 2 > gaudi.min_accelerators
