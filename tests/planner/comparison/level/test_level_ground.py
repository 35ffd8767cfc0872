"""Renting and owning under the same rules: what is the same on both sides costs the same."""

from __future__ import annotations

import pytest

from planner.comparison import compare
from planner.contract.answer.common import ScenarioKey
from planner.costing.assumptions import cloud_support
from planner.costing.assumptions.assumptions import PURCHASE_RISKS
from tests.planner.comparison.compared import Compared, compared
from tests.planner.comparison.level.one_machine import scenarios
from tests.planner.costing.market_of import CATALOG, H100, TODAY, catalog, offer, request_of

# Goodput and spares ---------------------------------------------------------------------------


def test_failures_are_paid_once() -> None:
    """Lost time is in the hours of both sides, broken machines in the spares of the owned ones:
    no owned hour is taken away besides."""
    found = compared(hours=5840, on_prem={"servers": [{"server": "hgx-h100-8"}]})
    (server,) = (s for s in found.inputs.sources if s.is_owned)
    assert server.hours_per_month == 730
    assert server.goodput == 1
    spares = [c for c in server.unit_charges if c.category == "spares"]
    assert len(spares) == 1


# Support plans --------------------------------------------------------------------------------


def test_support_of_the_clouds_by_the_bill() -> None:
    """AWS Enterprise Support of a bill of 2 million a month: 94,500 (atonementlicensing.com)."""
    found = scenarios(
        {"purchase_option": "on_demand", "usd_per_hour": 2_000_000 / 730},
        {"unit_price": 1, "power_kw": 0},
        finance={"cloud_support_plan": "aws_enterprise", "cloud_support_rate": None},
        months=1,
    )
    lines = [line for line in found["on_demand"]["lines"] if line["category"] == "support"]
    assert sum(float(line["amount"]) for line in lines) == pytest.approx(94_500, abs=0.02)


@pytest.mark.parametrize(
    ("plan", "bill", "charge"),
    [
        ("none", 50_000, 0),
        ("aws_business_plus", 100, 29),
        ("aws_business_plus", 100_000, 900 + 4900 + 1000),
        ("gcp_enhanced", 300_000, 1000 + 4900 + 8500 + 1500),
        ("azure_professional_direct", 1_000_000, 1000),
    ],
)
def test_bands_of_the_plans(plan: str, bill: float, charge: float) -> None:
    assert cloud_support.get(plan).charge(bill) == pytest.approx(charge)


def test_a_given_share_goes_before_a_named_plan() -> None:
    finance = {"cloud_support_plan": "aws_enterprise", "cloud_support_rate": 0.02}
    found = compared(catalog(offer("10")), finance=finance)
    assert found.inputs.assumptions["cloud_support_rate"] == 0.02


def test_defaults_charge_both_sides_for_people_and_support() -> None:
    found = compared(
        catalog(offer("10")),
        on_prem={"servers": [{"server": "hgx-h100-8"}]},
        finance={"cloud_support_rate": None, "cloud_staff_fte_per_accelerator": None},
    )
    for scenario in found.answer.scenarios:
        if scenario.key in ("on_demand", "on_prem"):
            assert {"support", "staff"} <= set(scenario.cost_by_category)


@pytest.mark.parametrize("option", ["on_demand", "reserved"])
def test_the_first_edition_charges_rent_alone(option: str) -> None:
    term = {"term_months": 12, "payment_option": "no_upfront"} if option == "reserved" else {}
    found = compared(
        catalog(offer("10"), offer("9", option, **term)),
        rules=1,
        finance={"cloud_support_rate": None, "cloud_staff_fte_per_accelerator": None},
    )
    fields = {row.field for row in found.answer.assumptions}
    assert not fields & {"finance.cloud_support_rate", "on_prem.resale_cost_rate"}
    categories = {line.category for s in found.answer.scenarios for line in s.lines if s.feasible}
    owned = {"power", "colocation", "support", "staff", "capex"}
    assert categories - owned <= {
        "compute", "commitment", "network_storage", "spares", "residual"
    }  # fmt: skip


# Who gains ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def level() -> Compared:
    return compared(
        catalog(offer("30")),
        hours=5840,
        horizon_months=36,
        sensitivity=True,
        on_prem={"servers": [{"server": "hgx-h100-8"}], "pue": 1.3},
        finance={"cloud_support_rate": None, "cloud_staff_fte_per_accelerator": None},
    )


