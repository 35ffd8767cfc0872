"""Accelerator-hours given by the team, month by month."""

import datetime as dt

import pytest

from planner.contract.request.workload import AcceleratorHours
from planner.contract.validation import parse
from planner.sizing.candidates.candidates import nothing_fits
from planner.sizing.demand import compute_demand
from pricing.common.invalid_input import InvalidInput

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


def test_one_number_counts_for_every_month():
    demand = compute_demand(workload(), START, 3)
    assert demand.hours_per_month.tolist() == [1000, 1000, 1000]


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


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        (
            {"hours_per_month": [1, 2]},
            "hours_per_month",
            "has the hours of 2 months, and the plan lasts 3: add the 1 month missing (0 where "
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
        "nvidia-l4": "one sequence does not fit L4 (24 GiB), however it is split",
        "nvidia-t4": "one sequence does not fit Tesla T4 (16 GiB), however it is split",
        "nvidia-a10": "one sequence does not fit A10 (24 GiB), however it is split",
        "nvidia-h100-80gb-sxm": "9,100 accelerator-hours in 2 months are too many",
        "nvidia-h200-141gb-sxm": "5,900 accelerator-hours in 2 months are too many",
        "nvidia-a100-40gb-sxm": "one sequence does not fit A100 SXM4 40 GB, however it is split",
        "intel-gaudi": "no rate of it is known",
    }
    assert nothing_fits(reasons) == (
        "no accelerator can do this work: on H200 SXM 141 GB 5,900 accelerator-hours in 2 months "
        "are too many (1 other accelerator fails likewise); one sequence does not fit A100 SXM4 "
        "40 GB, however it is split (3 other accelerators fail likewise); no rate of it is known "
        "(1 accelerator)"
    )


def test_the_reason_of_the_only_accelerator_is_not_counted():
    assert nothing_fits({"nvidia-l4": "no rate of fp8"}) == (
        "no accelerator can do this work: no rate of fp8"
    )


def test_equal_reasons_are_counted_once():
    reasons = dict.fromkeys(("nvidia-l4", "nvidia-t4"), "no rate of fp8")
    assert (
        nothing_fits(reasons) == "no accelerator can do this work: no rate of fp8 (2 accelerators)"
    )
