"""What a group pays is at most what is left of the plan of all if the others leave it; what a
project pays alone is as in its comparison, and moved by the rules for several."""

from decimal import Decimal

import pytest

from planner.comparison import compare
from planner.portfolio.words import explain_share
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import H100, TODAY, burst, planned, project, relay


def hours(each, peak):
    workload = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": each}
    return {**workload, "peak_accelerators": peak}


PROJECTS = [
    project("steady", hours(4380, 8), at_once=True),
    project("bursty", burst(24, 2, 3, 16), at_once=True),
    project("small", hours(146, 1), at_once=True),
]


def plan(projects=PROJECTS, **fields):
    request = {"start": "2027-01", "horizon_months": 24, "projects": projects}
    return planned(request | {"on_prem": {"lead_time_months": 3}}, **fields)


@pytest.fixture(scope="module")
def answer():
    return plan()


def test_a_project_that_rents_for_itself_alone_saves_and_costs_nothing(answer):
    small = answer.project("small")
    assert answer.saving > 1_000
    assert {use.shared for use in answer.uses if use.project == "small"} == {False}
    assert small.alone == small.share
    assert float(small.adds) == pytest.approx(float(small.alone), abs=0.02)
    assert small.saving == 0


def test_a_project_that_leaves_takes_the_machines_that_it_holds_along():
    server = {"server": "hgx-h100-8", "units": 1, "bought": "2026-06"}
    lender = project("lender", hours(730, 8), already_owned=[server])
    others = [project("first", burst(24, 2, 4)), project("second", burst(24, 8, 4))]
    lent = plan([lender, *others]).project("lender").without
    apart = plan(others).net_present_cost
    assert float(lent) == pytest.approx(float(apart), abs=0.1)


def test_a_project_that_makes_a_purchase_pay_back_is_not_paid_for_joining():
    parts = [project("long", burst(24, 3, 10)), project("middle", burst(24, 13, 5))]
    last = project("short", burst(24, 18, 2))
    together, others = plan([*parts, last]), plan(parts)
    assert together.project("short").without <= others.net_present_cost
    assert all(one.share > 0 for one in together.projects)


RELAY = [
    project("first", burst(36, 0, 12)),
    project("second", burst(36, 12, 12)),
    project("third", burst(36, 24, 12)),
]
STRANGERS = [
    project("small", {**hours(20, 1), "accelerator": "L4"}),
    project("other", {**hours(1000, 4), "accelerator": "L40S"}),
]


def relay_of_three_years(projects, **fields):
    return plan(projects, horizon_months=36, **fields)


def test_projects_that_share_nothing_change_no_share_and_are_not_paid_for_joining():
    three, five = relay_of_three_years(RELAY), relay_of_three_years([*RELAY, *STRANGERS])
    for name in ("small", "other"):
        stranger = five.project(name)
        assert stranger.share == pytest.approx(stranger.alone, abs=1)
    for name in ("first", "second", "third"):
        assert five.project(name).share == pytest.approx(three.project(name).share, abs=2)


@pytest.mark.parametrize("limits", [{}, {"total_budget": 760_000}])
def test_where_nothing_is_shared_the_others_pay_what_they_would_alone(limits):
    pair = [project(name, hours(4000, 8), at_once=True) for name in ("one", "other")]
    told = plan(pair, horizon_months=12, limits=limits)
    for share in told.projects:
        assert share.adds == share.alone == share.share
        assert share.without == told.net_present_cost - share.share


def test_a_share_that_a_cent_parts_from_its_own_plan_reads_as_much(answer):
    small = answer.project("small")
    near = small.model_copy(
        update={"share": small.share + Decimal("0.01"), "saving": Decimal("-0.01")}
    )
    assert "as much as it would pay alone" in explain_share(answer, near)


def movable(**fields):
    """Six months on a machine of eight, any time in two years: to buy one costs least once it is
    resold, and does not pay back without that."""
    offer = {"label": "Node", "accelerator": H100, "accelerator_count": 8,
             "purchase_option": "on_demand", "usd_per_hour": 55.04}  # fmt: skip
    window = {"start": "2027-01", "deadline": "2028-12"}
    return {
        "start": "2027-01",
        "horizon_months": 24,
        "use_catalog": False,
        "custom_offers": [offer],
        "projects": [project("movable", burst(24, 14, 6), window=window)],
        **fields,
    }


def test_servers_to_buy_never_make_a_project_that_may_move_dearer():
    free, rented = planned(movable()), planned(movable(on_prem={"servers": []}))
    assert free.net_present_cost <= rented.net_present_cost
    assert {use.month for use in rented.uses} != set(range(14, 20))


def test_a_project_that_leaves_has_the_plan_of_its_comparison():
    together = planned(relay(2, 24, what_if=False) | {"on_prem": {"servers": []}})
    for one, asked in zip(together.projects, relay(2, 24)["projects"], strict=True):
        plain = {"start": "2027-01", "sensitivity": False, "cheaper_if": False}
        request = plain | {"horizon_months": 24, "workload": asked["workload"]}
        request |= {"on_prem": {"servers": []}}
        alone = compare(request, bundled_catalog(), today=TODAY)
        assert one.share <= one.alone
        assert one.alone == alone.recommended.net_present_cost
        assert one.alone_total == alone.recommended.total_cost
