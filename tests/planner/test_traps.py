"""How peers' totals went wrong, each as a test by its number: 12 to 17, 19 and 20.

Traps of prices (1 to 11) are named where prices are read, checked and shipped; 18 stands with
the interfaces.
"""

import csv
import io
from decimal import Decimal

import pytest
from django.urls import reverse

from planner.exports.csv_export import text_cell
from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from pricing.market.offers import HOURS_PER_MONTH
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import H100, catalog, offer
from tests.planner.workspace import Workspace

SERVER = {
    "server": "custom",
    "accelerator": H100,
    "accelerator_count": 8,
    "unit_price": 392_000,
    "power_kw": 7.84,
    "idle_power_kw": 1.0,
}


def scenario(answer, key):
    return next(one for one in answer["scenarios"] if one["key"] == key)


def lines(one, category):
    return [line for line in one["lines"] if line["category"] == category]


def test_trap_12_every_route_to_a_total_is_the_sum_of_the_same_lines() -> None:
    for one in compared().as_dict()["scenarios"]:
        total = sum(Decimal(line["amount"]) for line in one["lines"])
        assert total == Decimal(one["total_cost"]) == Decimal(one["cumulative_cost"][-1])
        assert total == sum(map(Decimal, one["cost_by_category"].values()))


def test_trap_13_what_fits_nowhere_is_said_with_the_limit_and_costs_nothing_invented() -> None:
    answer = compared(
        constraints={"min_accelerator_memory_gib": 4000}, on_prem={"servers": []}
    ).as_dict()
    assert answer["recommendation"]["scenario"] is None
    for one in answer["scenarios"]:
        assert not one["feasible"]
        assert one["total_cost"] is None
        is_owning = one["key"] == "on_prem"
        limit = (
            "the list of servers is empty" if is_owning else "the minimum memory of an accelerator"
        )
        assert any(limit in reason for reason in one["why_not"])
        assert "no server fits" not in one["why_not"]


def test_trap_14_a_month_is_730_hours_wherever_one_is_counted() -> None:
    prices = catalog(offer("55.04"), offer("34.00", "reserved", term_months=12))
    found = compared(
        prices, hours=8 * HOURS_PER_MONTH, horizon_months=12, on_prem={"servers": [SERVER]}
    ).as_dict()
    (month, *_) = lines(scenario(found, "on_demand"), "compute")
    assert float(month["quantity"]) == pytest.approx(730)
    row = found["break_even"][0]
    assert row["months_at_full_use"] == pytest.approx(row["hours"] / 730)
    (begun, *_) = lines(scenario(found, "cloud"), "commitment")
    assert float(begun["quantity"]) % 730 == pytest.approx(0)


def test_trap_15_capital_is_paid_once_and_break_even_takes_no_amortisation_off() -> None:
    found = compared(
        hours=3200,
        horizon_months=48,
        on_prem={
            "servers": [SERVER | {"running_cost_per_hour": 3376 / 400}],
            "lead_time_months": 0,
            "network_storage_rate": 0,
        },
        use_catalog=False,
        custom_offers=[
            {"label": "rent", "accelerator": H100, "accelerator_count": 8,
             "purchase_option": "on_demand", "usd_per_hour": 36.0}
        ],
    ).as_dict()  # fmt: skip
    owned = scenario(found, "on_prem")
    assert [Decimal(line["amount"]) for line in lines(owned, "capex")] == [Decimal(392_000)]
    hours = found["break_even"][0]["hours"]
    assert hours / 400 == pytest.approx(392_000 / (14_400 - 3_376), rel=1e-6)  # 35.6 months


def test_trap_16_idle_hours_of_commitments_and_servers_are_paid() -> None:
    prices = catalog(offer("55.04"), offer("5.00", "reserved", term_months=12))
    found = compared(prices, hours=[800] * 12, horizon_months=12, on_prem={"servers": []})
    committed = scenario(found.as_dict(), "cloud")
    assert Decimal(committed["total_cost"]) == Decimal("5.00") * 730 * 12
    owned = scenario(
        compared(
            prices, hours=[8] * 12, horizon_months=12, on_prem={"already_owned": [
                {"server": "dgx-h100", "units": 1, "bought": "2026-01"}], "servers": []},
        ).as_dict(),
        "on_prem",
    )  # fmt: skip
    power = sum(float(line["quantity"]) for line in lines(owned, "power"))
    assert power > 12 * 700  # kWh or hours: the idle ones are in


def test_trap_17_rates_are_dense_and_more_than_peak_is_refused() -> None:
    assert get(H100).dense_tflops("bf16") == pytest.approx(989.4)  # 1,979 with sparsity
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e11, "accelerator": H100}
    assert any(
        "65" in w for w in estimate({"workload": work | {"mfu": 0.7}}).answer.to_json()["warnings"]
    )
    with pytest.raises(InvalidInput):
        estimate({"workload": work | {"mfu": 1.2}})


@pytest.mark.parametrize("evil", ["=1+1", "+1+2", "-1+2", "@SUM(A1)", "\t=1", "\r=1"])
def test_trap_19_text_never_runs_as_a_formula(evil) -> None:
    sheet = io.StringIO()
    csv.writer(sheet).writerow([text_cell(evil)])
    assert sheet.getvalue().lstrip('"')[0] not in "=+-@\t\r"


@pytest.mark.django_db
def test_trap_20_a_foreign_object_answers_like_a_missing_one(client) -> None:
    ours, theirs = Workspace("alpha"), Workspace("beta")
    project = theirs.project()
    client.force_login(next(iter(ours.users.values())))
    foreign = client.get(reverse("api:project-detail", args=[project.pk]))
    missing = client.get(
        reverse("api:project-detail", args=["0" * 8 + "-0000-4000-8000-" + "0" * 12])
    )
    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content
