"""Work of hours with months to do it in is told as something that somebody can do."""

from __future__ import annotations

from typing import Any

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.request.comparison import read_request
from planner.costing.advice.part_words import AT_ANY_TIME, IN_TURN, describe_choice
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

EACH: dict[str, Any] = {"start": "2027-01", "deadline": "2027-04"}


def asked(hours: float, *runs: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Runs of so many hours on a machine of eight."""
    workload = {
        "kind": "training",
        "parameters": 7e9,
        "tokens": 1e10,
        "accelerator": "H100",
        "measured_accelerator_hours": 8 * hours,
        "runs": list(runs or (EACH,)),
    }
    return request_of(horizon_months=4, workload=workload, **fields)


def answer_to(hours: float, *runs: dict[str, Any], **fields: Any) -> ComparisonAnswer:
    return compare(asked(hours, *runs, **fields), catalog(offer("50")), today=TODAY)


def test_hours_of_one_month_may_be_worked_in_any() -> None:
    answer = answer_to(16)
    assert answer.verdict.sentence.startswith(
        "Rent 1 × p5.48xlarge (8 × H100 SXM5 80 GB) on demand in AWS us-east-1 for 16 hours at any "
        "time from January 2027 to April 2027. It costs 800.00 USD in all"
    )
    assert not any("spread evenly" in text for text in answer.warnings)  # a small job


def test_the_payments_by_month_are_said_to_be_spread() -> None:
    larger = asked(900)
    larger["workload"]["accelerators_per_job"] = 16
    answer = compare(larger, catalog(offer("50")), today=TODAY)
    assert "for 450 hours each at any time from" in answer.verdict.sentence
    assert any(
        "at any time from January 2027 to April 2027, and the payments of the plan are spread "
        "evenly over these months" in text
        for text in answer.warnings
    )


def test_more_hours_than_a_month_has_take_their_months() -> None:
    sentence = answer_to(740).verdict.sentence
    assert "for 740 hours from January 2027. It costs 37,000 USD over 4 months" in sentence


def test_several_runs_may_follow_one_another_where_one_machine_has_the_time() -> None:
    """Rent 9 machines for 34 minutes each read as if 60 runs of four months had to go at once."""
    few, many = (answer_to(16, {**EACH, "count": count}).verdict for count in (24, 240))
    assert "for 64 hours each (at once or one after another) at any time from" in few.sentence
    assert "for 64 hours each at any time from January 2027" in many.sentence


def test_runs_of_several_windows_may_each_be_done_in_its_own() -> None:
    later = {"start": "2027-03", "deadline": "2027-04"}
    sentence = answer_to(16, EACH, later).verdict.sentence
    assert (
        "for 32 machine-hours in all, each run at any time in its months, from January 2027 to "
        "April 2027. It costs 1,600 USD over 4 months" in sentence
    )


def test_what_goes_by_the_month_keeps_its_months() -> None:
    assert describe_choice(read_request(asked(16, EACH, EACH))) == IN_TURN
    assert describe_choice(read_request(asked(16))) == AT_ANY_TIME
    assert not describe_choice(read_request(asked(16, {"start": "2027-01"})))
    monthly = [{"start": month, "deadline": month} for month in ("2027-01", "2027-02")]
    assert not describe_choice(read_request(asked(16, *monthly)))
    limited = asked(16, constraints={"monthly_budget": 300})
    assert not describe_choice(read_request(limited))
    kept = asked(16, data={"storage_gib": 100})
    assert not describe_choice(read_request(kept))
    given = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 4}
    assert not describe_choice(read_request(asked(16) | {"workload": given}))
