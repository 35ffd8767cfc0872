"""What comparisons inherit: name and currency, contract prices, defaults, server quotes."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from planner.models import Role, ServerQuote
from planner.services.projects.comparisons import compare_for_team
from planner.services.teams import teams
from tests.planner.usage.make import cur_row, table
from tests.planner.web.team.texts import text
from tests.planner.workspace import REQUEST

PRICES = "/team/alpha/settings/prices/"
SERVERS = "/team/alpha/settings/servers/"
QUOTE = {"label": "Quoted", "slug": "our-h100", "server": "dgx-h100", "unit_price": "310000"}


def test_name_and_currency_are_changed(work, signed_in):
    signed_in().post("/team/alpha/settings/", {"name": "Research", "currency": "USD"})
    work.team.refresh_from_db()
    assert work.team.name == "Research"


def test_rules_of_projects_are_kept_a_line_each(work, signed_in):
    values = {"name": "Alpha", "currency": "USD"}
    rules = "account:4711=Speech\n\n  tag:team:ml-*=Vision  "
    signed_in().post("/team/alpha/settings/", values | {"project_rules": rules})
    work.team.refresh_from_db()
    assert work.team.project_rules == ["account:4711=Speech", "tag:team:ml-*=Vision"]
    page = text(signed_in().post("/team/alpha/settings/", values | {"project_rules": "red"}))
    assert "is no rule like" in page.partition('id="teamsettings-project_rules_error"')[2][:200]
    assert "project rules" not in page


def test_the_rules_name_projects_on_the_page_of_usage(work, signed_in):
    work.team.project_rules = ["account:100200300400=Vision"]
    work.team.save()
    bill = SimpleUploadedFile("bill.csv", table([cur_row(1)]))
    page = text(signed_in().post("/usage/", {"file": bill, "months": "0"}))
    assert "Vision" in page
    assert "rules of" in page


def test_a_discount_is_inherited_by_comparisons(work, signed_in):
    values = {"price_adjustments.0.provider": "aws", "price_adjustments.0.multiplier": "0.5"}
    assert signed_in().post(PRICES, values)["Location"] == PRICES
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


def folded(page: str) -> str:
    """What stands in folds that are closed."""
    return " ".join(re.findall(r"<details[^>]*(?<!open)>(.*?)</details>", page, re.DOTALL))


def test_what_is_seldom_set_is_folded_until_it_is(work, signed_in):
    browser = signed_in()
    page = text(browser.get(PRICES))
    for name in ("on_prem.spare_rate~pct", "finance.payment_terms_days", "custom_offers.0.label"):
        assert f'name="{name}"' in folded(page)
    for name in ("on_prem.electricity_per_kwh", "finance.discount_rate_per_year~pct"):
        assert f'name="{name}"' in page
        assert f'name="{name}"' not in folded(page)
    browser.post(PRICES, {"on_prem.spare_rate~pct": "9"})
    assert 'name="on_prem.spare_rate~pct"' not in folded(text(browser.get(PRICES)))
    values = {"finance.payment_terms_days": "soon", "custom_offers.0.label": "Private"}
    refused = folded(text(browser.post(PRICES, values)))
    assert "finance.payment_terms_days" not in refused
    assert "custom_offers" not in refused


def test_enter_saves_and_adds_no_row(work, signed_in):
    form = text(signed_in().get(PRICES)).partition('<form method="post" autocomplete')[2]
    first = re.search(r"<button[^>]*>", form)[0]
    assert "name=" not in first
    assert 'formaction="#discount-2"' in form


def test_what_is_emptied_is_gone(work, signed_in):
    teams.change_settings(work.access(), work.team, {"defaults": {"finance": {"tax_rate": 0.2}}})
    signed_in().post(PRICES, {"finance.tax_rate~pct": ""})
    work.team.refresh_from_db()
    assert work.team.defaults == {}


def test_a_refusal_stands_beside_its_box_and_nothing_typed_is_lost(work, signed_in):
    values = {"on_prem.pue": "0.5", "finance.tax_rate~pct": "9"}
    answer = signed_in().post(PRICES, values)
    page = text(answer)
    assert answer.status_code == 400
    assert 'id="id_on_prem.pue_error"' in page
    assert "must be at least 1" in page
    assert 'value="9"' in page


def test_everything_that_is_refused_is_said_at_once(work, signed_in):
    values = {
        "on_prem.pue": "0.5",
        "finance.tax_rate~pct": "none",
        "price_adjustments.0.multiplier": "-3",
        "custom_offers.0.accelerator": "H1000",
    }
    page = text(signed_in().post(PRICES, values))
    assert "Nothing is saved yet: correct what is marked below." in page
    for name in (*values, "custom_offers.0.label"):
        assert f'id="id_{name}_error"' in page, name
    assert "Nothing is saved yet" not in text(signed_in().get(PRICES))


def test_a_private_offer_that_lacks_a_value_keeps_the_others(work, signed_in):
    page = text(signed_in().post(PRICES, {"custom_offers.0.label": "Private"}))
    assert 'value="Private"' in page
    assert "custom_offers.0" in page


def test_add_another_shows_a_row_more_and_saves_nothing(work, signed_in):
    values = {"price_adjustments.0.multiplier": "0.9", "rows.price_adjustments": "2"}
    page = text(signed_in().post(PRICES, values))
    assert "price_adjustments.1.multiplier" in page
    assert 'value="0.9"' in page
    work.team.refresh_from_db()
    assert work.team.price_adjustments == []


def test_a_change_on_top_of_another_s_is_refused_once(work, signed_in):
    version = work.team.version
    teams.change_settings(work.access(), work.team, {"name": "Renamed"})
    browser = signed_in()
    values = {"finance.tax_rate~pct": "20", "version": version}
    page = text(browser.post(PRICES, values))
    assert "It has changed since you read it" in page
    assert 'value="20"' in page


def test_a_viewer_sees_the_prices_and_cannot_type(work, signed_in):
    page = text(signed_in(Role.VIEWER).get(PRICES))
    assert "Only owners can change them" in page
    assert "Save for the team" not in page


def test_a_quote_is_added_in_the_team_s_currency(work, signed_in):
    signed_in(Role.EDITOR).post(SERVERS, QUOTE)
    quote = ServerQuote.objects.get()
    assert quote.server == {"server": "dgx-h100", "unit_price": 310000.0}
    assert "310,000 USD" in text(signed_in(Role.VIEWER).get(SERVERS))


def test_no_server_of_a_quote_is_chosen_beforehand(work, signed_in):
    browser = signed_in(Role.EDITOR)
    assert '<option value="" selected>choose a server</option>' in text(browser.get(SERVERS))
    page = text(browser.post(SERVERS, QUOTE | {"server": ""}))
    assert 'id="quote-server_error"' in page
    assert not ServerQuote.objects.exists()


def test_servers_and_cards_of_quotes_go_by_name(work, signed_in):
    browser = signed_in(Role.EDITOR)
    browser.post(SERVERS, QUOTE)
    own = {"server": "custom", "accelerator": "nvidia-h100-80gb-sxm", "accelerator_count": "8"}
    browser.post(SERVERS, {**QUOTE, **own, "slug": "our-own", "power_kw": "10"})
    page = " ".join(text(browser.get(SERVERS)).split())
    assert '<td data-head="Server"> DGX H100 (8x H100)' in page
    assert '<td data-head="Server"> a server of its own' in page
    assert "8 × H100 SXM5 80 GB" in page


def test_numbers_of_a_quote_are_read_as_the_plan_form_reads_them(work, signed_in):
    typed = {"unit_price": "310.000,50", "power_kw": "10,2", "max_units": "1 000"}
    signed_in(Role.EDITOR).post(SERVERS, {**QUOTE, **typed})
    server = ServerQuote.objects.get().server
    read = (server["unit_price"], server["power_kw"], server["max_units"])
    assert read == (310000.5, 10.2, 1000)


def test_a_price_of_a_quote_that_may_be_two_amounts_is_asked_about(work, signed_in):
    answer = signed_in().post(SERVERS, {**QUOTE, "unit_price": "310.000"})
    assert answer.status_code == 400
    assert "can be read in two ways: 310 or 310000?" in text(answer)


def test_a_quote_that_lacks_a_value_is_refused_beside_its_box(work, signed_in):
    values = {**QUOTE, "server": "custom"}
    answer = signed_in().post(SERVERS, values)
    assert answer.status_code == 400
    assert "is required of a custom server" in text(answer)
    assert 'value="Quoted"' in text(answer)


def test_a_taken_short_name_is_refused(work, signed_in):
    signed_in().post(SERVERS, QUOTE)
    assert "is taken in this team" in text(signed_in().post(SERVERS, QUOTE))


@pytest.fixture
def quote(work) -> ServerQuote:
    values = {"slug": "our-h100", "label": "Quoted", "server": {"server": "dgx-h100"}}
    return teams.add_quote(work.access(), work.team, values)


def test_a_quote_is_changed_and_keeps_its_short_name(work, quote, signed_in):
    values = {**QUOTE, "slug": "other", "version": quote.version}
    signed_in(Role.EDITOR).post(f"{SERVERS}{quote.pk}/", values)
    quote.refresh_from_db()
    assert (quote.slug, quote.server["unit_price"]) == ("our-h100", 310000.0)


def test_a_quote_that_somebody_else_changed_is_not_overwritten(work, quote, signed_in):
    teams.change_quote(work.access(), quote, {"label": "Theirs"})
    answer = signed_in().post(f"{SERVERS}{quote.pk}/", {**QUOTE, "version": quote.version})
    assert answer.status_code == 400
    assert "It has changed since you read it" in text(answer)


def test_a_quote_is_removed(work, quote, signed_in):
    signed_in(Role.EDITOR).post(f"{SERVERS}{quote.pk}/remove/")
    assert not ServerQuote.objects.exists()
