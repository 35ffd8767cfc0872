"""A reservation by date holds the hours as estimated, which are no more than an estimate."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY

TUNING = {
    "kind": "training",
    "model": "Llama-3.1-70B",
    "tokens": 3e9,
    "sequence_length": 8192,
    "runs": [{"start": "2027-03", "deadline": "2027-03"}],
}


def answered(work: dict[str, Any], **constraints: Any) -> ComparisonAnswer:
    plain = {"start": "2027-01", "horizon_months": 6, "cheaper_if": False, "risk": {"samples": 100}}
    request = plain | {"workload": work, "constraints": constraints}
    return compare(request, bundled_catalog(), today=TODAY)


def told(answer: ComparisonAnswer) -> list[str]:
    return [text for text in answer.warnings if "reserved by date holds" in text]


def reserves(answer: ComparisonAnswer) -> bool:
    assert answer.verdict
    return any(one.action == "reserve" for one in answer.verdict.decision)


@pytest.mark.parametrize(
    ("work", "constraints"),
    [
        (TUNING, {"purchase_options": ["on_demand"]}),
        (
            {
                "kind": "accelerator_hours",
                "accelerator": "nvidia-b200",
                "hours_per_month": [0, 0, 380, 0, 0, 0],
                "peak_accelerators": 8,
            },
            {},
        ),
    ],
)
def test_nothing_is_told_of_rent_by_the_hour_or_of_hours_that_are_known(
    work: dict[str, Any], constraints: dict[str, Any]
) -> None:
    answer = answered(work, **constraints)
    assert not told(answer)
    assert reserves(answer) is not bool(constraints), "hours that are known are reserved"
