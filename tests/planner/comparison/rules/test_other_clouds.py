"""Other clouds and marketplaces: on the market, in a plan where they are asked for."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from pricing.market.snapshot import Catalog
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer

MONTH = 730
ANY_CLOUD = ["commercial", "other-clouds", "marketplaces"]
PRICES = (
    offer("55.04"),
    offer("24", provider="lambda", region="all-regions", instance_type="gpu_8x_h100_sxm5"),
    offer("16", provider="vast", region="marketplace", instance_type="8x H100 SXM 80 GB"),
)


def ruled(prices: Catalog = catalog(*PRICES), **fields: Any) -> Compared:
    plain = {"on_prem": {"servers": []}}
    return compared(prices, MONTH * 8, **(plain | fields))


def cost(found: Compared) -> Decimal:
    return found.scenarios[ScenarioKey.ON_DEMAND].total_cost / (24 * MONTH)


def test_a_plan_leaves_them_out_unless_they_are_asked_for() -> None:
    assert cost(ruled()) == Decimal("55.04")


@pytest.mark.parametrize(
    ("limits", "price"),
    [
        ({"partitions": ["commercial", "other-clouds"]}, 24),
        ({"partitions": ANY_CLOUD}, 16),
        ({"providers": ["aws", "lambda"]}, 24),
        ({"providers": ["vast"]}, 16),
    ],
)
def test_they_are_taken_where_they_are_ticked_or_named(limits: dict[str, Any], price: int) -> None:
    assert cost(ruled(constraints=limits)) == price


def test_what_other_clouds_would_save_is_said_and_marketplaces_are_not_pressed() -> None:
    found = ruled(cheaper_if=True).answer
    (one,) = [a for a in found.cheaper_if if "other-clouds" in str(a.value)]
    assert one.field == "constraints.partitions"
    assert one.change == "other clouds as well"
    assert "marketplaces" not in str(one.value)
    assert float(one.saving) > 0
    without = ruled(catalog(PRICES[0]), cheaper_if=True).answer
    assert not [a for a in without.cheaper_if if "other-clouds" in str(a.value)]


@pytest.mark.parametrize(
    ("network_gbps", "price"), [(None, "55.04"), (20.0, "55.04"), (3200.0, "24")]
)
def test_a_job_of_64_takes_machines_alone_whose_network_is_stated(
    network_gbps: float | None, price: str
) -> None:
    other = offer(
        "24", provider="lambda", region="all-regions", instance_type="8x", network_gbps=network_gbps
    )
    work = {
        "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 64 * MONTH,
        "accelerators_per_job": 64,
    }  # fmt: skip
    prices = catalog(PRICES[0], other, PRICES[2])
    found = ruled(prices, workload=work, constraints={"partitions": ANY_CLOUD})
    assert cost(found) == 8 * Decimal(price)
