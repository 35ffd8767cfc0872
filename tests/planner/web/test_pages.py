"""Pages that anyone may open: what each must show, then what each refuses."""

import datetime as dt
import re

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from planner.costing.choice import round_to_error
from planner.web.common.formatting import money
from tests.planner.web.asking import HOURS, get, text
from tests.planner.workspace import market


@pytest.mark.parametrize("name", ["start", "plan", "market", "market-changes"])
def test_a_page_opens_before_any_price_is_loaded(client, db, name):
    assert get(client, name).status_code == 200


def test_savings_say_whether_they_are_discounted(client, prices):
    """The headline's saving and a row's are differences of totals; present values stand under
    their own title."""
    response = get(client, "plan", {**HOURS, "horizon_months": "24"})
    page, words = response.context["page"], " ".join(strip_tags(text(response)).split())
    advice, scenarios = page.answer.recommendation, page.answer.by_key
    rent, best, other = (scenarios[k] for k in ("on_demand", advice.scenario, advice.next_best))
    present, error = short(best.net_present_cost), float(page.verdict.standard_error)
    total = f"{round_to_error(float(page.verdict.expected), error):,.0f} USD"
    saving = f"{round_to_error(float(page.verdict.against.difference), error):,.0f}"
    assert page.verdict.against.total == other.total_cost
    assert f"Expect {total} over 2 years" in words
    assert f"; {saving} less than {page.verdict.against.words}" in words
    assert f"In today's money {present} " in words
    assert best.saving_against_on_demand == rent.total_cost - best.total_cost
    assert re.search(rf"Less than on demand .* {short(best.saving_against_on_demand)} ", words)


def short(amount):
    return money(amount).replace("\u00a0", " ")


def strip(page):
    return " ".join(strip_tags(page).split())


def test_every_open_page_can_be_closed(client, prices, settings):
    settings.LOGIN_REQUIRED = True
    plan = ("plan", "plan-live", "plan-accelerators")
    for name in ("start", *plan, "usage", "market", "method"):
        assert get(client, name).status_code == 302


def test_colours_are_remembered(client, db):
    client.post(reverse("theme"), {"theme": "dark", "next": "/plan/"})
    assert 'data-bs-theme="dark"' in text(get(client, "start"))


def test_the_way_back_never_leaves_the_site(client, db):
    response = client.post(reverse("theme"), {"theme": "dark", "next": "https://evil.example/"})
    assert response["Location"] == "/"


def test_no_page_carries_an_inline_style_or_script(client, prices):
    for name in ("start", "plan", "market", "method"):
        page = text(get(client, name, HOURS if name == "plan" else None))
        assert " style=" not in page
        assert "<style" not in page
        assert "<script>" not in page
        assert "https://" not in page.split("</head>")[0]


def test_the_market_of_a_past_day_is_shown_as_it_was_known(client, prices):
    market("70.00", as_of=dt.date(2026, 11, 10))
    asked = {"accelerator": "H100", "purchase_option": "on_demand"}
    assert "8.75" in text(get(client, "market", asked))
    assert "6.88" in text(get(client, "market", {**asked, "as_of": "2026-11-05"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ordering", "--region"), ("ordering", "id"),
        ("sold_now", "maybe"), ("as_of", "yesterday"), ("min_accelerators", "-1"),
        ("colour", "blue"),
    ],
)  # fmt: skip
def test_the_market_names_what_it_refuses(client, prices, name, value):
    response = get(client, "market", {name: value})
    assert response.status_code == 400
    assert response.context["refusal"].field == name
    assert f"<strong>{name.capitalize().replace('_', ' ')}<" in text(response)


def test_a_page_that_is_not_there_says_so_in_our_layout(client, db):
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert "GPU cost planner" in text(response)


def test_an_error_of_ours_has_a_page_that_needs_nothing_to_work(client, db, monkeypatch):
    def fail(*args):
        raise RuntimeError("broken")

    monkeypatch.setattr("planner.web.plan.plan_page.list_presets", fail)
    client.raise_request_exception = False
    response = client.get("/")
    assert response.status_code == 500
    assert "Something went wrong" in text(response)
