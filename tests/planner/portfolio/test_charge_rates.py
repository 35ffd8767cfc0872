"""What an accelerator-hour of a joint plan costs each project."""

import pytest

from tests.planner.portfolio.portfolios import H100, burst, planned, project, relay


@pytest.fixture(scope="module")
def answer():
    return planned(relay())


def of_all(answer):
    return [one for one in answer.charge_rates if one.kind == "all"]


def test_rates_times_hours_are_the_total(answer):
    assert [one.project for one in of_all(answer)] == [one.name for one in answer.projects]
    paid = sum(one.cost_per_hour * one.accelerator_hours for one in of_all(answer))
    assert paid == pytest.approx(float(answer.total_cost), rel=1e-5)
    assert sum(one.cost for one in of_all(answer)) == answer.total_cost


def test_hours_of_the_ways_to_obtain_machines_are_those_used(answer):
    for row in of_all(answer):
        parts = [one for one in answer.charge_rates if one.project == row.project][:-1]
        used = sum(one.accelerator_hours for one in answer.uses if one.project == row.project)
        assert row.accelerator_hours == pytest.approx(used, rel=1e-6)
        assert sum(one.accelerator_hours for one in parts) == pytest.approx(used, rel=1e-6)


def test_projects_with_the_same_hours_on_one_server_have_one_rate(answer):
    owned = [one.cost_per_hour for one in answer.charge_rates if one.kind == "owned"]
    assert len(owned) == len(answer.projects)
    assert max(owned) == pytest.approx(min(owned), rel=0.01)  # running costs rise


def test_an_hour_that_is_only_rented_costs_its_rent():
    offer = {
        "label": "Node",
        "accelerator": H100,
        "accelerator_count": 8,
        "purchase_option": "on_demand",
        "usd_per_hour": 16.0,
    }
    free = {"cloud_support_rate": 0, "cloud_staff_fte_per_accelerator": 0}
    request = {
        "start": "2027-01",
        "horizon_months": 6,
        "use_catalog": False,
        "custom_offers": [offer],
        "on_prem": {"servers": []},
        "finance": {**free, "cloud_price_trend_per_year": 0},
        "projects": [project("one", burst(6, 0, 2)), project("two", burst(6, 2, 4))],
    }
    rates = planned(request).charge_rates
    assert {one.kind for one in rates} == {"rented", "all"}
    assert [one.cost_per_hour for one in rates] == pytest.approx([2.0] * 4, abs=1e-3)


def test_tax_is_in_the_rates_of_all_machines():
    taxed = planned(relay(finance={"tax_rate": 0.3}))
    every = [one.cost for one in taxed.rate_card if one.kind == "all"]
    assert sum(every) == pytest.approx(taxed.total_cost, abs=1)


def test_the_rate_card_spreads_capital_and_sums_to_the_total(answer):
    every = [one for one in answer.rate_card if one.kind == "all"]
    assert [one.year for one in every] == [2027, 2028, 2029]
    assert sum(one.cost for one in every) == answer.total_cost
    used = sum(one.accelerator_hours for one in answer.uses)
    assert sum(one.accelerator_hours for one in every) == pytest.approx(used, rel=1e-6)
    owned = [one.cost_per_hour for one in answer.rate_card if one.kind == "owned"]
    assert max(owned) < 1.5 * min(owned)  # the year of the invoice is no dearer than the others
