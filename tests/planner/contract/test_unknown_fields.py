"""A field that a request does not have is answered with the one that was meant."""

from __future__ import annotations

from typing import Any

import pytest

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.validation import parse
from pricing.common.invalid_input import InvalidInput

HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 10}
TRAINING = {"kind": "training", "parameters": 7e9, "tokens": 1e9}
SAMPLES = {"kind": "samples", "benchmark": "x", "samples": 1e6, "epochs": 1}


def refusal_of(workload: dict[str, Any], **fields: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        parse(ComparisonRequest, {"workload": workload} | fields)
    return caught.value.message


@pytest.mark.parametrize(
    ("work", "name", "meant"),
    [
        (TRAINING, "num_layers", "layers"),
        (HOURS, "hours_per_months", "hours_per_month"),
        (HOURS, "horizon_months", "horizon_months, at the top of the request"),
    ],
)
def test_a_name_is_answered_with_the_closest_or_its_place(
    work: dict[str, Any], name: str, meant: str
) -> None:
    expected = f"is not a known field; did you mean {meant}?"
    assert refusal_of(work | {name: 8}) == expected


def test_fields_at_the_top_are_answered_with_where_they_stand() -> None:
    for name, meant in (
        ("providers", "constraints.providers"),
        ("hours_per_month", "workload.hours_per_month"),
        ("currencyy", "currency"),
    ):
        assert refusal_of(HOURS, **{name: 1}) == f"is not a known field; did you mean {meant}?"
    assert "; allowed are break_even, " in refusal_of(HOURS, zzz=1)


def test_a_field_of_another_kind_of_work_is_answered_with_the_kind() -> None:
    expected = "is not a known field; it belongs to kind training"
    assert refusal_of(HOURS | {"tokens": 8}) == expected
    assert (
        refusal_of(TRAINING | {"loader": 8}) == "is not a known field; it belongs to kind samples"
    )
