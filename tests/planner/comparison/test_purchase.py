"""Owning a server, line by line, against figures worked by hand."""

from decimal import Decimal
from typing import Any

import pytest

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.scenario import CostLine
from planner.costing.results.scenario_result import Scenario
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import Offer
from tests.planner.comparison.compared import compared, solved
from tests.planner.costing.market_of import CATALOG, H100, catalog, offer, request_of

SERVER = {
    "server": "custom", "label": "node", "accelerator": H100, "accelerator_count": 8,
    "unit_price": 100_000, "power_kw": 10, "idle_power_kw": 2,
}  # fmt: skip
OWNING: dict[str, Any] = {
    "servers": [SERVER],
    "electricity_per_kwh": 0.1,
    "pue": 1.5,
    "colocation_per_kw_month": 200,
    "support_rate_per_year": 0.12,
    "network_storage_rate": 0.2,
    "install_cost_rate": 0.05,
    "staff_fte_per_server": 0.1,
    "staff_cost_per_year": 120_000,
    "spare_rate": 0.1,
    "useful_life_months": 48,
    "residual_rate": 0.64,
    "lead_time_months": 2,
    "utilisation_ceiling": 1.0,
    "resale_cost_rate": 0.0,
}
FINANCE = {
    "discount_rate_per_year": 0.0,
    "electricity_trend_per_year": 0.0,
    "staff_cost_trend_per_year": 0.0,
    "colocation_trend_per_year": 0.0,
    "support_trend_per_year": 0.0,
}


def on_prem(
    hours: float = 8 * 365, months: int = 12, finance: dict[str, Any] | None = None, **owning: Any
) -> Scenario:
    request = request_of(
        hours, horizon_months=months, on_prem=OWNING | owning, finance=FINANCE | (finance or {})
    )
    return solved(request, CATALOG).scenarios[ScenarioKey.ON_PREM]


def of(scenario: Scenario, category: str) -> list[CostLine]:
    return [line for line in scenario.lines if line.category == category]


def amount(scenario: Scenario, category: str) -> Decimal:
    return sum((line.amount for line in of(scenario, category)), Decimal(0))


@pytest.fixture(scope="module")
def year() -> Scenario:
    return on_prem()


@pytest.mark.parametrize(
    ("category", "expected"),
    [("capex", 100_000), ("network_storage", 20_000), ("install", 5_000), ("spares", 10_000)],
)
def test_what_is_paid_at_purchase(year: Scenario, category: str, expected: int) -> None:
    (line,) = of(year, category)
    assert (line.month, line.amount) == (0, expected)


@pytest.mark.parametrize(
    ("category", "a_month"), [("colocation", 2000), ("support", 1000), ("staff", 1000)]
)
def test_what_is_paid_every_month_in_service(year: Scenario, category: str, a_month: int) -> None:
    lines = of(year, category)
    assert [line.month for line in lines] == list(range(2, 12))
    assert {line.amount for line in lines} == {Decimal(a_month)}


def test_electricity_at_load_and_idle(year: Scenario) -> None:
    # 365 h at 10 kW and 365 h at 2 kW, PUE 1.5: 6,570 kWh at 0.10 USD.
    lines = of(year, "power")
    assert [line.month for line in lines] == list(range(2, 12))
    assert all(line.quantity == pytest.approx(6570) for line in lines)
    assert {line.amount for line in lines} == {Decimal("657.00")}


def test_residual_value_at_the_horizon(year: Scenario) -> None:
    # One year old: 64 % of the unit price.
    (line,) = of(year, "residual")
    assert (line.month, line.amount) == (12, Decimal("-64000.00"))


def test_a_server_whose_life_is_over_is_sold_then() -> None:
    """In service from month 2 to 12, a year old; the next one from month 12 on."""
    sold = of(on_prem(months=24, useful_life_months=10), "residual")
    assert (sold[0].month, sold[0].amount) == (12, Decimal("-64000.00"))


def test_on_demand_until_the_first_server_arrives(year: Scenario) -> None:
    assert sorted({line.month for line in of(year, "compute")}) == [0, 1]


