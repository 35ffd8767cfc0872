"""Up to four variants of a plan side by side."""

from __future__ import annotations

import re
from decimal import Decimal
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from planner.models import Role
from planner.web.plan.variants import Cell
from tests.planner.costing.market_of import H100
from tests.planner.web.asking import HOURS, TRAINING, get, text
from tests.planner.workspace import Workspace

WIDE = {**HOURS, "workload.peak_accelerators": "16"}
PLAN = urlencode({**WIDE, "name": "As it is"})
MORE = urlencode({**WIDE, "name": "Twice", "workload.hours_per_month": "8000"})
EUROS = urlencode({**HOURS, "exchange_rates.EUR": "0.9", "currency": "EUR"})


def test_without_plans_the_page_says_what_to_do(client, db):
    assert "Nothing to compare yet" in text(get(client, "compare"))


def test_variants_stand_in_columns_with_their_differences(client, prices):
    response = get(client, "compare", {"a": PLAN, "b": MORE})
    rows = dict(response.context["rows"])
    first, second = rows["On demand"]
    # Rent of 165,120 USD, 5 % of support plan on it, 604.24 USD of people.
    assert (first.total, first.difference) == (Decimal("173980.24"), None)
    assert float(second.difference) == pytest.approx(173_980.24, abs=0.02)
    assert "A · As it is" in text(response)


def test_a_plan_without_an_answer_is_not_said_to_be_impossible(client, prices):
    page = text(get(client, "compare", {"a": PLAN, "b": f"{PLAN}&horizon_months=x"}))
    assert page.count("no answer") == 7
    assert "not possible" not in page


def test_what_differs_between_them_is_named(client, prices):
    response = get(client, "compare", {"a": PLAN, "b": MORE})
    changed = {row.label: row.values for row in response.context["changed"]}
    assert changed == {"Accelerator-hours per month": ("4000 h", "8000 h")}


def test_what_differs_is_said_as_the_boxes_say_it(client, prices):
    limited = f"{PLAN}&constraints.max_spot_share~pct=25"
    response = get(client, "compare", {"a": PLAN, "b": limited})
    changed = {row.label: row.values for row in response.context["changed"]}
    assert changed == {"Maximum spot share": ("", "25%")}


def test_choices_go_by_name_money_with_its_currency_and_runs_by_number(client, prices):
    run = {"workload.runs.0.start": "2027-01", "workload.runs.1.start": "2027-03"}
    one = urlencode({**TRAINING, **run})
    other = {**TRAINING, **run, "workload.runs.1.start": "2027-04", "currency": "EUR"}
    limits = {"constraints.geographies": "eu", "constraints.total_budget": "20000"}
    given = {**other, **limits, "workload.accelerator": H100, "workload.interruptible": "true"}
    changed = get(client, "compare", {"a": one, "b": urlencode(given)}).context["changed"]
    assert {row.label: row.values for row in changed} == {
        "Start of run 2": ("2027-03", "2027-04"),
        "Currency": ("USD", "EUR"),
        "Geographies": ("", "European Union"),
        "Total budget": ("", "20,000\xa0EUR"),
        "Accelerator": ("", "H100 SXM5 80 GB"),
        "Can the work be interrupted?": ("", "Yes, it can be interrupted"),
    }


def test_what_one_plan_left_out_is_said_as_it_was_taken(client, prices):
    model = urlencode({**TRAINING, "start": "2031-02", "workload.sequence_length": "4096"})
    response = get(client, "compare", {"a": model, "b": f"{PLAN}&horizon_months=12"})
    changed = {row.label: row.values for row in response.context["changed"]}
    today = response.context["variants"][1]["one"].answer.start
    assert changed["First month"] == ("2031-02", today)
    assert changed["Given is"] == ("a model", "accelerator-hours")
    assert changed["Sequence length"] == ("4096 tokens", "")
    assert "not given" in text(response)
    assert "default" not in text(response).partition("What differs")[2].partition("</table>")[0]


def team_with_rates() -> Workspace:
    work = Workspace("red")
    work.team.price_adjustments = [{"provider": "aws", "multiplier": 0.5}]
    work.team.save()
    return work


