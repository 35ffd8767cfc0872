"""Joint samples: demand without a drift, prices of their own processes, the same for a seed."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis.outcomes import (
    PriceDrivers,
    RiskParameters,
    draw_outcomes,
    find_drivers,
)
from planner.costing.price_processes.process import PriceKind
from pricing.market.clouds import PARTITIONS
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import CATALOG, catalog, offer
from tests.planner.costing.price_processes.marginal import interval, sorted_log_factors

NOTHING = PriceDrivers((), {})
MANY = RiskParameters(samples=20_000, seed=3, demand_growth_sd=0.2)


@pytest.fixture(scope="module")
def comparison() -> Compared:
    return compared(horizon_months=36)


def test_demand_keeps_its_mean_and_its_spread_stays_bounded() -> None:
    """After ten years the median is at 96 %, where a growth rate drawn once left a seventh."""
    growth = draw_outcomes(MANY, NOTHING, 121).growth
    assert growth.mean(axis=0) == pytest.approx(np.ones(121), abs=0.01)
    assert np.log(growth).std(axis=0)[[0, 12]] == pytest.approx([0.0, 0.2], abs=0.005)
    limit = 0.2 / (1 - 0.5) ** 0.5
    assert np.log(growth).std(axis=0)[120] == pytest.approx(limit, abs=0.01)
    assert np.median(growth[:, 120]) == pytest.approx(np.exp(-0.5 * limit**2), abs=0.01)


def test_each_price_has_the_spread_of_its_process(comparison: Compared) -> None:
    """p10 to p90 of moves over twelve months, on demand, spot, commitments and hardware."""
    drivers = find_drivers(comparison.inputs)
    prices = draw_outcomes(replace(MANY, samples=8000), drivers, 36).prices
    kinds = {process.kind for process in drivers.processes}
    assert kinds == {
        PriceKind.LIST, PriceKind.SPOT, PriceKind.COMMITMENT, PriceKind.HARDWARE
    }  # fmt: skip
    for process, path in zip(drivers.processes, prices, strict=True):
        low, high = np.quantile(np.log(path[:, 12]), (0.1, 0.9))
        expected = np.log(interval(process, 12, (0.1, 0.9)))
        assert high - low == pytest.approx(expected[1] - expected[0], abs=0.07), process.kind
        assert np.log(path[:, 12]).std() == pytest.approx(
            sorted_log_factors(process, 12).std(), abs=0.05
        )


def test_rents_and_resale_values_fall_together(comparison: Compared) -> None:
    drivers = find_drivers(comparison.inputs)
    prices = np.log(draw_outcomes(MANY, drivers, 36).prices)
    by_kind = {process.kind: prices[i, :, 24] for i, process in enumerate(drivers.processes)}
    hardware = by_kind[PriceKind.HARDWARE]
    for kind in (PriceKind.LIST, PriceKind.SPOT):
        assert np.corrcoef(by_kind[kind], hardware)[0, 1] > 0.05, kind


def test_resale_values_and_given_trends_stay_the_mean(comparison: Compared) -> None:
    drivers = find_drivers(comparison.inputs)
    kept = replace(MANY, samples=3000, keeps_price_trend=True)
    prices = draw_outcomes(kept, drivers, 36).prices
    assert prices.mean(axis=1) == pytest.approx(np.ones_like(prices.mean(axis=1)))


def test_a_given_spread_replaces_the_processes(comparison: Compared) -> None:
    drivers = find_drivers(comparison.inputs)
    given = replace(
        MANY, price_sd=0.1, residual_sd=0.3, draws_rental_prices=False, draws_hardware_prices=False
    )
    prices = np.log(draw_outcomes(given, drivers, 36).prices)
    for i, process in enumerate(drivers.processes):
        if process.kind is PriceKind.HARDWARE:
            assert (prices[i, :, :36] == 0).all()
            assert prices[i, :, 36].std() == pytest.approx(0.3, abs=0.01)
        else:
            assert prices[i, :, 12].std() == pytest.approx(0.1, abs=0.005)


def _process_of(price: str, option: str, **fields: Any) -> Any:
    added = offer(price, option, **fields)
    limits = {"partitions": list(PARTITIONS)}
    one = compared(catalog(*CATALOG_OFFERS, added), constraints=limits)
    drivers = find_drivers(one.inputs)
    return drivers.processes[drivers.of_source[added.id]]


CATALOG_OFFERS = tuple(CATALOG.offers.offer(i) for i in range(len(CATALOG.offers)))


def test_a_gpu_cloud_rents_at_market_prices_and_a_large_cloud_by_its_list() -> None:
    cloud = _process_of("1.9", "on_demand", count=1, provider="lambda", instance_type="gpu_1x")
    assert (cloud.kind, cloud.place) == (PriceKind.MARKET, "lambda")
    drivers = find_drivers(compared().inputs)
    listed = {p.place for p in drivers.processes if p.kind is PriceKind.LIST}
    assert "aws" in listed


def test_spot_starts_from_its_own_discount(comparison: Compared) -> None:
    spot = [p for p in find_drivers(comparison.inputs).processes if p.kind is PriceKind.SPOT]
    assert [p.place for p in spot] == ["aws/us-east-1"]
    assert np.exp(spot[0].discount or 0.0) == pytest.approx(22.00 / 55.04)
