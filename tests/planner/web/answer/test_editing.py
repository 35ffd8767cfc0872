"""Assumptions edited in place: new figures for an open answer, or messages beside the box."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from planner.web.answer.assumptions import list_assumption_rows
from planner.web.common.query_codec import request_field_types
from tests.planner.web.asking import HOURS, IN_PLACE, TRAINING, WHOLE, get, text


def row(response, path):
    return next(r for r in list_assumption_rows(response.context["page"].answer) if r.path == path)


def test_an_edit_brings_the_figures_alone(client, prices):
    response = get(client, "plan", {**HOURS, "on_prem.pue": "1.3"}, headers=IN_PLACE)
    page = text(response)
    assert "<html" not in page
    assert 'id="figures"' in page
    assert 'name="on_prem.pue"' not in page


def test_an_edit_moves_the_address_and_leaves_empty_boxes_out_of_it(client, prices):
    asked = {**HOURS, "on_prem.pue": "1.3", "finance.tax_rate~pct": ""}
    response = get(client, "plan", asked, headers=IN_PLACE)
    found = parse_qs(urlsplit(response["HX-Push-Url"]).query)
    assert found["on_prem.pue"] == ["1.3"]
    assert "finance.tax_rate~pct" not in found


def test_the_state_of_each_box_follows(client, prices):
    page = text(get(client, "plan", {**HOURS, "on_prem.pue": "1.3"}, headers=IN_PLACE))
    (states,) = re.findall(r'<div id="box-states" data-given="([^"]*)" hx-swap-oob="true"', page)
    assert "a-on-prem-pue" in states.split()
    assert "a-finance-tax-rate" not in states.split()


def test_an_edit_swaps_few_parts_of_the_page(client, prices):
    """Each takes the browser about as long as the whole table of assumptions would."""
    page = text(get(client, "plan", {**HOURS, **WHOLE, "on_prem.pue": "1.3"}, headers=IN_PLACE))
    assert page.count("hx-swap-oob") < 10


@pytest.mark.one_in(3)
@pytest.mark.parametrize("typed", ["8", "8 %", "8%"])
def test_shares_are_edited_in_per_cent(client, prices, typed):
    given = {**HOURS, "finance.discount_rate_per_year~pct": typed}
    found = row(get(client, "plan", given), "finance.discount_rate_per_year")
    assert (found.value, found.unit, found.given) == ("8", "% a year", True)


def test_a_share_written_as_a_fraction_is_shown_in_per_cent(client, prices):
    found = row(get(client, "plan", {**HOURS, "finance.tax_rate": "0.21"}), "finance.tax_rate")
    assert (found.name, found.value) == ("finance.tax_rate~pct", "21")


def test_defaults_stand_in_the_box_as_a_hint(client, prices):
    found = row(get(client, "plan", HOURS), "finance.discount_rate_per_year")
    assert (found.value, found.shown, found.given) == ("", "10", False)


def test_a_choice_is_edited_by_choosing(client, prices):
    found = row(get(client, "plan", HOURS), "finance.depreciation")
    assert found.shown == "Straight line"
    assert ("macrs_5", "MACRS, 5 years") in found.choices


def test_money_is_edited_in_the_currency_asked_for(client, prices):
    euros = {**HOURS, "currency": "EUR", "exchange_rates.EUR": "0.9"}
    assert row(get(client, "plan", euros), "on_prem.electricity_per_kwh").unit == "EUR/kWh"


def test_a_refused_edit_stands_beside_its_box_and_the_figures_stay(client, prices):
    asked = {**HOURS, "on_prem.pue": "0.5", "finance.tax_rate~pct": "many"}
    response = get(client, "plan", asked, headers=IN_PLACE)
    page = text(response)
    assert response["HX-Reswap"] == "none"
    assert "HX-Push-Url" not in response
    assert 'id="figures"' not in page
    assert 'id="a-on-prem-pue-error" hx-swap-oob="true">0.5 is not allowed' in page
    assert 'id="a-finance-tax-rate-error" hx-swap-oob="true"></div>' not in page


def test_the_message_of_a_mended_box_goes(client, prices):
    asked = {**HOURS, "on_prem.pue": "1.2", "finance.tax_rate~pct": "many"}
    page = text(get(client, "plan", asked, headers=IN_PLACE))
    assert 'id="a-on-prem-pue-error" hx-swap-oob="true"></div>' in page


def test_without_scripts_a_refused_edit_opens_the_form_with_everything_typed(client, prices):
    response = get(client, "plan", {**HOURS, "on_prem.pue": "0.5", "name": "Mine"})
    page = text(response)
    assert response.status_code == 400
    assert 'id="id_on_prem.pue_error"' in page
    assert 'value="0.5"' in page
    assert 'value="Mine"' in page


def test_going_back_in_history_gives_the_whole_page(client, prices):
    headers = {**IN_PLACE, "HX-History-Restore-Request": "true"}
    assert "<html" in text(get(client, "plan", HOURS, headers=headers))


def test_empty_boxes_are_left_out_of_the_address(client, prices):
    response = get(client, "plan", {**HOURS, "name": "", "constraints.regions": " "})
    assert response.status_code == 302
    assert "name=" not in response["Location"]
    assert "workload.hours_per_month=4000" in response["Location"]


def test_every_assumption_that_a_request_may_give_can_be_edited(client, prices):
    data = {**HOURS, "risk.samples": "500"}
    rows = list_assumption_rows(get(client, "plan", data).context["page"].answer)
    fixed = {one.path for one in rows if not one.name}
    assert fixed == {
        "risk.demand_half_life_months",
        "risk.spot_waiting_hours_training",
        "risk.spot_waiting_hours_other",
        "risk.spot_patience_hours",
    }
    assert not fixed & request_field_types().keys()
    labels = [one.label for one in rows if not one.name]
    assert not [label for label in labels if "edition" in label or "half life" in label]


def test_what_stands_in_the_box_of_staff_is_short_enough_to_read(client, prices):
    page = get(client, "plan", HOURS).context["page"]
    (staff,) = [one for one in page.boxes if one.label == "Staff"]
    assert staff.shown == "75 accelerators per FTE"


def test_useful_spot_hours_change_what_spot_costs(client, prices):
    def spot(values):
        scenarios = get(client, "plan", values).context["page"].answer.by_key
        return float(scenarios["spot"].total_cost)

    assert spot({**HOURS, "risk.spot_goodput~pct": "50"}) > spot(HOURS) * 1.5


@pytest.mark.sweep
def test_start_horizon_and_what_was_measured_are_edited_beside_the_figures(client, prices):
    asked = TRAINING | {"workload.mfu~pct": "38"}
    boxes = {one.path: one for one in get(client, "plan", asked).context["page"].boxes}
    assert (boxes["start"].value, boxes["horizon_months"].value) == ("2027-01", "6")
    assert (boxes["workload.mfu"].value, boxes["workload.mfu"].given) == ("38", True)
    assert (boxes["workload.goodput"].shown, boxes["workload.goodput"].given) == (
        "estimated",
        False,
    )
    later = get(client, "plan", asked | {"start": "2027-03"}, headers=IN_PLACE)
    assert 'id="plan-title" hx-swap-oob="true">Rent, 1 month from March 2027<' in text(later)


def test_what_a_link_states_as_a_fraction_stays_when_something_else_is_edited(client, prices):
    """As links to share write it, without a unit."""
    page = get(client, "plan", TRAINING | {"workload.mfu": "0.385"}).context["page"]
    (box,) = [one for one in page.boxes if one.path == "workload.mfu"]
    assert (box.name, box.value, box.unit) == ("workload.mfu~pct", "38.5", "%")
    assert (box.given, box.source) == (True, "the request")
    sent = dict(page.kept_address) | {one.name: one.value for one in page.boxes if one.name}
    edited = get(client, "plan", sent | {"on_prem.pue": "1.3"}, headers=IN_PLACE).context["page"]
    assert edited.demand.total_hours == page.demand.total_hours


def test_the_title_of_the_tab_follows_an_edit(client, prices):
    unnamed = {name: value for name, value in HOURS.items() if name != "name"}
    for months in ("6", "9"):
        asked = {**unnamed, "start": "2027-03", "horizon_months": months}
        in_place = text(get(client, "plan", asked, headers=IN_PLACE))
        whole = text(get(client, "plan", asked))
        title = re.search(r"<title>.*?</title>", whole, re.DOTALL)
        assert f"Rent, {months} months from March 2027" in title[0]
        assert title[0] in in_place


def test_hours_that_are_given_ask_for_no_utilisation(client, prices):
    boxes = {one.path for one in get(client, "plan", HOURS).context["page"].boxes}
    assert {"start", "horizon_months"} <= boxes
    assert not {"workload.mfu", "workload.goodput", "exchange_rates.EUR"} & boxes


def test_the_exchange_rate_is_changed_in_place_and_refused_beside_its_box(client, prices):
    asked = HOURS | {"currency": "EUR", "exchange_rates.EUR": "0.5"}
    page = get(client, "plan", asked).context["page"]
    (box,) = [one for one in page.boxes if one.path == "exchange_rates.EUR"]
    assert (box.value, box.unit, box.source) == ("0.5", "EUR per USD", "request")
    dollars = get(client, "plan", HOURS).context["page"].recommended.total_cost
    assert float(page.recommended.total_cost) == pytest.approx(float(dollars) / 2, abs=0.5)
    refused = text(get(client, "plan", asked | {"exchange_rates.EUR": "-1"}, headers=IN_PLACE))
    assert 'id="a-exchange-rates-EUR-error"' in refused


def test_a_refusal_speaks_in_the_unit_of_its_box(client, prices):
    page = text(get(client, "plan", HOURS | {"constraints.max_spot_share~pct": "140"}))
    assert "140% is not allowed; must be at most 100%" in page
    assert "1.4 is not allowed" not in page


def test_what_nobody_asked_for_names_where_it_is_from_and_not_the_request(client, prices):
    asked = {name: value for name, value in TRAINING.items() if name != "horizon_months"}
    page = get(client, "plan", asked).context["page"]
    rows = {one.path: one for one in page.boxes}
    horizon, mfu = rows["horizon_months"], rows["workload.mfu"]
    assert (horizon.given, horizon.source) == (
        False,
        "36 unless given, or up to the last deadline of the runs",
    )
    assert (mfu.given, mfu.source) == (False, page.answer.demand.method)
    given = get(client, "plan", {**asked, "horizon_months": "12", "workload.mfu~pct": "40"})
    told = {one.path: one for one in given.context["page"].boxes}
    for path in ("horizon_months", "workload.mfu"):
        assert (told[path].given, told[path].source) == (True, "the request")


def test_figures_without_a_box_are_named_in_words(client, prices):
    labels = {one.path: one.label for one in get(client, "plan", HOURS).context["page"].assumptions}
    assert labels["risk.spot_waiting_hours_training"] == (
        "Mean wait for a spot machine with stacked memory"
    )
