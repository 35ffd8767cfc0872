"""The sliders of the strongest drivers: each stands where the plan does and changes its own box."""

from __future__ import annotations

from decimal import Decimal

import pytest

from planner.web.answer.assumptions import MOST
from tests.planner.web.asking import HOURS, TRAINING, get, text

ASKED = {**HOURS, "sensitivity": "true"}
OWNING = {**ASKED, "horizon_months": "48", "workload.hours_per_month": "5840"}
SERVER = {"on_prem.servers.0.server": "dgx-h100", "on_prem.payback_margin~pct": "0"}


def drivers(client, asked):
    page = get(client, "plan", asked).context["page"]
    return {one.name: one for one in page.drivers}


def test_the_strongest_figures_of_the_answer_are_the_sliders(client, prices):
    page = get(client, "plan", {**OWNING, **SERVER}).context["page"]
    effects = [driver.row.effect for driver in page.drivers]
    assert 2 <= len(effects) <= MOST
    assert effects == sorted(effects, reverse=True)
    assert all(one.low <= one.value <= one.high for one in page.drivers)


def test_hours_are_changed_where_the_address_gives_them(client, prices):
    page = get(client, "plan", OWNING).context["page"]
    one = next(driver for driver in page.drivers if driver.name == "workload.hours_per_month")
    assert (one.value, one.unit) == (Decimal(5840), "h")
    assert float(one.low) == pytest.approx(4672, rel=0.01)
    fewer = {**OWNING, one.name: "5500", "sensitivity": "false"}
    less = get(client, "plan", fewer).context["page"].recommended.total_cost
    assert less < page.recommended.total_cost


@pytest.mark.sweep
def test_tokens_stand_for_the_hours_of_a_training_in_the_unit_of_their_box(client, prices):
    found = drivers(client, {**TRAINING, "workload.tokens~bn": "2000", "horizon_months": "24"})
    assert found["workload.tokens~bn"].value == 2000
    assert found["workload.tokens~bn"].unit == "billion"
    asked = {name: value for name, value in TRAINING.items() if name != "workload.tokens~bn"}
    found = drivers(client, {**asked, "workload.tokens~mn": "2000000", "horizon_months": "24"})
    assert found["workload.tokens~mn"].unit == "million"


def test_hours_month_by_month_have_no_slider(client, prices):
    column = "\n".join(["5840"] * 48)
    assert "workload.hours_per_month" not in drivers(
        client, {**OWNING, "workload.hours_per_month": column}
    )


@pytest.mark.sweep
def test_prices_of_renting_move_all_list_prices_unless_there_are_discounts(client, prices):
    name = "price_adjustments.0.multiplier"
    before = drivers(client, ASKED)[name]
    assert before.value == 1
    cheaper = get(client, "plan", {**ASKED, name: "0.8"}).context["page"]
    assert {one.multiplier for one in cheaper.answer.offers.values()} == {0.8}
    assert next(one for one in cheaper.drivers if one.name == name).value == Decimal("0.8")
    discounts = {**ASKED, name: "0.8", "price_adjustments.0.provider": "aws"}
    assert name not in drivers(client, discounts)


@pytest.mark.sweep
def test_the_price_of_the_only_server_is_its_reference_price_until_it_is_changed(client, prices):
    name = "on_prem.servers.0.unit_price"
    asked = {**OWNING, **SERVER}
    one = drivers(client, asked).get(name)
    assert one is not None
    assert one.unit == "USD"
    assert one.value > 100_000
    assert drivers(client, {**asked, name: "300000"})[name].value == 300_000


def test_shares_are_in_per_cent(client, prices):
    shares = [one for one in drivers(client, {**OWNING, **SERVER}).values() if "~pct" in one.name]
    assert shares
    assert all(one.value >= 1 for one in shares)


def test_the_page_holds_them_out_of_sight_for_scripts_to_show(client, prices):
    page = text(get(client, "plan", OWNING))
    assert '<div class="drivers" data-drivers hidden>' in page
    assert 'data-driver="workload.hours_per_month"' in page


def test_an_end_at_the_value_of_the_plan_has_its_total(client, prices):
    """Lines are rounded to the cent one by one, an analysis once: 43,776 stood beside 43,777."""
    page = get(client, "plan", {**ASKED, "workload.hours_per_month": "583.34"}).context["page"]
    row = next(one for one in page.answer.sensitivity if one.field.endswith("price_trend_per_year"))
    assert row.high == 0
    plan = page.recommended
    assert row.total_at_high == plan.total_cost
    assert row.net_present_cost_at_high == plan.net_present_cost
    assert row.total_at_low != plan.total_cost


@pytest.mark.parametrize("hours", ["584", "5840"])
def test_the_value_is_a_position_of_its_slider(client, prices, hours):
    for one in drivers(client, {**ASKED, "workload.hours_per_month": hours}).values():
        assert (one.value - one.low) % one.step == 0
        assert one.low <= one.value <= one.high
