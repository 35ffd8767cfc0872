"""A quota holds whole machines: what is larger is left out, and no more are at work at once."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import AssumptionRow, ComparisonAnswer
from planner.costing import scenarios
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY

FIELD = "constraints.quota_edition"
CLOUDS = ("aws", "azure", "gcp")


def asked(*quotas: tuple[str, int], hours: float = 5_840.0, **fields: Any) -> dict[str, Any]:
    stated = [
        {"provider": one, "accelerator": "H100 SXM", "max_accelerators": most}
        for one, most in quotas
    ]
    return {
        "start": "2027-01",
        "horizon_months": 12,
        "workload": {
            "kind": "accelerator_hours", "accelerator": "H100 SXM", "hours_per_month": hours
        },
        "constraints": {"providers": list(CLOUDS), "quotas": stated},
        "on_prem": {"servers": []},
        "cheaper_if": False,
    } | fields  # fmt: skip


def answered(request: dict[str, Any], **fields: Any) -> ComparisonAnswer:
    return compare(request, bundled_catalog(), today=TODAY, **fields)


def test_a_machine_of_eight_does_not_fit_into_quotas_of_four() -> None:
    answer = answered(asked(*((one, 4) for one in CLOUDS)))

    advised = next(one for one in answer.scenarios if one.key is ScenarioKey.HYBRID)
    assert not advised.feasible
    assert {(one.field, one.current_value, one.required_value) for one in advised.relaxations} == {
        (f"constraints.quotas.{i}.max_accelerators", 4, 8) for i in range(3)
    }
    assert answer.verdict is not None
    assert "a quota for H100 SXM5 80 GB at AWS of at least 8" in answer.verdict.sentence
    left_out = [one for one in answer.warnings if "smaller than one machine" in one]
    assert len(left_out) == 3
    assert left_out[0].startswith("The quota for H100 SXM5 80 GB at AWS (4) is smaller than one")


def test_what_a_quota_leaves_out_is_counted_among_the_reasons() -> None:
    """In Oregon AWS sells machines of eight alone."""
    request = asked(("aws", 0))
    request["constraints"] |= {"providers": ["aws"]}

    advised = answered(request).scenarios[-1]

    assert not advised.feasible
    assert any("whose machines are larger" in reason for reason in advised.why_not)
    assert [one.required_value for one in advised.relaxations] == [8]


def test_a_market_too_large_to_be_held_twice_tells_fewer_quotas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What quotas leave out is told by a second market, which takes as much memory again."""
    monkeypatch.setattr(scenarios, "MAX_MODEL_CELLS", -1)

    answer = answered(asked(*((one, 4) for one in CLOUDS)))

    assert not answer.scenarios[-1].feasible
    assert len(answer.scenarios[-1].relaxations) < 3
    assert any("do not fit into the memory" in one for one in answer.scenarios[-1].why_not)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(8))
def test_no_month_has_more_machines_than_a_quota_holds(seed: int) -> None:
    """Counted from the capacity of each plan, by provider and size of machine."""
    draw = random.Random(seed)
    quotas = [(one, draw.choice((1, 4, 8, 12, 20))) for one in CLOUDS]
    hours = draw.choice((700.0, 2_920.0, 5_840.0, 9_000.0, 14_600.0))
    request = asked(*quotas, hours=hours)
    request["workload"] |= {"interruptible": draw.random() < 0.6}
    answer = answered(request)

    for plan in answer.scenarios:
        at_once: dict[tuple[int, str, int], float] = defaultdict(float)
        for row in plan.capacity:
            offer = answer.offers[row.source]
            at_once[row.month, offer.provider, offer.accelerator_count] += row.accelerators
        held: dict[tuple[int, str], int] = defaultdict(int)
        for (month, provider, size), accelerators in at_once.items():
            held[month, provider] += size * math.ceil(accelerators / size - 1e-6)
        assert all(most <= dict(quotas)[provider] for (_, provider), most in held.items())


def test_an_answer_of_before_keeps_its_averages() -> None:
    request = asked(*((one, 4) for one in CLOUDS))
    rows = [row for row in answered(request).assumptions if row.field != FIELD]
    previous = [AssumptionRow.model_validate(row.model_dump()) for row in rows]

    before = answered(request, previous_assumptions=previous)

    assert FIELD not in {row.field for row in before.assumptions}
    assert before.scenarios[-1].feasible
    assert any("can be rented whole" in warning for warning in before.warnings)


@pytest.mark.parametrize(
    ("work", "rented"),
    [
        ({"hours_per_month": 2_920, "peak_accelerators": 16}, [12, 4]),
        ({"hours_per_month": 2_920, "accelerators_per_job": 16}, [12, 4]),
        ({"hours_per_month": 2_920}, [4]),
        ({"hours_per_month": 11_680}, [12, 4]),
    ],
)
def test_parts_of_machines_count_what_works_at_the_peak(
    work: dict[str, Any], rented: list[int]
) -> None:
    """2,920 hours are 4 accelerators on average and 16 for a quarter of the month."""
    request = asked(("aws", 12), ("gcp", 12))
    request["workload"] |= work
    request["constraints"] |= {"allow_partial_nodes": True, "providers": ["aws", "gcp"]}
    offers = [
        {"label": name, "provider": name, "accelerator": "H100 SXM", "accelerator_count": 8,
         "purchase_option": "on_demand", "usd_per_hour": price}
        for name, price in (("aws", 40), ("gcp", 50))
    ]  # fmt: skip
    plan = answered(request | {"use_catalog": False, "custom_offers": offers}).by_key["on_demand"]
    assert [row.accelerators for row in plan.capacity if row.month == 0] == rented
