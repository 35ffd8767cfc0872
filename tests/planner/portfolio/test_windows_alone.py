"""What a project pays alone: as in its comparison, and moved by the rules for several."""

from planner.comparison import compare
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import H100, TODAY, burst, project, relay
from tests.planner.portfolio.portfolios import planned as plan


def movable(**fields):
    """Six months on a machine of eight, any time in two years: to buy one costs least once it is
    resold, and does not pay back without that."""
    offer = {
        "label": "Node",
        "accelerator": H100,
        "accelerator_count": 8,
        "purchase_option": "on_demand",
        "usd_per_hour": 55.04,
    }
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
    free, rented = plan(movable()), plan(movable(on_prem={"servers": []}))
    assert free.net_present_cost <= rented.net_present_cost
    assert {use.month for use in rented.uses} != set(range(14, 20))


def test_a_project_that_leaves_has_the_plan_of_its_comparison():
    together = plan(relay(2, 24, what_if=False) | {"on_prem": {"servers": []}})
    for one, asked in zip(together.projects, relay(2, 24)["projects"], strict=True):
        plain = {"start": "2027-01", "sensitivity": False, "cheaper_if": False}
        request = plain | {"horizon_months": 24, "workload": asked["workload"]}
        request |= {"on_prem": {"servers": []}}
        alone = compare(request, bundled_catalog(), today=TODAY)
        assert one.share <= one.alone
        assert one.alone == alone.recommended.net_present_cost
        assert one.alone_total == alone.recommended.total_cost
