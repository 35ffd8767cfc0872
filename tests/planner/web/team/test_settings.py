"""What comparisons inherit: name and currency, contract prices, defaults, server quotes."""

from decimal import Decimal

import pytest

from planner.models import Role, ServerQuote
from planner.services.projects.comparisons import compare_for_team
from planner.services.teams import teams
from tests.planner.web.team.texts import text
from tests.planner.workspace import REQUEST

HERE = "/team/alpha/prices/"
PRICES = f"{HERE}?form=rates"
SERVERS = f"{HERE}?form=quote"
SETTINGS = "/team/alpha/settings/?form=team"
QUOTE = {"label": "Quoted", "slug": "our-h100", "server": "dgx-h100", "unit_price": "310000"}


def test_rules_of_projects_are_kept_a_line_each(work, signed_in):
    values = {"name": "Alpha", "currency": "USD"}
    rules = "account:4711=Speech\n\n  tag:team:ml-*=Vision  "
    signed_in().post(SETTINGS, values | {"project_rules": rules})
    work.team.refresh_from_db()
    assert work.team.project_rules == ["account:4711=Speech", "tag:team:ml-*=Vision"]
    page = text(signed_in().post(SETTINGS, values | {"project_rules": "red"}))
    assert "is no rule like" in page.partition('id="teamsettings-project_rules_error"')[2][:200]


def test_a_discount_is_inherited_by_comparisons(work, signed_in):
    values = {"price_adjustments.0.provider": "aws", "price_adjustments.0.multiplier": "0.5"}
    assert signed_in().post(PRICES, values)["Location"] == HERE
    work.team.refresh_from_db()
    scenarios = compare_for_team(REQUEST, work.team).answer.by_key
    assert scenarios["on_demand"].total_cost == Decimal("87292.24")  # half the rent


def test_defaults_are_kept_as_fractions_and_shown_in_per_cent(work, signed_in):
    browser = signed_in()
    browser.post(PRICES, {"finance.discount_rate_per_year~pct": "7"})
    work.team.refresh_from_db()
    assert work.team.defaults == {"finance": {"discount_rate_per_year": 0.07}}
    page = text(browser.get(PRICES))
    assert 'name="finance.discount_rate_per_year~pct" value="7"' in page


def test_a_change_on_top_of_another_s_is_refused_once(work, signed_in):
    version = work.team.version
    teams.change_settings(work.access(), work.team, {"name": "Renamed"})
    browser = signed_in()
    values = {"finance.tax_rate~pct": "20", "version": version}
    page = text(browser.post(PRICES, values))
    assert "It has changed since you read it" in page
    assert 'value="20"' in page


def test_numbers_of_a_quote_are_read_as_the_plan_form_reads_them(work, signed_in):
    typed = {"unit_price": "310.000,50", "power_kw": "10,2", "max_units": "1 000"}
    signed_in(Role.EDITOR).post(SERVERS, {**QUOTE, **typed})
    server = ServerQuote.objects.get().server
    read = (server["unit_price"], server["power_kw"], server["max_units"])
    assert read == (310000.5, 10.2, 1000)


def test_a_quote_that_lacks_a_value_is_refused_beside_its_box(work, signed_in):
    values = {**QUOTE, "server": "custom"}
    answer = signed_in().post(SERVERS, values)
    assert answer.status_code == 400
    assert "is required of a custom server" in text(answer)
    assert 'value="Quoted"' in text(answer)


@pytest.fixture
def quote(work) -> ServerQuote:
    values = {"slug": "our-h100", "label": "Quoted", "server": {"server": "dgx-h100"}}
    return teams.add_quote(work.access(), work.team, values)


def test_a_quote_is_changed_and_keeps_its_short_name(work, quote, signed_in):
    values = {**QUOTE, "slug": "other", "version": quote.version}
    signed_in(Role.EDITOR).post(f"{HERE}quotes/{quote.pk}/?form=quote", values)
    quote.refresh_from_db()
    assert (quote.slug, quote.server["unit_price"]) == ("our-h100", 310000.0)
