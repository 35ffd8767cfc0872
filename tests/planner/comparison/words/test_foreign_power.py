"""Own servers outside the United States are not counted with its electricity without a word."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY

WORK = {
    "kind": "accelerator_hours",
    "accelerator": "nvidia-h100-80gb-sxm",
    "hours_per_month": 5000,
    "peak_accelerators": 8,
}


def told(constraints: dict[str, Any], **fields: Any) -> list[str]:
    request = {
        "start": "2027-01",
        "horizon_months": 24,
        "cheaper_if": False,
        "sensitivity": False,
        "workload": WORK,
        "risk": {"samples": 100},
        "constraints": {"providers": ["gcp"], **constraints},
    }
    answer = compare(request | fields, bundled_catalog(), today=TODAY)
    return [words for words in answer.warnings if " own servers is counted" in words]


@pytest.mark.parametrize("where", [{"geographies": ["eu"]}, {"countries": ["DE"]}])
def test_a_plan_of_the_eu_is_told_whose_electricity_and_grid_it_counts(where: Any) -> None:
    price, carbon = told(where)
    assert "0.0826 USD/kWh, the average industrial price in the United States" in price
    assert "0.19 EUR/kWh on average in the EU" in price
    assert "416 g CO2e/kWh; in the regions chosen it is" in carbon


def test_elsewhere_no_price_of_the_eu_is_named() -> None:
    price, _ = told({"geographies": ["asia"]})
    assert "EUR" not in price


@pytest.mark.parametrize(
    ("where", "own"),
    [
        ({}, {}),
        ({"countries": ["US"]}, {}),
        ({"geographies": ["eu"]}, {"electricity_per_kwh": 0.2, "g_co2e_per_kwh": 300}),
        ({"geographies": ["eu"]}, {"servers": []}),
    ],
)
def test_nothing_is_told_at_home_or_of_figures_given(where: Any, own: Any) -> None:
    assert not told(where, on_prem=own)


def test_without_a_place_foreign_money_tells_whose_electricity_is_counted() -> None:
    francs = {"currency": "CHF", "exchange_rates": {"CHF": 0.8}}
    (price,) = told({}, **francs)
    assert "0.0826 USD/kWh, the average industrial price in the United States" in price
    assert "although the plan is in CHF and names no place" in price
    assert not told({}, **francs, on_prem={"electricity_per_kwh": 0.2})
    assert not told({}, **francs, on_prem={"servers": []})
    assert not told({"countries": ["US"]}, **francs)
