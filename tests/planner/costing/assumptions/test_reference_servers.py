"""The servers that can be bought."""

import pytest

from planner.costing.assumptions import reference_servers
from pricing.common.invalid_input import InvalidInput
from pricing.market import accelerators


def test_an_unknown_server_is_refused_with_the_closest_and_the_way_out() -> None:
    with pytest.raises(InvalidInput, match=r"'dgx-h10' is not a known server.*dgx-h100.*custom"):
        reference_servers.get("dgx-h10", "on_prem.servers.0.server")


def test_every_server_holds_a_known_accelerator_and_plausible_figures() -> None:
    for one in reference_servers.all_servers():
        assert accelerators.get(one.accelerator).memory_gib > 0
        assert one.unit_price_usd in one.unit_prices_usd
        assert one.unit_prices_usd[0] > 0
        assert 0 < one.idle_power_kw < one.power_kw, one.slug
        assert one.accelerator_count >= 1
        assert one.source, one.slug
        assert 2010 <= one.price_year <= 2030, one.slug


def test_power_covers_the_accelerators_own() -> None:
    for one in reference_servers.all_servers():
        tdp_w = accelerators.get(one.accelerator).tdp_w
        assert tdp_w is not None
        assert one.power_kw >= one.accelerator_count * tdp_w / 1000 * 0.9, one.slug


def test_estimated_fields_are_marked_and_explained() -> None:
    for one in reference_servers.all_servers():
        assert all(hasattr(one, field) for field in one.unverified)
        if "idle_power_kw" in one.unverified:
            assert "idle" in one.notes, one.slug


def test_the_lenovo_server_costs_what_its_published_case_says() -> None:
    assert reference_servers.get("lenovo-sr675-v3-8x-h100-nvl").unit_price_usd == 833_806
