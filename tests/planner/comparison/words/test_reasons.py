"""Why to buy: no reason argues against the advice that it stands below."""

from __future__ import annotations

import re

import pytest

from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

SERVER = {"servers": [{"server": "dgx-h100", "unit_price": 300_000}], "lead_time_months": 0}
NODES = catalog(offer("60"))


def reason(**fields: object) -> str:
    """What is said of the use of the servers that are bought."""
    answer = compared(NODES, on_prem=SERVER, **fields).answer
    assert answer.verdict.decision[0].action == "buy"
    return next(one for one in answer.verdict.reasons if "are in use for" in one)


@pytest.mark.parametrize("hours", [8 * 730, 8 * 600])
def test_busy_servers_are_held_against_the_use_from_which_they_pay(hours: int) -> None:
    words = reason(hours=hours, horizon_months=36)
    use, least = (int(one) for one in re.findall(r"(\d+)%", words))
    assert use >= least


def test_servers_that_idle_as_the_rented_machine_would_are_said_to() -> None:
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730,
            "peak_accelerators": 1}  # fmt: skip
    words = reason(workload=work, horizon_months=36)
    both = "rented machines are paid for whole too, used or not. At most 1 of the server's 8"
    assert both in words
    assert words.count("%") == 1


def test_owning_is_held_against_the_plan_only_where_its_plan_owns() -> None:
    """Servers that would arrive after the work: even the plan of owning rents alone."""
    late = {**SERVER, "lead_time_months": 3}
    prices = catalog(offer("60"), offer("3", "reserved", term_months=12))
    hours = [5840, 5840, *[0] * 10]
    answer = compared(prices, hours=hours, horizon_months=12, on_prem=late).answer
    assert answer.verdict.decision[0].action == "commit"
    own = next(one for one in answer.scenarios if one.key == "on_prem")
    assert own.total_cost > answer.verdict.total
    assert not any("Owning servers instead" in one for one in answer.verdict.reasons)


def test_commitments_are_no_subject_where_nothing_is_rented() -> None:
    """Servers in place do all of the work, which fills half of a year."""
    hours = [5840] * 6 + [0] * 6
    own = {"servers": [], "already_owned": [{"server": "dgx-h100", "bought": "2026-06"}]}
    prices = catalog(offer("60"), offer("50", "reserved", term_months=12))
    kept = compared(prices, hours=hours, horizon_months=12, on_prem=own).answer
    assert [part.action for part in kept.verdict.decision] == ["keep"]
    assert not any("commitment" in one for one in kept.verdict.reasons)
    rented = compared(prices, hours=hours, horizon_months=12, on_prem={"servers": []}).answer
    assert any("a commitment is paid for" in one for one in rented.verdict.reasons)


def test_machines_that_rent_whole_for_a_part_of_them_are_said_to_idle() -> None:
    """One accelerator at work in a machine of eight: 12.5 % of what is paid for."""
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 730,
            "peak_accelerators": 1}  # fmt: skip
    words = (
        "Machines are rented whole: 12% of the accelerator-hours paid for are used. An accelerator "
        "that is offered in smaller machines may cost less."
    )
    assert words in compared(NODES, workload=work, horizon_months=12).answer.verdict.reasons
    three = work | {"hours_per_month": 2190, "accelerators_per_job": 3, "peak_accelerators": 3}
    told = compared(NODES, workload=three, horizon_months=12).answer
    assert words.replace("12%", "38%") in told.verdict.reasons
    assert not any("jobs of 3" in one for one in told.warnings)
    busy = compared(NODES, hours=5840, horizon_months=12).answer.verdict.reasons
    assert not any("are used. An" in one for one in busy)


def test_a_difference_is_that_of_the_totals_as_shown() -> None:
    """525,600.44 less 438,000.61 is 87,599.83, but a reader subtracts 438,001 from 525,600."""
    prices = catalog(offer("60.00005"), offer("50.00007", "reserved", term_months=12))
    answer = compared(prices, hours=5840, horizon_months=12).answer
    one = answer.verdict.against
    shown = round(one.total) - round(answer.verdict.total)
    assert round(one.difference) != shown
    assert f"; that is {shown:,} USD less than " in answer.verdict.sentence