def test_the_address_names_the_team_whose_rates_are_in_the_figures(client, prices):
    client.force_login(team_with_rates().users[Role.EDITOR])
    opened = get(client, "compare", {"a": PLAN, "b": MORE}, follow=True)
    assert opened.request["QUERY_STRING"].count("rates%3Dred") == 2
    assert "at the rates of <strong>Red</strong>" in text(opened)
    assert "These are list prices" not in text(opened)


def test_who_opens_it_without_the_rates_is_told(client, prices):
    client.force_login(team_with_rates().users[Role.EDITOR])
    address = get(client, "compare", {"a": PLAN, "b": MORE}).url
    client.logout()
    opened = client.get(address)
    assert "These are list prices" in text(opened)
    at_list_prices = client.get(opened.context["missing_rates"].at_list_prices)
    assert "These are list prices" not in text(at_list_prices)
    assert [len(cells) for _, cells in at_list_prices.context["rows"]] == [2] * 7
    sign_in = client.get(opened.context["missing_rates"].sign_in)
    assert reverse("compare") in text(sign_in)


def test_charts_draw_every_variant(client, prices):
    charts = get(client, "compare", {"a": PLAN, "b": MORE}).context["charts"]
    assert [len(chart.x) for chart in charts] == [7, 2]
    assert charts[0].series[1].values[-1] > charts[0].series[0].values[-1]


def test_what_money_is_spent_on_is_called_as_in_the_answer(client, prices):
    response = get(client, "compare", {"a": PLAN, "b": MORE})
    titles = [one.name for one in response.context["charts"][1].series]
    assert "machines rented" in titles
    assert "compute" not in titles


def test_a_way_of_buying_that_may_not_be_advised_says_so_below_its_total(client, prices):
    response = get(client, "compare", {"a": PLAN})
    spot = dict(response.context["rows"])["Spot"][0]
    assert not spot.scenario.allowed
    assert "not advised" in text(response)
    assert spot.scenario.why_not_allowed in text(response)


def test_differences_are_those_of_the_totals_as_shown():
    cell = Cell(Decimal("5472.40"), Decimal("5472.40") - Decimal("43776.64"), "USD")
    assert cell.shown_difference == -38_305


def test_currencies_are_never_subtracted_from_each_other(client, prices):
    response = get(client, "compare", {"a": PLAN, "b": EUROS})
    assert dict(response.context["rows"])["On demand"][1].difference is None
    assert response.context["charts"] == []


def test_a_variant_without_an_answer_says_why(client, prices):
    wrong = urlencode({**HOURS, "horizon_months": "500"})
    assert "horizon_months" in text(get(client, "compare", {"a": PLAN, "b": wrong}))


def test_plans_are_kept_from_their_answers(client, prices):
    client.post(reverse("compare-add"), {"plan": PLAN})
    response = client.post(reverse("compare-add"), {"plan": f"{MORE}&edit=1"}, follow=True)
    assert [one["one"].title for one in response.context["variants"]] == [
        "A · As it is",
        "B · Twice",
    ]


def test_of_five_the_oldest_goes(client, prices):
    for months in range(2, 7):
        plan = urlencode({**HOURS, "horizon_months": str(months)})
        client.post(reverse("compare-add"), {"plan": plan})
    kept = client.session["variants"]
    assert len(kept) == 4
    assert "horizon_months=2" not in kept[0]


def test_a_plan_that_is_too_long_is_refused_with_a_reason(client, prices):
    response = client.post(reverse("compare-add"), {"plan": "name=" + "x" * 9000}, follow=True)
    assert "too long" in text(response)


def test_what_was_kept_can_be_forgotten(client, prices):
    client.post(reverse("compare-add"), {"plan": PLAN})
    client.post(reverse("compare-clear"))
    assert "Nothing to compare yet" in text(get(client, "compare"))


def test_one_variant_can_be_taken_out(client, prices):
    response = get(client, "compare", {"a": PLAN, "b": MORE})
    left = client.get(response.context["variants"][0]["without"])
    assert [one["one"].title for one in left.context["variants"]] == ["A · Twice"]


def test_plans_without_a_name_are_called_by_what_to_do(client, prices):
    unnamed = PLAN.replace("name=As+it+is", "start=2031-02")
    assert unnamed != PLAN
    page = text(get(client, "compare", {"a": PLAN, "b": unnamed}))
    assert re.search(r"B · Rent, \d+ months from February 2031", page)
    assert "H100 SXM5 80 GB" in page
