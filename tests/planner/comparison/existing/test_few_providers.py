"""Credits whose plan would rent a few hours of a third provider for a few dollars."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
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


AWS_H100, AZURE_H100 = "aws:us-east-1:p5.48xlarge:on_demand", "azure:eastus:ND96:on_demand"
AZURE_SPOT = "azure:eastus/eastus-1:ND96:spot"
BOTH = {AWS_H100: 3.0, AZURE_H100: 727.0}