def test_what_sizing_says_is_said_of_the_accelerators_of_the_plan() -> None:
    """The reference of the demand is an A100, of which the plan has none."""
    work = {"kind": "training", "parameters": 1e8, "tokens": 1e9}
    prices = catalog(offer("13", accelerator="nvidia-l4", instance_type="g6.48xlarge"))
    asked = compared(prices, workload=work, horizon_months=12, on_prem={"servers": []})
    borrowed = "L4 has no language-model benchmark at bf16: its rate is that of the H100 SXM5 80 GB"
    assert asked.demand.accelerator != "nvidia-l4"
    assert borrowed not in " ".join(asked.demand.warnings)
    assert borrowed in " ".join(asked.answer.warnings)
    assert asked.demand.warnings_on(()) == asked.demand.warnings


def test_what_is_rented_before_servers_and_beside_them_is_as_much_as_is_rented() -> None:
    """The decision rents 6%: 1% of it before the first server is no part of its own."""
    hours = [600.0 * month for month in range(1, 37)]
    prices = catalog(offer("55.04"), offer("6.88", count=1, instance_type="p5.4xlarge"))
    told = compared(prices, hours=hours, horizon_months=36).answer.verdict
    (rented,) = [one for one in told.decision if one.action == "rent"]
    (words,) = [one for one in told.reasons if "are rented" in one]
    assert rented.sentence.endswith("for 6% of the hours")
    assert words.startswith("6% of the hours are rented alongside the servers")


@pytest.mark.parametrize(
    ("count", "peak", "hours", "told"),
    [(1, 8, 4380, True), (8, 8, 4380, False), (1, 8, 5840, False), (1, None, 4380, False)],
)
def test_hours_that_are_taken_to_fall_together_are_told(
    count: int, peak: int | None, hours: float, told: bool
) -> None:
    """Of eight machines paid for all month some may be needed for a part of the day alone; of one
    machine of eight none can be left."""
    committed = catalog(
        offer(str(8 * count), count=count),
        offer(str(4 * count), "reserved", count=count, term_months=12),
    )
    work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": hours,
            "peak_accelerators": peak}  # fmt: skip
    on_prem = {"servers": []}
    answer = compared(committed, workload=work, horizon_months=24, on_prem=on_prem).answer
    assert answer.verdict.decision[0].action == "commit"
    words = [one for one in answer.warnings if "are assumed to fall together" in one]
    assert bool(words) == told
    if told:
        assert words[0].startswith(
            "4,380 hours a month at a peak of 8 are assumed to fall together: 8 accelerators for "
            "548 of 730 hours and none for the rest."
        )


@pytest.mark.parametrize(
    ("hours", "length"), [([10] + [0] * 11, " in all"), ([10] * 12, " over 1 year")]
)
def test_a_small_job_of_one_month_costs_so_much_in_all(hours: list[int], length: str) -> None:
    """19 hours in one month were told to cost 68.43 USD over 3 years."""
    found = compared(catalog(offer("6", count=1)), hours, horizon_months=12)
    verdict = found.answer.verdict
    assert verdict.is_small
    assert f" USD{length}" in verdict.sentence


@pytest.mark.parametrize(("reserved", "told"), [("49.5", True), ("48", False)])
def test_a_contract_that_saves_hardly_anything_is_said_to(reserved: str, told: bool) -> None:
    """1 % of 12 × 730 × 50 is 4,380 USD."""
    prices = catalog(offer("50"), offer(reserved, "reserved", term_months=12))
    found = compared(prices, 5840, horizon_months=12, on_prem={"servers": []})
    reasons = [one for one in found.answer.verdict.reasons if one.startswith("Signing saves")]
    assert found.answer.verdict.decision[0].action == "commit"
    assert bool(reasons) == told
    if told:
        assert reasons[0].startswith("Signing saves 4,380 USD (1.0%) against renting on demand")
