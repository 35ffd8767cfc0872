"""Runs are done sooner than their deadlines ask where that costs less."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.optimizer.work import WorkMeter
from tests.planner.costing.market_of import TODAY, catalog, offer, request_of

MODE = offer(
    "40", "dws_calendar_mode", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g"
)
PRICES = catalog(offer("55.04"), MODE)
DAYS = 21


def asked(deadline: str = "2027-04", **fields: Any) -> dict[str, Any]:
    """A run of 21 days on a machine of eight: 504 hours."""
    workload = {
        "kind": "training",
        "parameters": 7e9,
        "tokens": 1e10,
        "accelerator": "H100",
        "measured_accelerator_hours": 8 * 24 * DAYS,
        "runs": [{"start": "2027-01", "deadline": deadline}],
    }
    return request_of(horizon_months=4, workload=workload, **fields)


def answer_to(request: dict[str, Any]) -> ComparisonAnswer:
    return compare(request, PRICES, today=TODAY)


def test_a_run_is_reserved_in_one_go_rather_than_in_parts_of_every_month() -> None:
    """21 days at 24 × 40 are 20,160; 126 hours a month are three times six days at 24 × 40 and
    126 × 55.04 in April, after the months of one reservation: 24,215.04."""
    answer = answer_to(asked())
    verdict = answer.verdict
    assert verdict is not None
    assert verdict.total == Decimal("20160.00")
    assert [part.action for part in verdict.decision] == ["reserve"]
    assert answer.demand.hours_per_month == pytest.approx((4032.0, 0.0, 0.0, 0.0))
    assert verdict.reasons[0] == (
        "The work is finished by the end of January 2027, before its deadline: spread evenly up to "
        "it, the work would cost 4,055 USD more as stated."
    )


def test_a_run_that_is_done_sooner_for_nothing_is_said_so() -> None:
    """By date it would cost 2 % less, which is too little to sign for."""
    by_date = replace(MODE, price_per_hour=Decimal(54))
    verdict = compare(asked(), catalog(offer("55.04"), by_date), today=TODAY).verdict
    assert verdict is not None
    assert [part.action for part in verdict.decision] == ["rent"]
    assert verdict.reasons[0].endswith("January 2027, before its deadline, at the same cost.")


def total(answer: ComparisonAnswer) -> Decimal | None:
    return answer.recommended.total_cost if answer.recommended else None


def test_a_later_deadline_never_costs_more() -> None:
    totals = [
        total(compare(asked(f"2027-{month:02d}"), PRICES, today=TODAY)) for month in range(1, 5)
    ]
    assert totals == [Decimal("20160.00")] * 4


def test_a_run_is_spread_where_nothing_is_gained() -> None:
    """By the hour it costs as much in every month, and later in present value less."""
    answer = compare(asked(), catalog(offer("55.04")), today=TODAY)
    assert answer.demand.hours_per_month == pytest.approx((1008.0,) * 4)


def test_other_months_are_tried_while_more_than_a_fiftieth_may_be_saved() -> None:
    """15 days at 24 × 40 in January are 14,400; five in each of three months, while prices fall by
    a fifth a year, 14,136.33. Before, the first was within a tenth of the least and stood."""
    request = asked(finance={"cloud_price_trend_per_year": -0.2})
    request["workload"]["measured_accelerator_hours"] = 8 * 24 * 15
    assert total(compare(request, PRICES, today=TODAY)) == Decimal("14136.33")


def test_what_is_not_done_by_then_has_until_the_deadline() -> None:
    """In 1 of 10 outcomes the work takes 1.7 times as long: more than the months that it is laid
    over, not more than those to its deadline."""
    workload = {
        "kind": "training",
        "parameters": 13e9,
        "tokens": 7e10,
        "accelerator": "H100",
        "runs": [{"start": "2027-01", "deadline": "2027-04"}],
    }
    answer = answer_to(asked() | {"workload": workload})
    busy = [hours for hours in answer.demand.hours_per_month if hours]
    assert len(busy) < 4
    assert sum(busy) * 1.5 > len(busy) * 8 * 730
    assert not any("not done by its deadline" in words for words in answer.warnings)


def test_what_would_be_cheaper_is_what_the_changed_request_then_costs() -> None:
    """Of plans with a rule lifted the spread one counts too: by spot it costs less."""
    spot = offer("5", "spot", zone="us-east-1a")
    prices = catalog(offer("55.04"), MODE, spot)
    request = asked(cheaper_if=True)
    answer = compare(request, prices, today=TODAY)
    lifted = next(one for one in answer.cheaper_if if one.field == "workload.interruptible")
    consented = {**request, "workload": {**request["workload"], "interruptible": True}}
    again = compare(consented, prices, today=TODAY)
    assert again.verdict is not None
    assert again.verdict.total == lifted.total


def test_what_a_consent_would_save_is_what_asking_with_it_saves_though_sooner_costs_less() -> None:
    """Spot cheaper than any price by date: who consents is answered with the run spread evenly,
    as nothing is then reserved by date, though prices rise. What the consent is said to save is
    of that plan too."""
    prices = catalog(offer("55.04"), MODE, offer("5", "spot"))
    finance = {"cloud_price_trend_per_year": 0.3}
    request = asked(cheaper_if=True, finance=finance)
    first = compare(request, prices, today=TODAY)
    assert first.demand.hours_per_month[1] == 0
    lifted = next(one for one in first.cheaper_if if one.field == "workload.interruptible")
    workload = {**request["workload"], "interruptible": True}
    again = compare({**request, "workload": workload}, prices, today=TODAY)
    assert again.demand.hours_per_month[1] > 0
    assert again.verdict is not None
    assert again.verdict.total == lifted.total


def test_a_budget_that_is_too_low_for_months_apart_may_do_for_one_reservation() -> None:
    """Spread it takes 24,215.04: no plan under 20,160. In one go it is 20,160."""
    verdict = answer_to(asked(constraints={"total_budget": 20160})).verdict
    assert verdict is not None
    assert verdict.total == Decimal("20160.00")
    assert verdict.reasons[0].endswith("spread evenly up to it, no plan would keep to the limits.")


def test_the_proof_is_of_the_months_that_the_run_is_laid_over() -> None:
    """Not every way to lay a run over its months is planned."""
    laid = answer_to(asked()).recommendation.because[-1]
    assert laid.startswith("Proven for the hours of these months: no plan")
    spread = compare(asked(), catalog(offer("55.04")), today=TODAY).recommendation.because[-1]
    assert spread.startswith("Proven: no plan")


def test_questions_of_one_meter_are_answered_as_those_of_one_each() -> None:
    """A batch of some shares a budget; what others took of it is no reason to try less."""
    work = WorkMeter(700_000)
    work.charge(300_000)
    assert total(compare(asked(), PRICES, today=TODAY, work=work)) == Decimal("20160.00")
