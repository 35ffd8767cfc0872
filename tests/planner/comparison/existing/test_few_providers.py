"""Credits whose plan would rent a few hours of a third provider for a few dollars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.cost_model.spend_pools import SpendPool
from planner.costing.inputs.existing import SupplyLimits
from planner.costing.optimizer.problem import Plan
from planner.costing.plan_with_credits import keep_few_providers
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer

AZURE = {"provider": "azure", "region": "eastus", "instance_type": "ND96"}
GCP = {"provider": "gcp", "region": "us-west1", "instance_type": "a3-highgpu-1g"}


def credited(aws: str, **fields: object) -> Compared:
    """One accelerator, for which a machine of eight at Azure is paid out of a credit for 726.5 of
    the 730 hours of a month, and a small machine at Google in the other months."""
    prices = offer(aws), offer("34", **AZURE), offer("6", count=1, **GCP)
    credit = {"label": "C", "provider": "azure", "amount": 24_701, "expires": "2027-12"}
    asked = {"horizon_months": 12, "on_prem": {"servers": []}, "existing": {"credits": [credit]}}
    return compared(catalog(*prices), 730, **asked | fields)


def bills(found: Compared) -> dict[str, Decimal]:
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    paid = {line.provider: Decimal(0) for line in plan.lines if line.provider}
    for line in plan.lines:
        if line.category != "credit":
            paid[line.provider or "azure"] += line.amount
    return paid


def test_nobody_opens_an_account_for_a_few_dollars() -> None:
    """3.5 hours at 29 USD instead of 34 would save 17.50 USD of about 48,000."""
    found = credited("29")
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    assert bills(found) == {"azure": 730 * 34, "gcp": 11 * 730 * 6}
    assert 0 < plan.gap < 0.002
    with_third = credited("29").scenarios[ScenarioKey.ON_DEMAND]
    assert float(plan.cost) == pytest.approx(float(with_third.cost), abs=25)
    assert float(plan.cost) * (1 - plan.gap) <= float(with_third.cost)


def test_a_limit_on_providers_keeps_what_it_asks_for() -> None:
    found = credited("29", constraints={"min_providers": 3, "min_provider_share": 0.001})
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    assert not plan.feasible or set(bills(found)) == {"aws", "azure", "gcp"}


def test_a_saving_of_a_hundredth_is_worth_an_account() -> None:
    """142 hours at 29 instead of 34 USD save 709 USD, less than a day's 795 and more than 1 % of
    50,063."""
    credit = {"label": "C", "provider": "azure", "amount": 20_000, "expires": "2027-12"}
    found = credited("29", existing={"credits": [credit]})
    assert float(bills(found)["aws"]) == pytest.approx(4_820 / 34 * 29, abs=1)


def test_a_budget_that_leaving_a_provider_breaks_keeps_it() -> None:
    """48,281.50 USD after the credit are within it, 48,299 are not."""
    found = credited("29", constraints={"total_budget": 48_290})
    assert bills(found)["aws"] > 0


ROW = np.where(np.arange(12) == 0, 1.0, 0.0)
QUOTA = {"provider": "azure", "accelerator": H100, "max_accelerators": 8}


def left(
    rented: Mapping[str, float], *, held: str = "", more: float = 0.0, **fields: Any
) -> set[str]:
    """What a plan of a million rents once it has left those providers that it may, for `more`."""
    constraints = fields.pop("constraints", {})
    spot = offer("30", "spot", zone="eastus-1", **AZURE)
    prices = offer("29"), offer("34", **AZURE), spot
    names = ("aws", "azure", "gcp")
    credits = [{"label": x, "provider": x, "amount": 9, "expires": "2027-12"} for x in names]
    found = compared(
        catalog(*prices, offer("6", count=1, **GCP)), 730, horizon_months=12,
        on_prem={"servers": []}, existing={"credits": credits}, constraints=constraints,
    )  # fmt: skip
    inputs = replace(found.inputs, **({"pools": ()} | fields))
    hours = {key: number * ROW for key, number in rented.items()}
    plan = Plan(True, 1e6, 0.0, used_hours={held: ROW} if held else {}, rented_hours=hours)
    kept = keep_few_providers(plan, inputs, lambda one: (1e6 + more * (one is not plan), 0.0))
    return {key for key, row in kept.rented_hours.items() if row.any()}


AWS_H100, AZURE_H100 = "aws:us-east-1:p5.48xlarge:on_demand", "azure:eastus:ND96:on_demand"
AZURE_SPOT = "azure:eastus/eastus-1:ND96:spot"
BOTH = {AWS_H100: 3.0, AZURE_H100: 727.0}


def test_what_costs_nothing_is_left() -> None:
    assert left(BOTH) == {AZURE_H100}


def test_a_saving_of_a_day_is_worth_an_account() -> None:
    assert left(BOTH, more=700) == {AZURE_H100}
    assert left(BOTH, more=900) == set(BOTH), "though that is less than 1 % of a million"


def test_a_provider_stays_that_no_machine_in_use_replaces() -> None:
    of_spot = {AWS_H100: 3.0, AZURE_SPOT: 727.0}
    assert left(of_spot, constraints={"max_spot_share": 1}) == set(of_spot)
    assert left(BOTH, constraints={"quotas": [QUOTA]}) == set(BOTH)
    assert left(BOTH, held=AWS_H100) == {AWS_H100}, "a plan is bound to what it holds"


def test_a_provider_whose_money_counts_is_not_left() -> None:
    pools = tuple(SpendPool("C", name, 9.0, 0, 11, is_credit=True) for name in ("aws", "azure"))
    assert left(BOTH, pools=pools) == set(BOTH)


def test_limits_on_providers_leave_none() -> None:
    assert left(BOTH, supply=SupplyLimits(max_provider_share=1.0)) == set(BOTH)
