"""What one server has of its own: as if it held for all, beside others, and the guide's example."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import TODAY

PAGE = (Path(settings.BASE_DIR) / "docs" / "guides" / "finance.md").read_text()
REQUEST: dict[str, Any] = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[1])
BRIEF = {"sensitivity": False, "cheaper_if": False, "risk": {"samples": 100}}
LEASE = {"method": "lease", "months": 18, "interest_rate_per_year": 0.09, "balloon_rate": 0.2}
LOAN = {"method": "loan", "months": 20, "deposit_rate": 0.1}


def answer(on_prem: dict[str, Any] | None = None, **fields: Any) -> ComparisonAnswer:
    request = REQUEST | BRIEF | fields
    if on_prem is not None:
        request["on_prem"] = on_prem
    return compare(request, Catalog.of([]), today=TODAY)


def box(**own: Any) -> dict[str, Any]:
    return {"server": "custom", "label": "Box", "accelerator": "H100", "accelerator_count": 8,
            "unit_price": 200_000, "power_kw": 10, **own}  # fmt: skip


def test_the_worked_example() -> None:
    plan = answer().by_key["hybrid"]
    rents = [line.amount for line in plan.lines if line.category == "lease"]
    assert len(rents) == 12
    assert f"12 × {rents[0]:,.2f} USD" in PAGE
    (price,) = [line for line in plan.lines if line.category == "capex"]
    assert (price.month, float(price.amount)) == (0, 120_000)
    assert "To order" in price.label
    serving = {row.month for row in plan.capacity if "To order" in row.source}
    assert min(serving) == 6


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("own", "of_all", "finance"),
    [
        ({"lead_time_months": 5}, {"lead_time_months": 5}, {}),
        ({"useful_life_months": 20}, {"useful_life_months": 20}, {}),
        ({"price_trend_per_year": -0.3}, {}, {"server_price_trend_per_year": -0.3}),
        ({"financing": LEASE}, {"financing": LEASE}, {}),
        ({"financing": LOAN}, {"financing": LOAN}, {}),
        ({"financing": {"method": "purchase"}}, {}, {}),
    ],
)
def test_of_one_server_as_of_all(
    own: dict[str, Any], of_all: dict[str, Any], finance: dict[str, Any]
) -> None:
    fields = {"horizon_months": 36, "workload": REQUEST["workload"] | {"hours_per_month": 5840,
              "peak_accelerators": 8}}  # fmt: skip
    plain = {"lead_time_months": 1, "count_on_resale": True}
    one = answer({**plain, "servers": [box(**own)]}, **fields)
    all_servers = answer(
        {**plain, **of_all, "servers": [box()]}, **fields, finance=REQUEST["finance"] | finance
    )
    for key in ("on_prem", "hybrid"):
        assert one.by_key[key].total_cost == all_servers.by_key[key].total_cost
        assert one.by_key[key].lines == all_servers.by_key[key].lines
    bought = [line for line in one.by_key["on_prem"].lines if line.provider == ""]
    assert bought


def test_a_purchase_of_its_own_beside_a_lease_for_all() -> None:
    leased, bought = box(label="Leased"), box(label="Bought", financing={"method": "purchase"})
    plan = answer({"servers": [leased | {"max_units": 1}, bought | {"max_units": 1}],
                   "financing": LEASE, "lead_time_months": 0}).by_key["on_prem"]  # fmt: skip
    labels = {(line.category, line.label) for line in plan.lines}
    assert ("lease", "Lease: Leased") in labels
    assert ("capex", "Servers: Bought") in labels
    assert ("capex", "Servers: Leased") not in labels


@pytest.mark.parametrize(
    ("own", "field"),
    [
        ({"useful_life_months": 3, "lead_time_months": 3}, "useful_life_months"),
        ({"lead_time_months": 60}, "lead_time_months"),
        ({"useful_life_months": 12, "financing": LEASE}, "financing.months"),
        ({"price_trend_per_year": 2}, "price_trend_per_year"),
    ],
)
def test_what_makes_no_sense_is_refused(own: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        answer({"servers": [box(**own)]})
    assert f"on_prem.servers.0.{field}" in str(refused.value)
