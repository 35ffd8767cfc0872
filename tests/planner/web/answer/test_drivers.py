"""The sliders of the strongest drivers: each stands where the plan does and changes its own box."""

from __future__ import annotations

from decimal import Decimal

import pytest

from planner.web.answer.assumptions import MOST
from tests.planner.web.asking import HOURS, get

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


def test_hours_month_by_month_have_no_slider(client, prices):
    column = "\n".join(["5840"] * 48)
    assert "workload.hours_per_month" not in drivers(
        client, {**OWNING, "workload.hours_per_month": column}
    )


def test_shares_are_in_per_cent(client, prices):
    shares = [one for one in drivers(client, {**OWNING, **SERVER}).values() if "~pct" in one.name]
    assert shares
    assert all(one.value >= 1 for one in shares)


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
