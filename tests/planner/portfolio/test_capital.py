"""What has to be approved for the first order of a portfolio."""

import pytest

from planner.comparison import compare
from planner.portfolio.words import list_signed
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import H100, TODAY, burst, planned, project, relay


def plan(request):
    return planned(request, what_if=False)


@pytest.fixture(scope="module")
def answer():
    return plan(relay())


def test_the_capital_to_approve_is_all_that_the_first_order_is_invoiced(answer):
    """The server with its network, spares and installation, as the lines of its month say."""
    invoices = {"capex", "network_storage", "spares", "install"}
    first = answer.next_order.month
    due = {
        str(one.category): one.amount
        for one in answer.lines
        if one.month == first and one.category in invoices
    }
    assert due.keys() >= {"capex", "network_storage", "spares"}
    assert answer.capital_to_approve == sum(due.values()) > due["capex"]


def test_the_resale_that_a_cost_counts_on_is_told(answer):
    sold = -sum(one.amount for one in answer.lines if str(one.category) == "residual")
    assert answer.resale == sold > 0
    assert f"{sold:,.0f} USD from reselling servers at the end" in (answer.headline)


def test_the_next_order_is_of_servers_whatever_is_signed_before():
    """A commitment serves until the server, for which a second project is needed, is due."""
    steady = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 8 * 657,
              "peak_accelerators": 8}  # fmt: skip
    projects = [project("steady", steady), project("later", burst(36, 18, 18))]
    answer = plan({"start": "2027-01", "horizon_months": 36, "projects": projects, "shares": "use"})
    first = min(answer.purchases, key=lambda row: row.month)
    assert (first.kind, answer.next_order.kind) == ("commitment", "server")
    assert answer.next_order.month > first.month


def test_contracts_are_signed_for_as_in_the_plans_of_projects_apart():
    """Three labs that each sign a reservation paid upfront: the joint plan says so thrice."""
    steady = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": 8 * 657,
              "peak_accelerators": 8}  # fmt: skip
    months = {"start": "2027-01", "horizon_months": 36}
    projects = [project(f"lab {n}", steady, at_once=True) for n in range(3)]
    answer = plan({**months, "projects": projects, "shares": "use"})
    alone = compare({**months, "workload": steady}, bundled_catalog(), today=TODAY).verdict
    signed = {one.title: one for one in list_signed(answer)}
    assert alone is not None
    assert alone.obligation_to_sign
    assert answer.obligation_to_sign == 3 * alone.obligation_to_sign
    assert signed["Capital to approve first"].amount == (alone.capital_to_approve or 0) == 0
    assert signed["Contracts to sign first"].note == "all of it paid upfront"
    assert f"Sign for {answer.obligation_to_sign:,.0f} USD (all of it" in answer.headline
