"""A name that several accelerators bear is read as one of them, and the answer says as which."""

from __future__ import annotations

from typing import Any

import pytest

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.portfolio.portfolio import plan_portfolio
from planner.sizing.estimate import estimate
from tests.planner.costing.market_of import H100, TODAY, catalog, offer

MARKET = catalog(offer("40"))
H100_READ = (
    "H100 is read as nvidia-h100-80gb-sxm; if you mean another, name nvidia-h100-80gb-pcie or "
    "nvidia-h100-94gb-nvl."
)
A100_READ = (
    "A100-80GB is read as nvidia-a100-80gb-sxm; if you mean another, name nvidia-a100-80gb-pcie."
)


def hours(name: str) -> dict[str, Any]:
    return {"workload": {"kind": "accelerator_hours", "accelerator": name, "hours_per_month": 2920}}


def asked(name: str = H100, **fields: Any) -> ComparisonAnswer:
    """Over half a year, without what takes long and warns of no name."""
    plain = {"horizon_months": 6, "sensitivity": False, "cheaper_if": False}
    return compare(hours(name) | plain | fields, MARKET, today=TODAY)


def readings(answer: ComparisonAnswer) -> list[str]:
    return [text for text in answer.warnings if " is read as " in text]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["nvidia-h100-80gb-sxm", "H100 SXM", "T4"])
def test_a_name_of_one_alone_needs_no_word(name: str) -> None:
    assert readings(asked(name, constraints={"accelerators": [name]})) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "fields",
    [
        {"constraints": {"accelerators": ["A100-80GB", H100]}},
        {"constraints": {"quotas": [
            {"provider": "aws", "accelerator": "A100-80GB", "max_accelerators": 8}]}},
        {"custom_offers": [{"label": "mine", "accelerator": "A100-80GB", "accelerator_count": 8,
                            "purchase_option": "on_demand", "usd_per_hour": 30}]},
        {"on_prem": {"servers": [{"server": "custom", "label": "box", "accelerator": "A100-80GB",
                                  "accelerator_count": 8, "unit_price": 1e5, "power_kw": 6}]}},
    ],
)  # fmt: skip
def test_it_is_said_wherever_the_name_stands(fields: dict[str, Any]) -> None:
    assert readings(asked(**fields)) == [A100_READ]
    assert readings(asked("H100", **fields)) == [H100_READ, A100_READ]


def test_it_is_said_once() -> None:
    assert readings(asked("H100", constraints={"accelerators": ["H100"]})) == [H100_READ]


def test_estimates_and_portfolios_say_it_too() -> None:
    assert estimate(hours("A100-80GB")).answer.notes[0] == A100_READ
    assert A100_READ not in estimate(hours("A100-80GB SXM")).answer.notes
    several = {"projects": [{"name": name, **hours("H100")} for name in ("a", "b")]}
    assert plan_portfolio(several, MARKET, today=TODAY).warnings.count(H100_READ) == 1


def test_where_another_of_the_same_name_is_sold_the_market_is_told() -> None:
    """Azure's V100 are PCIe cards, which the name does not mean."""
    sold = catalog(
        offer("40"), offer("3", accelerator="nvidia-v100-16gb-sxm"),
        offer("3", provider="azure", accelerator="nvidia-v100-16gb-pcie"),
        offer("3", provider="gcp", accelerator="nvidia-v100-16gb-sxm"),
    )  # fmt: skip
    told = readings(compare(hours("V100"), sold, today=TODAY))
    assert told == [
        "V100 is read as nvidia-v100-16gb-sxm; if you mean another, name nvidia-v100-16gb-pcie, "
        "nvidia-v100-32gb-pcie, nvidia-v100-32gb-sxm or nvidia-v100-32gb-sxm3. The market sells "
        "nvidia-v100-16gb-sxm at AWS, Google Cloud; nvidia-v100-16gb-pcie at Azure."
    ]
    mine = {"label": "mine", "accelerator": "V100", "accelerator_count": 8,
            "purchase_option": "on_demand", "usd_per_hour": 12}  # fmt: skip
    own = compare(hours("nvidia-v100-16gb-sxm") | {"custom_offers": [mine]}, sold, today=TODAY)
    assert readings(own) == told
    alone = hours("V100") | {"custom_offers": [mine], "use_catalog": False}
    assert "The market sells" not in readings(compare(alone, sold, today=TODAY))[0]
