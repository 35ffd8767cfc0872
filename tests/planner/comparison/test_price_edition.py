"""Answers with spot name the fit of its prices, and keep it when they are computed again."""

from __future__ import annotations

import pytest

from planner.comparison import compare
from tests.planner.costing.market_of import CATALOG, H100, TODAY


@pytest.mark.sweep
def test_an_answer_of_before_keeps_the_spot_of_its_day() -> None:
    field = "risk.price_process_edition"
    work = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 4000}
    request = {"workload": {**work, "interruptible": True}, "horizon_months": 24}
    answer = compare(request, CATALOG, today=TODAY)
    rows = {row.field: row.value for row in answer.assumptions}
    assert rows[field] == 2
    assert (
        compare(request, CATALOG, today=TODAY, previous_assumptions=answer.assumptions).to_json()
        == answer.to_json()
    )
    former = [row for row in answer.assumptions if row.field != field]
    before = compare(request, CATALOG, today=TODAY, previous_assumptions=former)
    assert field not in {row.field for row in before.assumptions}
    now, then = (one.to_json()["risk"] for one in (answer, before))
    assert then["spot"]["p90"] != now["spot"]["p90"]
    assert then["on_demand"] == now["on_demand"]
    plain = compare({**request, "workload": work}, CATALOG, today=TODAY)
    assert field not in {row.field for row in plain.assumptions}