def test_a_given_running_cost_replaces_power_colocation_support_and_staff() -> None:
    server = SERVER | {"running_cost_per_hour": 0.87}
    scenario = on_prem(servers=[server])
    assert not {line.category for line in scenario.lines} & {"colocation", "support", "staff"}
    assert amount(scenario, "power") == Decimal("3175.50")  # 0.87 · 365 h · 10 months


def test_the_ceiling_takes_more_servers() -> None:
    full, half = on_prem(8 * 730), on_prem(8 * 730, utilisation_ceiling=0.5)
    assert amount(half, "capex") == 2 * amount(full, "capex")


def test_a_server_whose_life_ends_is_bought_again() -> None:
    scenario = on_prem(months=24, useful_life_months=12, lead_time_months=0)
    assert [line.month for line in of(scenario, "capex")] == [0, 12]


def test_support_and_insurance_follow_the_price_that_was_paid() -> None:
    """A second server for 81,000, of which 12 % a year is support and 1.2 % insurance."""
    own = {"useful_life_months": 12, "lead_time_months": 0, "insurance_rate_per_year": 0.012}
    trends = {"server_price_trend_per_year": -0.19, "support_trend_per_year": 0.1}
    scenario = on_prem(months=24, finance=trends, **own)
    assert [line.amount for line in of(scenario, "capex")] == [100_000, 81_000]
    by_month = {line.month: line.amount for line in of(scenario, "support")}
    assert (by_month[0], by_month[12]) == (1000, Decimal("891.00"))
    assert [line.amount for line in of(scenario, "insurance")][11:13] == [100, 81]


def test_tax_takes_its_share_of_everything() -> None:
    plain, taxed = on_prem(), on_prem(finance={"tax_rate": 0.25})
    assert float(taxed.total_cost) == pytest.approx(0.75 * float(plain.total_cost), abs=1)
    assert {line.category for line in taxed.lines} - {line.category for line in plain.lines} == {
        "tax"
    }


@pytest.mark.parametrize("method", ["straight_line", "macrs_5"])
def test_depreciation_moves_tax_in_time_alone(method: str) -> None:
    scenario = on_prem(finance={"tax_rate": 0.25, "depreciation": method})
    assert float(scenario.total_cost) == pytest.approx(0.75 * float(on_prem().total_cost), abs=1)


def test_macrs_saves_tax_earlier() -> None:
    rate = {"tax_rate": 0.25, "discount_rate_per_year": 0.1}
    slow, fast = (
        on_prem(months=72, useful_life_months=72, finance=rate | {"depreciation": method})
        for method in ("straight_line", "macrs_5")
    )
    assert fast.net_present_cost < slow.net_present_cost


def test_macrs_ends_with_the_sale() -> None:
    """Sold after a year, of which the first tax year wrote off a fifth: the rest goes with it."""
    scenario = on_prem(
        months=24, useful_life_months=12, lead_time_months=0, finance={"depreciation": "macrs_5"}
    )
    (written,) = scenario.write_off.values()
    month = Decimal("2250.00")  # 135,000 · 20 % / 12
    assert set(written[:12]) == set(written[13:24]) == {month}
    assert written[12] == 135_000 - 12 * month + month


def test_without_depreciation_capital_saves_no_tax() -> None:
    taxed = on_prem(finance={"tax_rate": 0.25, "depreciation": "none"})
    relief = amount(taxed, "tax")
    expenses = sum(
        (amount(taxed, c) for c in ("power", "colocation", "support", "staff", "compute")),
        Decimal(0),
    )
    assert float(relief) == pytest.approx(-0.25 * float(expenses), abs=0.1)


def owned(bought: str, units: int = 1, months: int = 24, **owning: Any) -> Scenario:
    already = [{"server": "node", "units": units, "bought": bought}]
    return on_prem(months=months, already_owned=already, **owning)


def test_servers_already_owned_keep_their_age() -> None:
    scenario = owned("2025-01", months=12)
    assert not of(scenario, "capex")
    assert not of(scenario, "residual")


