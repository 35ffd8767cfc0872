"""What a comparison assumes where the request says nothing."""

from __future__ import annotations

import re

import pytest

from planner.costing.assumptions.assumptions import all_defaults, default

CONTRACT_FIELDS = (
    "electricity_per_kwh",
    "pue",
    "colocation_per_kw_month",
    "support_rate_per_year",
    "network_storage_rate",
    "install_cost_rate",
    "staff_fte_per_server",
    "staff_cost_per_year",
    "spare_rate",
    "useful_life_months",
    "residual_rate",
    "lead_time_months",
    "utilisation_ceiling",
    "discount_rate_per_year",
    "cloud_price_trend_per_year",
    "electricity_trend_per_year",
    "tax_rate",
    "spot_interruptions_per_month",
)


def test_every_field_of_the_contract_has_a_sourced_default() -> None:
    """Pages print the source as it stands."""
    for one in map(default, CONTRACT_FIELDS):
        assert one.source
        assert one.unit
        assert 2010 <= one.year <= 2030
        assert not re.search(r"[a-z]_[a-z]", one.source)


def test_a_field_without_default_is_named() -> None:
    with pytest.raises(KeyError, match="unit_price"):
        default("unit_price")


def test_every_value_lies_within_its_range() -> None:
    for one in all_defaults().values():
        assert one.low <= one.value <= one.high, one.field


def test_an_assumption_is_marked_as_one() -> None:
    assert default("demand_growth_sd").assumed
    assert not default("pue").assumed
