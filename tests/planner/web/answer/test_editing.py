"""Assumptions edited in place: new figures for an open answer, or messages beside the box."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from planner.web.common.fields import FIELD_TYPES
from tests.planner.web.asking import HOURS, IN_PLACE, TRAINING, get, text


def row(response, path):
    return next(r for r in response.context["page"].assumptions if r.path == path)


def test_an_edit_moves_the_address_and_leaves_empty_boxes_out_of_it(client, prices):
    asked = {**HOURS, "on_prem.pue": "1.3", "finance.tax_rate~pct": ""}
    response = get(client, "plan", asked, headers=IN_PLACE)
    found = parse_qs(urlsplit(response["HX-Push-Url"]).query)
    assert found["on_prem.pue"] == ["1.3"]
    assert "finance.tax_rate~pct" not in found


def test_the_state_of_each_box_follows(client, prices):
    page = text(get(client, "plan", {**HOURS, "on_prem.pue": "1.3"}, headers=IN_PLACE))
    (states,) = re.findall(r'<div id="box-states" data-given="([^"]*)".*?hx-swap-oob="true"', page)
    assert "a-on-prem-pue" in states.split()
    assert "a-finance-tax-rate" not in states.split()


def test_a_refused_edit_stands_beside_its_box_and_the_figures_stay(client, prices):
    asked = {**HOURS, "on_prem.pue": "0.5", "finance.tax_rate~pct": "many"}
    response = get(client, "plan", asked, headers=IN_PLACE)
    page = text(response)
    assert response["HX-Reswap"] == "none"
    assert "HX-Push-Url" not in response
    assert 'id="figures"' not in page
    assert 'id="a-on-prem-pue-error" hx-swap-oob="true">0.5 is not allowed' in page
    assert 'id="a-finance-tax-rate-error" hx-swap-oob="true"></div>' not in page


def test_going_back_in_history_gives_the_whole_page(client, prices):
    headers = {**IN_PLACE, "HX-History-Restore-Request": "true"}
    assert "<html" in text(get(client, "plan", HOURS, headers=headers))


def test_every_assumption_that_a_request_may_give_can_be_edited(client, prices):
    data = {**HOURS, "risk.samples": "500"}
    rows = get(client, "plan", data).context["page"].assumptions
    fixed = {one.path for one in rows if not one.name}
    assert fixed == {
        "risk.demand_half_life_months",
        "risk.spot_waiting_hours_training",
        "risk.spot_waiting_hours_other",
        "risk.spot_patience_hours",
    }
    assert not fixed & FIELD_TYPES.keys()
    labels = [one.label for one in rows if not one.name]
    assert not [label for label in labels if "edition" in label or "half life" in label]


def test_what_a_link_states_as_a_fraction_stays_when_something_else_is_edited(client, prices):
    """As links to share write it, without a unit."""
    page = get(client, "plan", TRAINING | {"workload.mfu": "0.385"}).context["page"]
    (box,) = [one for one in page.boxes if one.path == "workload.mfu"]
    assert (box.name, box.value, box.unit) == ("workload.mfu~pct", "38.5", "%")
    assert (box.given, box.source) == (True, "the request")
    sent = dict(page.kept_address) | {one.name: one.value for one in page.boxes if one.name}
    edited = get(client, "plan", sent | {"on_prem.pue": "1.3"}, headers=IN_PLACE).context["page"]
    assert edited.answer.demand.total_hours == page.answer.demand.total_hours


def test_the_exchange_rate_is_changed_in_place_and_refused_beside_its_box(client, prices):
    asked = HOURS | {"currency": "EUR", "exchange_rates.EUR": "0.5"}
    page = get(client, "plan", asked).context["page"]
    (box,) = [one for one in page.boxes if one.path == "exchange_rates.EUR"]
    assert (box.value, box.unit, box.source) == ("0.5", "EUR per USD", "request")
    dollars = get(client, "plan", HOURS).context["page"].recommended.total_cost
    assert float(page.recommended.total_cost) == pytest.approx(float(dollars) / 2, abs=0.5)
    refused = text(get(client, "plan", asked | {"exchange_rates.EUR": "-1"}, headers=IN_PLACE))
    assert 'id="a-exchange-rates-EUR-error"' in refused


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
