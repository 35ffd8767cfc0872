"""A name that several accelerators share is read as one of them; the others may cost far less."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_cost_planner import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import Alternative

SXM, PCIE = "nvidia-a100-80gb-sxm", "nvidia-a100-80gb-pcie"
FIELD = "constraints.accelerators"


def asked(accelerator: str, **fields: Any) -> ComparisonAnswer:
    """Four accelerators around the clock in Canada, where eight SXM cards are the least."""
    work = {"kind": "accelerator_hours", "accelerator": accelerator, "hours_per_month": 2920}
    limits = {"countries": ["CA"]} | fields.pop("constraints", {})
    return compare(
        {
            "start": "2027-01",
            "horizon_months": 12,
            "workload": work,
            "constraints": limits,
            **fields,
        }
    ).answer


def named(answer: ComparisonAnswer) -> list[Alternative]:
    return [one for one in answer.cheaper_if if one.field == FIELD]


def test_the_card_that_shares_the_name_is_offered_with_its_saving() -> None:
    answer = asked("A100-80GB")
    (other,) = named(answer)
    assert other.value == (SXM, PCIE)
    assert "A100 PCIe 80 GB" in other.plan
    assert "A100-80GB is read as A100 SXM4 80 GB" in other.why
    again = asked("A100-80GB", constraints={FIELD.rpartition(".")[2]: list(other.value)})
    assert answer.verdict is not None
    assert again.verdict is not None
    assert again.verdict.total == other.total
    saved = answer.verdict.expected_present_value - again.verdict.expected_present_value
    assert float(other.saving) == pytest.approx(float(saved), rel=0.1)


def test_a_name_of_one_card_and_a_stated_choice_offer_none() -> None:
    assert not named(asked(SXM))
    assert not named(asked("A100-80GB", constraints={"accelerators": [SXM]}))
