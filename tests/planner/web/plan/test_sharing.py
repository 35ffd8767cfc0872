"""A shared link gives the same answer on another day, and says what has changed since."""

import datetime as dt
from urllib.parse import parse_qs

import pytest
from django.urls import reverse

from planner.models import Role
from tests.planner.web.asking import HOURS, get, text
from tests.planner.workspace import Workspace, market

LATER = dt.date(2026, 11, 15)


def share(client, values=None):
    return get(client, "plan", values or HOURS).context["share"]


def totals(response):
    return [s.total_cost for s in response.context["page"].answer.scenarios]


def test_the_link_gives_the_same_answer_after_the_catalog_moved_on(client, prices):
    before = get(client, "plan", HOURS)
    link = before.context["share"]
    market("70.00", as_of=LATER)
    assert totals(get(client, "plan", HOURS)) != totals(before)
    assert totals(client.get(link)) == totals(before)


def test_one_click_answers_with_todays_prices(client, prices):
    link = share(client)
    market("70.00", as_of=LATER)
    todays = client.get(link).context["todays"]
    assert "prices=" not in todays
    assert totals(client.get(f"{reverse('plan')}?{todays}")) == totals(get(client, "plan", HOURS))


def test_what_the_team_adds_goes_with_the_link(client, prices):
    team = Workspace("red")
    team.team.price_adjustments = [{"provider": "aws", "multiplier": 0.5}]
    team.team.save()
    client.force_login(team.users[Role.EDITOR])
    mine = get(client, "plan", HOURS, follow=True)
    client.logout()
    assert totals(get(client, "plan", HOURS)) != totals(mine)
    assert totals(client.get(mine.context["share"])) == totals(mine)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("given", ["aws", "aws.x", "aws.1;gcp.2", "1.aws", "aws.1-", "../etc.1"])
def test_text_that_names_no_prices_is_refused_by_name(client, prices, given):
    response = get(client, "plan", {**HOURS, "prices": given})
    assert response.status_code == 400
    assert response.context["outcome"].errors[0].field == "prices"


def test_a_revision_that_never_was_is_refused(client, prices):
    response = get(client, "plan", {**HOURS, "prices": "aws.7"})
    assert response.status_code == 400
    assert "aws has no revision 7" in text(response)


def discounted(role=Role.EDITOR):
    team = Workspace("red")
    team.team.price_adjustments = [{"provider": "aws", "multiplier": 0.5}]
    team.team.save()
    return team.users[role]


def test_an_answer_at_team_rates_names_them_in_its_address(client, prices):
    assert "rates" not in get(client, "plan", HOURS, follow=True).request["QUERY_STRING"]
    client.force_login(discounted())
    opened = get(client, "plan", HOURS, follow=True)
    assert parse_qs(opened.request["QUERY_STRING"])["rates"] == ["red"]
    assert "These are list prices" not in text(opened)


def test_the_same_address_without_the_rates_says_so(client, prices):
    client.force_login(discounted())
    address = get(client, "plan", HOURS).url
    client.logout()
    opened = client.get(address)
    assert "These are list prices" in text(opened)
    missing = opened.context["missing_rates"]
    assert "These are list prices" not in text(client.get(missing.at_list_prices))
    client.force_login(Workspace("blue").users[Role.EDITOR])
    assert "working for another team" in text(client.get(address))


def test_an_edit_after_the_session_ended_does_not_slip_to_list_prices(client, prices):
    client.force_login(discounted())
    address = get(client, "plan", HOURS).url
    client.logout()
    edited = client.get(address, headers={"HX-Request": "true", "HX-Target": "figures"})
    assert edited.headers["HX-Redirect"].endswith("rates=red")
    assert edited.content == b""


def test_a_link_at_list_prices_holds_nothing_of_the_team(client, prices):
    client.force_login(discounted())
    mine = get(client, "plan", HOURS, follow=True)
    link = mine.context["share_at_list_prices"]
    assert "0.5" not in link
    client.logout()
    assert totals(client.get(link)) == totals(get(client, "plan", HOURS))
    assert totals(client.get(link)) != totals(mine)