def test_every_default_says_whom_it_helps(level: Compared) -> None:
    rows = {row.field: row for row in level.answer.default_effects}
    assert rows["on_prem.support_rate_per_year"].gains == "rent"
    assert rows["on_prem.residual_rate"].gains == "own"
    assert rows["finance.cloud_support_rate"].gains == "own"
    assert rows["finance.cloud_staff_fte_per_accelerator"].gains == "own"
    assert "on_prem.pue" not in rows  # given, so no default
    sizes = [abs(row.effect) for row in level.answer.default_effects]
    assert sizes == sorted(sizes, reverse=True)
    for row in rows.values():
        assert (row.effect < 0) == (row.gains == "own")


def test_an_effect_is_what_the_lines_of_the_default_cost(level: Compared) -> None:
    """The support plan's lines of the rented plan, less those of the on-prem one, in present
    value."""
    (row,) = (r for r in level.answer.default_effects if r.field == "finance.cloud_support_rate")
    discount = level.calendar.discount

    def support(key: str) -> float:
        lines = level.answer.by_key[key].lines  # type: ignore[index]
        of_plan = (x for x in lines if x.label.startswith("Support plan"))
        return float(sum(float(x.amount) * discount[x.month] for x in of_plan))

    assert float(row.effect) == pytest.approx(support("on_prem") - support("on_demand"), abs=1)


def test_data_has_its_price_on_both_sides() -> None:
    kept = compared(
        catalog(offer("30")),
        hours=5840,
        horizon_months=12,
        sensitivity=True,
        on_prem={"servers": [{"server": "hgx-h100-8"}]},
        data={"storage_gib": 102_400},
    )
    rows = {row.field: row for row in kept.answer.default_effects}
    assert rows["data.on_prem_storage_per_tib_month"].gains == "rent"
    assert rows["data.storage_per_gib_month"].gains == "own"


def test_without_servers_or_rent_nobody_gains() -> None:
    assert not compared(sensitivity=True, on_prem={"servers": []}).answer.default_effects
    one = {"server": "custom", "accelerator": H100, "accelerator_count": 8, "unit_price": 9,
           "power_kw": 1}  # fmt: skip
    assert not compared(sensitivity=False, on_prem={"servers": [one]}).answer.default_effects


# Answers of before -----------------------------------------------------------------------------


@pytest.mark.sweep
def test_an_answer_of_before_keeps_its_figures_when_computed_again() -> None:
    """Its assumptions lack the figures that hold both sides alike: none of them counts."""
    fields = {"on_prem": {"servers": [{"server": "hgx-h100-8"}], "useful_life_months": 12}}
    request = request_of(4000, sensitivity=True, cheaper_if=True, **fields) | {"finance": {}}
    now = compare(request, CATALOG, today=TODAY)
    known = {
        "on_prem.workstation_lead_time_months",
        "constraints.place_order",
        "on_prem.insurance_rate_per_year",
        "on_prem.resale_cost_rate",
        "finance.upfront_deduction_spread",
        *PURCHASE_RISKS,
    }
    before = [
        row
        for row in now.assumptions
        if row.field not in known
        and "cloud_s" not in row.field
        and not row.field.endswith(("cost_trend_per_year", "t_trend_per_year", "n_trend_per_year"))
        and not row.field.endswith("server_price_trend_per_year")
    ]
    again = compare(request, CATALOG, today=TODAY, previous_assumptions=before)
    assert {row.field for row in again.assumptions} == {row.field for row in before}
    own = again.by_key[ScenarioKey.ON_PREM]
    assert "residual" not in {x.category for x in own.lines if x.month < 24}
    assert not again.default_effects
    rent = again.by_key[ScenarioKey.ON_DEMAND]
    assert set(rent.cost_by_category) == {"compute"}
    same = compare(request, CATALOG, today=TODAY, previous_assumptions=now.assumptions)
    assert same.to_json() == now.to_json()


def test_an_answer_of_before_deducts_upfront_payments_when_they_are_paid() -> None:
    """At 25 % and 10 % a year: 400,000 · 0.75 now, against a quarter of it back over 24 months."""
    upfront = catalog(
        offer("0", "reserved", term_months=24, payment_option="all_upfront", upfront=400_000),
        offer("100"),
    )
    request = request_of(5840, finance={"tax_rate": 0.25, "discount_rate_per_year": 0.1})
    now = compare(request, upfront, today=TODAY)
    before = [x for x in now.assumptions if x.field != "finance.upfront_deduction_spread"]
    again = compare(request, upfront, today=TODAY, previous_assumptions=before)
    worth = [x.by_key[ScenarioKey.COMMITTED].net_present_cost for x in (now, again)]
    assert worth[1] == 300_000
    later = sum(1.1 ** (-month / 12) for month in range(24)) / 24
    assert float(worth[0] or 0) == pytest.approx(400_000 - 100_000 * later, abs=0.05)