def test_a_server_of_the_future_is_not_owned_already() -> None:
    with pytest.raises(InvalidInput) as caught:
        owned("2027-03")
    assert caught.value.field == "on_prem.already_owned.0.bought"


def test_an_unknown_server_is_refused_with_its_neighbours() -> None:
    with pytest.raises(InvalidInput, match="dgx-h100") as caught:
        on_prem(servers=[{"server": "dgx-h10"}])
    assert caught.value.field == "on_prem.servers.0.server"


def test_two_custom_servers_need_labels() -> None:
    plain = {k: v for k, v in SERVER.items() if k != "label"}
    with pytest.raises(InvalidInput, match="label") as caught:
        on_prem(servers=[plain, plain])
    assert caught.value.field == "on_prem.servers.1.server"


@pytest.mark.parametrize(("kept_by_lessor", "category"), [(0.0, "capex"), (0.6, "lease")])
def test_a_lease_and_a_purchase_of_one_server_compete(kept_by_lessor: float, category: str) -> None:
    lease = {"method": "lease", "months": 24, "interest_rate_per_year": 0.02}
    leased = SERVER | {"financing": lease | {"balloon_rate": kept_by_lessor}}
    scenario = on_prem(months=24, servers=[SERVER, leased], lead_time_months=0)
    categories = {line.category.value for line in scenario.lines}
    assert categories & {"capex", "lease"} == {category}


@pytest.mark.parametrize(("months", "can_be_signed"), [(24, True), (25, False)])
def test_a_lease_within_the_plan_is_signed_where_it_ends_with_the_plan_at_the_latest(
    months: int, can_be_signed: bool
) -> None:
    leased = SERVER | {"financing": {"method": "lease", "months": months - 2}}
    request = request_of(2920, on_prem=OWNING | {"servers": [leased]}, term_end="within")
    assert solved(request).scenarios[ScenarioKey.ON_PREM].feasible == can_be_signed


def test_a_server_of_one_s_own_stands_in_a_data_centre_and_is_looked_after() -> None:
    found = solved(request_of(2920, on_prem={"servers": [SERVER]}))
    categories = {line.category.value for line in found.scenarios[ScenarioKey.ON_PREM].lines}
    assert {"colocation", "staff"} <= categories


@pytest.mark.parametrize("financing", [{}, {"method": "purchase"}])
def test_one_server_twice_with_one_way_of_paying_is_refused(financing: dict[str, Any]) -> None:
    again = {"server": "dgx-h100"} | ({"financing": financing} if financing else {})
    with pytest.raises(InvalidInput, match="'dgx-h100' is given twice; give it financing"):
        on_prem(servers=[{"server": "dgx-h100"}, again])


def test_a_server_that_arrives_after_the_horizon_owns_nothing() -> None:
    scenario = on_prem(months=6, lead_time_months=6)
    assert not scenario.feasible
    assert "arrives after the horizon" in scenario.why_not[0]


def test_without_a_month_of_purchase_half_of_the_life_is_over() -> None:
    # A life of four years: as one bought in January 2025, two years before the start.
    dated, undated = owned("2025-01", months=12), on_prem(already_owned=[{"server": "node"}])
    assert undated.lines == dated.lines


@pytest.mark.parametrize(
    ("price", "prices", "way"),
    [
        (200_000, [offer("60")], "capex"),
        (2_000_000, [offer("60"), offer("20", "reserved", term_months=12)], "commitment"),
        (2_000_000, [offer("5")], "compute"),
    ],
)
def test_growth_beside_a_server_that_is_there_is_met_by_the_cheapest_way(
    price: int, prices: list[Offer], way: str
) -> None:
    """One server in place, and twice its work from the second year on."""
    box = SERVER | {"unit_price": price}
    own = {"servers": [box], "already_owned": [{"server": "node", "bought": "2026-06"}]}
    hours = [5840] * 12 + [11_680] * 24
    found = compared(catalog(*prices), hours, horizon_months=36, on_prem=own)
    assert found.advised is not None
    ways = {line.category.value for line in found.advised.lines}
    assert ways & {"capex", "commitment", "compute"} == {way}
