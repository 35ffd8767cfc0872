"""What a comparison inherits from its team, and that it says so."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from planner.models import ServerQuote
from planner.services.projects import comparisons
from planner.services.teams import teams
from planner.services.teams.teams import inherit
from pricing.common.invalid_input import InvalidInput
from pricing.market.exchange_rates import ExchangeRate, ExchangeRates
from tests.planner.api.world import SERVER
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.django_db
PRIVATE = {"label": "Framework contract", "accelerator": "H100", "accelerator_count": 8,
           "purchase_option": "on_demand", "usd_per_hour": 30.0}  # fmt: skip


def settle(work: Workspace, **changes: Any) -> Any:
    work.team = teams.change_settings(work.access(), work.team, changes)
    return work.team


def quote(work: Workspace, **values: Any) -> None:
    plain = {"slug": "own-dgx", "label": "Own DGX", "server": SERVER}
    teams.add_quote(work.access(), work.team, {**plain, **values})


def test_defaults_fill_what_the_request_leaves_out(work: Workspace) -> None:
    settle(work, defaults={"finance": {"discount_rate_per_year": 0.07, "tax_rate": 0.3}})
    request, inherited = inherit({**REQUEST, "finance": {"tax_rate": 0.1}}, work.team)
    assert request["finance"] == {"discount_rate_per_year": 0.07, "tax_rate": 0.1}
    assert inherited == {"finance.discount_rate_per_year": "default of the team Alpha"}


def test_contract_prices_come_beside_the_request_s_own(work: Workspace) -> None:
    settle(work, custom_offers=[PRIVATE], price_adjustments=[{"multiplier": 0.9}])
    own = {**PRIVATE, "label": "Other"}
    request, inherited = inherit({**REQUEST, "custom_offers": [own]}, work.team)
    assert [o["label"] for o in request["custom_offers"]] == ["Framework contract", "Other"]
    assert request["price_adjustments"] == [{"multiplier": 0.9}]
    assert inherited["custom_offers"] == "1 of the team Alpha"


def test_the_request_s_own_offer_of_the_same_label_wins(work: Workspace) -> None:
    settle(work, custom_offers=[PRIVATE])
    own = {**PRIVATE, "usd_per_hour": 25.0}
    request, inherited = inherit({**REQUEST, "custom_offers": [own]}, work.team)
    assert request["custom_offers"] == [own]
    assert inherited == {}


def test_valid_quotes_are_what_may_be_bought(work: Workspace) -> None:
    quote(work)
    quote(work, slug="old", valid_until=dt.date(2020, 1, 1))
    request, inherited = inherit(REQUEST, work.team)
    assert request["on_prem"]["servers"] == [{**SERVER, "label": "Own DGX"}]
    assert inherited["on_prem.servers"] == "quote “Own DGX” of the team Alpha"
    quote(work, slug="other", label="Other")
    _, inherited = inherit(REQUEST, work.team)
    assert inherited["on_prem.servers"] == "quotes “Other” and “Own DGX” of the team Alpha"


def test_a_request_names_a_quote_and_says_the_rest_itself(work: Workspace) -> None:
    quote(work)
    servers = [{"server": "own-dgx", "max_units": 4}, {"server": "dgx-h100"}]
    request, _ = inherit({**REQUEST, "on_prem": {"servers": servers}}, work.team)
    own, listed = request["on_prem"]["servers"]
    assert own == {**SERVER, "label": "Own DGX", "max_units": 4}
    assert listed == {"server": "dgx-h100"}


def test_the_answer_shows_what_was_inherited(work: Workspace) -> None:
    market()
    settle(work, defaults={"finance": {"discount_rate_per_year": 0.07}},
           price_adjustments=[{"provider": "aws", "multiplier": 0.5}])  # fmt: skip
    people = {"finance": {"cloud_staff_fte_per_accelerator": 0}}
    plain = comparisons.compare_for_team(REQUEST | people).answer
    answered = comparisons.compare_for_team(REQUEST | people, work.team).answer
    row = next(r for r in answered.assumptions if r.field == "finance.discount_rate_per_year")
    assert row.value == 0.07
    assert not row.given
    assert row.source == "default of the team Alpha"
    fields = {entry.field for entry in answered.inherited}
    assert fields == {"price_adjustments", "finance.discount_rate_per_year"}
    costs = [float(a.scenarios[0].require_total()) for a in (plain, answered)]
    assert costs[1] == pytest.approx(costs[0] / 2)


RATES = ExchangeRates.of([ExchangeRate("JPY", dt.date(2026, 1, 1), Decimal(150))])


def test_the_team_s_money_is_converted_to_the_currency_of_the_request(work: Workspace) -> None:
    quote(work, server={**SERVER, "unit_price": 1000.0})
    settle(work, defaults={"on_prem": {"electricity_per_kwh": 0.2, "pue": 1.3}})
    request, inherited = inherit({**REQUEST, "currency": "JPY"}, work.team, RATES)
    assert request["on_prem"]["servers"][0]["unit_price"] == pytest.approx(150_000)
    assert request["on_prem"]["electricity_per_kwh"] == pytest.approx(30)
    assert request["on_prem"]["pue"] == 1.3
    assert "converted from USD at 150 JPY" in inherited["on_prem.electricity_per_kwh"]
    assert "converted from USD at 150 JPY" in inherited["on_prem.servers"]
    own_rate = {"currency": "JPY", "exchange_rates": {"JPY": {"units_per_usd": 100}}}
    request, _ = inherit({**REQUEST, **own_rate}, work.team, RATES)
    assert request["on_prem"]["electricity_per_kwh"] == pytest.approx(20)


def test_a_currency_without_a_rate_is_refused_where_there_is_money_to_convert(
    work: Workspace,
) -> None:
    settle(work, defaults={"on_prem": {"electricity_per_kwh": 0.2}})
    with pytest.raises(InvalidInput, match="no exchange rate for 'EUR'"):
        inherit({**REQUEST, "currency": "EUR"}, work.team, RATES)


def test_the_currency_of_what_is_kept_stays(work: Workspace) -> None:
    quote(work)
    settle(work, defaults={"on_prem": {"electricity_per_kwh": 0.2}})
    with pytest.raises(InvalidInput, match=r"quote own-dgx, on_prem\.electricity_per_kwh"):
        settle(work, currency="EUR")
    ServerQuote.objects.all().delete()
    assert settle(work, currency="EUR", defaults={}).currency == "EUR"
