"""Edition 2: the large machine in place of several small ones that cost the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from pricing.market.offers import Offer
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer

SMALL = offer("7", count=1, instance_type="small")
LARGE = offer("56", count=8, instance_type="large")
ALONE: dict[str, Any] = {"horizon_months": 3, "on_prem": {"servers": []}}


def rented(found: Compared) -> dict[str, list[float]]:
    """Machine → its hours of each month."""
    plan = found.scenarios[ScenarioKey.ON_DEMAND]
    return {
        found.inputs.by_key[key].instance_type: hours.tolist()
        for key, hours in plan.used_hours.items()
    }


def test_eight_of_one_are_one_of_eight() -> None:
    found = compared(catalog(SMALL, LARGE), [5840, 0, 11680], **ALONE)
    assert rented(found) == {"large": [730, 0, 1460]}
    assert found.scenarios[ScenarioKey.ON_DEMAND].total_cost == Decimal(7 * (5840 + 11680))


@pytest.mark.parametrize("limit", [{"max_provider_share": 1}, {"max_spot_share": 0.5}])
def test_eight_are_one_beside_a_limit_that_parts_machines(limit: dict[str, float]) -> None:
    """Machines of both sizes are sources of the plan there, each once."""
    spot = offer("20", "spot", count=8, instance_type="large", zone="us-east-1a")
    found = compared(catalog(SMALL, LARGE, spot), [5840, 0, 11680], constraints=limit, **ALONE)
    used = {name: hours for name, hours in rented(found).items() if any(hours)}
    assert used == {"large": [730, 0, 1460]}
    keys = [source.key for source in found.inputs.sources]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("hours", [[4 * 730] * 3, [5840, 6570, 5840]])
def test_the_small_one_stays_where_no_whole_number_of_large_ones_fits(hours: list[int]) -> None:
    assert set(rented(compared(catalog(SMALL, LARGE), hours, **ALONE))) == {"small"}


@pytest.mark.parametrize("fields", [{"region": "eu-west-1"}, {"price": "56.01"}])
def test_it_must_stand_in_the_same_place_at_the_same_price(fields: dict[str, str]) -> None:
    price = fields.pop("price", "56")
    other = offer(price, count=8, instance_type="large", **fields)
    assert set(rented(compared(catalog(SMALL, other), 5840, **ALONE))) == {"small"}


def test_parts_of_machines_need_no_larger_one() -> None:
    limits = {"allow_partial_nodes": True}
    found = compared(catalog(SMALL, LARGE), 5840, constraints=limits, **ALONE)
    assert not any(source.stands_for for source in found.inputs.sources)


@pytest.mark.parametrize("peak", [{}, {"peak_accelerators": 8}])
@pytest.mark.parametrize(
    "limit", [{"max_spot_share": 0.5}, {"max_provider_share": 0.5}, {"min_providers": 2}]
)
def test_a_cheaper_small_one_makes_no_plan_dearer(
    peak: dict[str, int], limit: dict[str, float]
) -> None:
    """A limit may part the time of a machine among offers: half of it spot or of another provider,
    which has no machine to itself."""
    work = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 5840} | peak
    other = offer("41", provider="gcp", region="us-west1", instance_type="a3")
    prices = offer("40"), offer("8", "spot", zone="us-east-1a"), other

    def cheapest(*offers: Offer, rules: int = 6) -> Decimal:
        asked = ALONE | {"workload": work, "constraints": limit, "rules": rules}
        found = compared(catalog(*offers), **asked)
        return found.answer.by_key[ScenarioKey.CLOUD_MIX].require_total()

    assert cheapest(*prices, offer("4.9", count=1)) <= cheapest(*prices)
    if limit == {"max_spot_share": 0.5}:
        before = cheapest(*prices, offer("4.9", count=1), rules=5)
        assert before == Decimal("85848"), "as it was answered before"
