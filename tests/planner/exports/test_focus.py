"""FOCUS 1.2 rows: the identities and the rules that matter, without the validator."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import subprocess
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from planner.exports.focus import as_focus, focus_rows
from planner.exports.focus_columns import COLUMNS, OWN_COLUMNS
from planner.exports.rows import Context, Step
from pricing.common.invalid_input import InvalidInput
from tests.planner.exports.answers import answer, scenario, typed

KEYS = ("on_demand", "spot", "committed", "cloud_mix", "on_prem", "hybrid")
KNOWN_DEFECTS = {
    "InvoiceId-C-004",
    "InvoiceId-C-005",
    "CommitmentDiscountStatus-C-004",
    "CapacityReservationStatus-C-004",
}


SUBMITTED = Step("submitted", "ada", dt.datetime(2027, 1, 31, 8, 30, tzinfo=dt.UTC))


def context(key: str) -> Context:
    whose = {"name": "Plan", "team": "Alpha", "project": "Model A"}
    return Context(**whose, scenario=key, saved="4711", steps=(SUBMITTED,))


def rows(key: str) -> list[dict]:
    return list(focus_rows(typed(), context(key)))


def total(cells: list[dict], column: str) -> Decimal:
    return sum((row[column] for row in cells), Decimal(0))


@pytest.mark.parametrize("key", KEYS)
def test_billed_and_effective_cost_sum_to_the_scenario_s_total(key: str) -> None:
    expected = Decimal(scenario(key)["total_cost"])
    assert total(rows(key), "BilledCost") == expected
    assert total(rows(key), "EffectiveCost") == expected


@pytest.mark.parametrize("key", KEYS)
def test_no_row_books_nothing_of_a_commitment_that_is_over(key: str) -> None:
    counted = ("CommitmentDiscountQuantity", "EffectiveCost", "BilledCost")
    idle = [r for r in rows(key) if r.get("CommitmentDiscountStatus") == "Unused"]
    assert all(any(row[name] for name in counted) for row in idle)
    assert {row["BillingPeriodStart"][:4] for row in idle} <= {"2027", "2028"}


@pytest.mark.parametrize("key", ["committed", "hybrid", "cloud_mix"])
def test_effective_cost_of_use_is_the_billed_cost_of_purchases_per_commitment(key: str) -> None:
    by_id: dict[str, list[dict]] = defaultdict(list)
    for row in rows(key):
        if row.get("CommitmentDiscountId"):
            by_id[row["CommitmentDiscountId"]].append(row)
    if key == "committed":
        assert by_id
    for cells in by_id.values():
        usage = [row for row in cells if row["ChargeCategory"] == "Usage"]
        purchases = [row for row in cells if row["ChargeCategory"] == "Purchase"]
        assert total(usage, "EffectiveCost") == total(purchases, "BilledCost") != 0
        assert total(purchases, "EffectiveCost") == 0
        assert total(usage, "BilledCost") == 0
        assert {row["CommitmentDiscountStatus"] for row in usage} <= {"Used", "Unused"}
        assert all(row["CommitmentDiscountStatus"] is None for row in purchases)


def test_idle_commitments_have_rows_of_their_own() -> None:
    idle = [r for r in rows("committed") if r.get("CommitmentDiscountStatus") == "Unused"]
    assert idle
    assert all("ConsumedQuantity" not in row for row in idle)


@pytest.mark.parametrize("key", KEYS)
def test_list_and_contracted_cost_are_price_times_quantity(key: str) -> None:
    for row in rows(key):
        if "PricingQuantity" in row:
            assert row["ListCost"] == row["ListUnitPrice"] * row["PricingQuantity"]
            assert row["ContractedCost"] == row["ContractedUnitPrice"] * row["PricingQuantity"]


def test_a_contract_discount_lies_between_list_and_contracted_cost() -> None:
    compute = [r for r in rows("on_demand") if r["x_Category"] == "compute"]
    assert total(compute, "ContractedCost") == total(compute, "ListCost") * Decimal("0.9")


def test_capital_is_bought_once_and_written_off_month_by_month() -> None:
    owned = [r for r in rows("on_prem") if r["x_CapexOpex"] == "capex"]
    bought = [r for r in owned if r["ChargeCategory"] == "Purchase"]
    booked = [r for r in owned if r["ChargeCategory"] == "Usage"]
    assert total(bought, "EffectiveCost") == 0 == total(booked, "BilledCost")
    assert total(bought, "BilledCost") == total(booked, "EffectiveCost") > 0
    assert {r["x_DepreciationMethod"] for r in booked} == {"straight_line"}


@pytest.mark.parametrize("key", KEYS)
def test_required_values_are_there(key: str) -> None:
    for row in rows(key):
        assert row["ChargeCategory"] in ("Usage", "Purchase", "Tax", "Credit")
        assert row["ChargePeriodStart"] < row["ChargePeriodEnd"]
        assert row["ChargePeriodStart"].endswith("-01T00:00:00Z")
        for name in ("ListCost", "ContractedCost", "BilledCost", "EffectiveCost"):
            assert isinstance(row[name], Decimal)
        has_id = bool(row.get("CommitmentDiscountId"))
        assert has_id == bool(row.get("CommitmentDiscountCategory"))
        assert row["x_IsForecast"] == "true"
        assert row["x_ScenarioId"] == key
        assert json.loads(row["Tags"]) == {"team": "Alpha", "project": "Model A"}
        assert set(row) <= {*COLUMNS, *OWN_COLUMNS}


def test_pricing_categories_follow_the_purchase_option() -> None:
    def of(key: str, category: str) -> set[str]:
        return {r["PricingCategory"] for r in rows(key) if r["x_Category"] == category}

    assert of("on_demand", "compute") == {"Standard"}
    assert of("spot", "compute") == {"Dynamic"}
    assert of("committed", "commitment") == {"Committed"}


def test_the_file_has_every_column_in_order() -> None:
    reader = csv.reader(io.StringIO(as_focus(typed(), context("hybrid")).decode()))
    assert tuple(next(reader)) == (*COLUMNS, *OWN_COLUMNS)


def test_the_recommended_scenario_is_exported_by_default() -> None:
    first = next(focus_rows(typed(), Context()))
    assert first["x_ScenarioId"] == answer()["recommendation"]["scenario"]


def test_an_unknown_scenario_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="scenario: 'cheapest' is no feasible one: on_demand"):
        list(focus_rows(typed(), Context(scenario="cheapest")))


@pytest.mark.skipif("FOCUS_VALIDATOR" not in os.environ, reason="make focus sets FOCUS_VALIDATOR")
@pytest.mark.parametrize("key", KEYS)
def test_the_public_validator_finds_nothing_beyond_its_own_defects(
    key: str, tmp_path: Path
) -> None:
    """FOCUS_VALIDATOR is the program; its rule file is read relative to its own packages."""
    program = Path(os.environ["FOCUS_VALIDATOR"])
    data = tmp_path / "focus.csv"
    data.write_bytes(as_focus(typed(), context(key)))
    home = next(program.parent.parent.glob("lib/python*/site-packages"))
    command = [program, "--data-file", data, "--block-download", "--validate-version", "1.2.0.1"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=True)
    assert "| Pass: " in done.stdout
    failed = {line.split()[1].rstrip(":") for line in done.stdout.splitlines() if ": FAIL" in line}
    unknown = {rule for rule in failed if rule.rsplit("-", 1)[0] not in KNOWN_DEFECTS}
    assert not unknown, done.stdout[-4000:]
