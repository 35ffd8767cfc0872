"""What answers say of servers of one's own: what they are held against, and what they cost."""

from __future__ import annotations

from decimal import Decimal
from math import ceil
from typing import Any

import pytest

from gpu_cost_planner import compare
from planner.contract.amounts import format_money
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import Verdict

HOURS: dict[str, Any] = {"kind": "accelerator_hours"}


def asked(
    accelerator: str, hours: float, peak_accelerators: int | None = None, **fields: Any
) -> ComparisonAnswer:
    workload = HOURS | {"accelerator": accelerator, "hours_per_month": hours}
    if peak_accelerators is not None:
        workload["peak_accelerators"] = peak_accelerators
    request = {"start": "2027-01", "horizon_months": 24, "cheaper_if": False, "sensitivity": False}
    return compare(request | {"workload": workload} | fields).answer


def verdict_of(answer: ComparisonAnswer) -> Verdict:
    assert answer.verdict is not None
    return answer.verdict


def paid(answer: ComparisonAnswer, *categories: str) -> Decimal:
    """What the plan of servers alone pays for some categories."""
    (plan,) = (one for one in answer.scenarios if one.key == "on_prem")
    lines = (one for one in plan.lines if one.category in categories)
    return sum((one.amount for one in lines), Decimal(0))


def test_a_plan_with_a_server_is_not_said_to_cost_less_than_owning_servers() -> None:
    """The next best buys the same server and rents on demand what the plan reserves by date."""
    answer = asked("B200", 5840)
    verdict = verdict_of(answer)
    assert [part.action for part in verdict.decision] == ["buy", "reserve"]
    assert verdict.against is not None
    assert verdict.against.scenario == "on_prem"
    assert verdict.against.words == "owning 1 new server and renting the rest on demand"
    assert f"less than {verdict.against.words}. It pays back" in verdict.sentence
    assert answer.recommendation is not None
    (because,) = (words for words in answer.recommendation.because if "next best" in words)
    assert f"less than {verdict.against.words}, the next best." in because


def test_running_costs_that_exceed_the_purchase_are_told() -> None:
    """A workstation of 3,960 USD costs 6,333 USD to run, most of it people."""
    answer = asked("RTX 4090", 500)
    staff, power, support = (paid(answer, one) for one in ("staff", "power", "support"))
    assert paid(answer, "capex", "network_storage", "spares") < staff + power + support
    assert (
        f"including {format_money(staff + power + support, 'USD')} to run the servers ("
        f"{format_money(staff, 'USD')} for people, {format_money(power, 'USD')} for electricity, "
        f"{format_money(support, 'USD')} for support)"
    ) in verdict_of(answer).sentence


def test_of_servers_in_place_all_is_running_cost() -> None:
    owned = {"already_owned": [{"server": "dgx-a100-640gb", "units": 1, "bought": "2024-06"}]}
    answer = asked("A100-80G", 5000, on_prem=owned)
    told = verdict_of(answer)
    assert f"including {told.total:,.0f} USD to run the servers (" in told.sentence


def test_running_costs_below_the_purchase_are_not_told() -> None:
    assert "to run the servers" not in verdict_of(asked("H100", 5840)).sentence


def test_a_running_cost_by_the_hour_is_not_called_electricity() -> None:
    box = {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8}
    terms = {"unit_price": 1000, "running_cost_per_hour": 2}
    told = verdict_of(asked("H100", 5840, on_prem={"servers": [box | terms]}))
    assert " USD to run the servers, net of" in told.sentence
    assert "electricity" not in told.sentence


@pytest.mark.parametrize(("peak", "is_told"), [(1, True), (4, True), (5, False), (8, False)])
def test_of_a_server_larger_than_the_work_a_smaller_one_is_worth_a_quote(
    peak: int, is_told: bool
) -> None:
    """Eight L40S, of which `peak` work at once, of the 9 % of its hours that it is used for."""
    fields = {"use_catalog": False, "on_prem": {"lead_time_months": 0}}
    answer = asked("L40S", 525, peak_accelerators=peak, **fields)
    (reason,) = verdict_of(answer).reasons
    works = "works" if peak == 1 else "work"
    hint = f" At most {peak} of the server's 8 accelerators {works} at once: ask for a quote"
    assert reason.startswith("The servers bought are in use for 9% of their available hours.")
    assert (hint in reason) == is_told
    assert ("quote" in reason) == is_told


def test_of_several_servers_none_is_said_to_be_too_large() -> None:
    fields = {"use_catalog": False, "on_prem": {"lead_time_months": 0}}
    answer = asked("L40S", 6000, peak_accelerators=9, **fields)
    told = verdict_of(answer)
    assert told.decision[0].units == 2
    assert not any("quote" in reason for reason in told.reasons)


def test_more_hours_that_servers_do_not_save_on_are_explained() -> None:
    """Asked again with 2.3 % more hours, the servers save 24 % of their price, not 25 %."""

    def told(more: float, sensitivity: bool) -> Verdict:
        hours = [9000 * more] * 15 + [18_000 * more] * 15
        workload = HOURS | {"accelerator": "A100-80G", "hours_per_month": hours}
        request = {"start": "2027-01", "horizon_months": 30, "cheaper_if": False}
        workload["peak_accelerators"] = ceil(25 * more)
        fields = {"workload": workload, "sensitivity": sensitivity}
        return verdict_of(compare(request | fields).answer)

    now, later = told(1.0, sensitivity=True), told(1.023, sensitivity=False)
    (turn,) = (one for one in now.switch_points if one.field == "workload.hours")
    assert 1.0 < turn.multiplier < 1.023
    assert "the hours added are rented beside them at a higher price" in turn.sentence
    assert "ask again with those hours" in turn.sentence
    assert now.decision[0].action == "buy"
    assert all(part.action != "buy" for part in later.decision)
