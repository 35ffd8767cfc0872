"""After a change in place the new total comes first, and it is the one that the answer gives."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse

from planner.models import Role
from tests.planner.web.asking import HOURS, IN_PLACE, TRAINING, WHOLE, get, text

FIRST = {"HX-Request": "true", "HX-Target": "answer-total", "HX-Trigger": "assumption-boxes"}
REST = {**IN_PLACE, "HX-Trigger": "rest"}
TOTAL = re.compile(r"<strong data-total>([^<]*)</strong>")
CHANGED = {
    "hours": {**HOURS, "workload.hours_per_month": "5100"},
    "electricity": {**HOURS, "on_prem.electricity_per_kwh": "0.9"},
    "whole": {**HOURS, **WHOLE, "risk.samples": "200", "on_prem.pue": "1.4"},
    "training": {**TRAINING, "workload.mfu~pct": "30", "sensitivity": "false"},
    "euros": {**HOURS, "currency": "EUR", "exchange_rates.EUR": "0.9"},
    "nothing fits": {**HOURS, "constraints.monthly_budget": "1"},
}


def total(response) -> str:
    (found,) = TOTAL.findall(text(response))
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CHANGED)
def test_the_new_total_is_the_one_of_the_answer_that_follows(client, prices, name):
    first = get(client, "plan-total", CHANGED[name], headers=FIRST)
    assert total(first) == total(get(client, "plan", CHANGED[name], headers=REST))


def test_a_team_s_rates_are_in_both(client, work):
    work.team.price_adjustments = [{"provider": "aws", "multiplier": 0.5}]
    work.team.save()
    client.force_login(work.users[Role.EDITOR])
    first = total(get(client, "plan-total", HOURS, headers=FIRST))
    assert first == total(get(client, "plan", HOURS, headers=REST))
    client.logout()
    assert first != total(get(client, "plan-total", HOURS, headers=FIRST))


def test_what_comes_first_asks_for_the_rest_and_marks_it_as_being_worked_out(client, prices):
    response = get(client, "plan-total", CHANGED["electricity"], headers=FIRST)
    page = text(response)
    (rest,) = re.findall(r'id="rest" hx-get="([^"]*)"', page)
    assert rest == response["HX-Push-Url"]
    assert parse_qs(urlsplit(rest).query)["on_prem.electricity_per_kwh"] == ["0.9"]
    assert "Dashed: from before, being worked out again" in page
    assert 'id="figures"' not in page


def test_the_address_moves_once(client, prices):
    assert "HX-Push-Url" in get(client, "plan-total", HOURS, headers=FIRST)
    assert "HX-Push-Url" not in get(client, "plan", HOURS, headers=REST)


def test_a_refused_change_stands_beside_its_box_and_the_total_stays(client, prices):
    response = get(client, "plan-total", {**HOURS, "on_prem.pue": "0.5"}, headers=FIRST)
    page = text(response)
    assert response["HX-Reswap"] == "none"
    assert "HX-Push-Url" not in response
    assert 'id="a-on-prem-pue-error" hx-swap-oob="true">0.5 is not allowed' in page
    assert "The figures are still those from before the change." in page
    assert not TOTAL.findall(page)


def test_a_rest_that_is_refused_says_that_the_total_alone_is_new(client, prices):
    response = get(client, "plan", {**HOURS, "on_prem.pue": "0.5"}, headers=REST)
    page = text(response)
    assert response["HX-Reswap"] == "none"
    assert 'id="rest" hx-swap-oob="true" role="alert"' in page
    assert "Only the total is new" in page
    assert "still those from before the change" not in page


def test_a_long_simulation_opens_the_page_that_offers_the_job(client, prices):
    asked = {**HOURS, "risk.samples": "200000"}
    response = get(client, "plan-total", asked, headers=FIRST)
    assert response["HX-Redirect"].startswith(reverse("plan"))


def test_opened_by_itself_it_is_the_plan_s_page(client, prices):
    response = get(client, "plan-total", HOURS)
    assert response.status_code == 302
    assert response["Location"].startswith(f"{reverse('plan')}?")
