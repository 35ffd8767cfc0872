"""Answers that a reader would not sign, each asked as a team did."""

from typing import Any

from gpu_cost_planner import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import Verdict


def asked(accelerator: str, hours: float, months: int = 12, **fields: Any) -> ComparisonAnswer:
    own = fields.pop("workload", {})
    work = {"kind": "accelerator_hours", "accelerator": accelerator, "hours_per_month": hours}
    work = own if "kind" in own else work | own
    plain = {"start": "2027-01", "horizon_months": months, "workload": work}
    return compare(plain | {"cheaper_if": False, "sensitivity": False} | fields).answer


def verdict(answer: ComparisonAnswer) -> Verdict:
    assert answer.verdict is not None
    return answer.verdict


def credits(*providers: str) -> dict[str, Any]:
    terms = {"amount": 100_000, "expires": "2027-12"}
    return {"credits": [{"label": one, "provider": one, **terms} for one in providers]}


def test_the_same_machines_in_other_months_are_no_rival() -> None:
    """Renting under commitments was said to be the cheapest in 98% of the simulated cases where no
    commitment is part of any plan: credits were used up in another order."""
    advice = verdict(asked("H100", 5840, 6, existing=credits("aws", "gcp")))
    assert advice.against is None or "contract" not in str(advice.decision)


def test_hours_that_change_no_bill_change_no_advice() -> None:
    """A machine of eight is rented all month for 5,840 hours or for half of them, so the server
    bought in its place saves as much: a fall by 42 % was said to end that."""
    places = {"constraints": {"countries": ["AE"]}}
    whole = asked("H100", 5840, sensitivity=True, **places)
    half = asked("H100", 2920, **places)
    turns = {row.field for row in whole.drivers if row.sentence}
    assert "workload.hours" not in turns
    assert "rental_prices.demand" in turns
    assert verdict(half).headline == verdict(whole).headline


def test_work_of_one_card_is_not_explained_by_a_rack() -> None:
    """A GB300 rack of 72 for 3.5 million USD was said to pay for itself, for 5,816 USD of work."""
    runs = [{"start": f"2027-{month:02}"} for month in (1, 4, 7, 10)]
    work = {"kind": "training", "parameters": 7e9, "tokens": 2e9, "optimizer": "lora"}
    work |= {"experiments_factor": 3, "runs": runs}
    answer = asked("H100", 1, workload=work)
    assert not any("rack" in text for text in answer.recommendation.because)
