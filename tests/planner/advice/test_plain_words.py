"""Sentences that a reader of an answer trips over where they say what the plan does not do."""

from __future__ import annotations

from typing import Any

from gpu_cost_planner import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.costing.advice.verdict import describe_alternative


def asked(accelerator: str, hours: float, **fields: Any) -> ComparisonAnswer:
    work = {"kind": "accelerator_hours", "accelerator": accelerator, "hours_per_month": hours}
    return compare(
        {"start": "2027-01", "horizon_months": 24, "workload": work, "cheaper_if": False, **fields}
    ).answer


def test_servers_that_are_bought_are_not_said_to_be_rented_whole() -> None:
    answer = asked("L40S", 500, use_catalog=False, on_prem={"lead_time_months": 0})
    (idle,) = [text for text in answer.warnings if text.startswith("Only 1 of the 8")]
    assert "machines come whole" in idle
    assert "rented" not in idle


def test_a_contract_that_is_kept_is_named_without_a_stray_comma() -> None:
    signed = {
        "label": "Signed",
        "provider": "aws",
        "region": "us-east-1",
        "accelerator": "H100",
        "accelerator_count": 8,
        "price_per_month": 22000,
        "ends": "2027-12",
    }
    answer = asked("H100", 5840, existing={"commitments": [signed]}, on_prem={"servers": []})
    assert answer.verdict is not None
    assert "Signed (8 × H100 SXM5 80 GB) for " in answer.verdict.headline


def test_a_server_that_is_kept_has_its_comma() -> None:
    owned = {"server": "dgx-a100-640gb", "units": 1, "bought": "2026-06"}
    answer = asked("A100-80GB", 4000, on_prem={"already_owned": [owned]})
    assert answer.verdict is not None
    assert ", already owned, for all of the hours" in answer.verdict.headline


def test_the_total_of_what_would_be_possible_is_told_once() -> None:
    answer = asked("T4", 730, cheaper_if=True, constraints={"total_budget": 1}, horizon_months=36)
    told = [describe_alternative(one, "USD") for one in answer.cheaper_if]
    (signed,) = [text for text in told if "without constraints.total_budget" in text]
    assert "Sign a 36-month" in signed
    assert signed.count("USD in all") == 1
