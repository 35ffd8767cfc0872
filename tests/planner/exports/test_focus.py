"""FOCUS rows: the identities and the rules that matter, without the validator."""

import csv
import datetime as dt
import io
import json
from collections import defaultdict
from decimal import Decimal

import pytest

from planner.exports import focus
from planner.exports.csv_export import Context, Step
from planner.exports.focus import as_commitments, as_focus, commitment_rows, focus_rows
from pricing.common.invalid_input import InvalidInput
from tests.planner.exports.answers import answer, scenario, typed

KEYS = ("on_demand", "cloud", "on_prem", "hybrid")
SUBMITTED = Step("submitted", "ada", dt.datetime(2027, 1, 31, 8, 30, tzinfo=dt.UTC))


def context(key: str) -> Context:
    whose = {"name": "Plan", "team": "Alpha", "project": "Model A", "cost_centre": "4711"}
    return Context(**whose, scenario=key, saved="4711", steps=(SUBMITTED,))


COMMITTED = context("cloud")


def rows(key: str) -> list[dict]:
    return list(focus_rows(typed(), context(key)))


def total(cells: list[dict], column: str) -> Decimal:
    return sum((row[column] for row in cells), Decimal(0))


@pytest.mark.parametrize("key", KEYS)
def test_billed_and_effective_cost_sum_to_the_scenario_s_total(key: str) -> None:
    expected = Decimal(scenario(key)["total_cost"])
    assert total(rows(key), "BilledCost") == expected
    assert total(rows(key), "EffectiveCost") == expected


def test_rows_are_billed_to_a_team_and_a_project() -> None:
    (row, *_) = rows("cloud")
    assert (row["BillingAccountId"], row["BillingAccountName"]) == ("Alpha", "Alpha")
    assert (row["SubAccountId"], row["SubAccountType"]) == ("Model A", "Project")
    assert json.loads(row["Tags"]) == {
        "team": "Alpha", "project": "Model A", "cost_centre": "4711"
    }  # fmt: skip
    nobody = next(iter(focus_rows(typed(), Context(name="Plan", scenario="cloud"))))
    assert (nobody["BillingAccountId"], nobody["BillingAccountName"]) == ("none", "none")
    assert (nobody["SubAccountId"], nobody["SubAccountType"]) == (None, None)
    assert nobody["Tags"] == "{}"


def test_1_4_has_service_and_host_where_1_2_has_provider_and_publisher() -> None:
    newer, older = (set(focus.FOCUS_COLUMNS[version]) for version in ("1.4", "1.2"))
    assert older - newer == {"ProviderName", "PublisherName"}
    assert {"ServiceProviderName", "HostProviderName", "InvoiceDetailId"} < newer - older
    written = next(csv.DictReader(io.StringIO(as_focus(typed(), COMMITTED).decode())))
    assert written["ServiceProviderName"] == rows("cloud")[0]["InvoiceIssuerName"]


def test_a_write_off_books_a_cost_and_prices_nothing() -> None:
    found = [r for r in rows("on_prem") if r["ChargeDescription"].startswith("Write-off: ")]
    assert len(found) == 18  # from their arrival in month 7 to the horizon's end
    for row in found:
        assert row["EffectiveCost"] == row["PricingCurrencyEffectiveCost"] > 0
        assert row["BilledCost"] == row["ListCost"] == row["ContractedCost"] == 0
        assert row["PricingQuantity"] == row["ConsumedQuantity"] == 0
        assert (row["ChargeCategory"], row["ChargeFrequency"]) == ("Usage", "Recurring")
        assert row["x_CapexOpex"] == row["x_Category"] == "capex"


@pytest.mark.parametrize("key", KEYS)
def test_no_row_books_nothing_of_a_commitment_that_is_over(key: str) -> None:
    counted = ("CommitmentDiscountQuantity", "EffectiveCost", "BilledCost")
    idle = [r for r in rows(key) if r.get("CommitmentDiscountStatus") == "Unused"]
    assert all(any(row[name] for name in counted) for row in idle)
    assert {row["BillingPeriodStart"][:4] for row in idle} <= {"2027", "2028", "2029"}


@pytest.mark.parametrize("key", ["cloud", "hybrid"])
def test_effective_cost_of_use_is_the_billed_cost_of_purchases_per_commitment(key: str) -> None:
    by_id: dict[str, list[dict]] = defaultdict(list)
    for row in rows(key):
        if row.get("CommitmentDiscountId"):
            by_id[row["CommitmentDiscountId"]].append(row)
    if key == "cloud":
        assert by_id
    for cells in by_id.values():
        usage = [row for row in cells if row["ChargeCategory"] == "Usage"]
        purchases = [row for row in cells if row["ChargeCategory"] == "Purchase"]
        assert total(usage, "EffectiveCost") == total(purchases, "BilledCost") != 0
        assert total(purchases, "EffectiveCost") == 0
        assert total(usage, "BilledCost") == 0
        months = {row["BillingPeriodStart"]: [] for row in usage}
        for row in usage:
            months[row["BillingPeriodStart"]].append(row)
        whole = {
            total(of_month, "CommitmentDiscountQuantity") % 730 for of_month in months.values()
        }
        assert whole == {0}, "used and unused node-hours are those of whole nodes"
        assert {row["CommitmentDiscountStatus"] for row in usage} <= {"Used", "Unused"}
        assert all(row["CommitmentDiscountStatus"] is None for row in purchases)


def test_idle_commitments_have_rows_of_their_own() -> None:
    idle = [r for r in rows("cloud") if r.get("CommitmentDiscountStatus") == "Unused"]
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
        assert json.loads(row["Tags"]) == {
        "team": "Alpha", "project": "Model A", "cost_centre": "4711"
    }  # fmt: skip
        assert set(row) <= {*focus.FOCUS_COLUMNS["1.4"], *focus.FOCUS_COLUMNS["1.2"]}


def test_pricing_categories_follow_the_purchase_option() -> None:
    def of(key: str, category: str) -> set[str]:
        return {r["PricingCategory"] for r in rows(key) if r["x_Category"] == category}

    assert of("on_demand", "compute") == {"Standard"}
    assert of("cloud", "commitment") == {"Committed"}


def test_the_recommended_scenario_is_exported_by_default() -> None:
    first = next(focus_rows(typed(), Context()))
    assert first["x_ScenarioId"] == answer()["recommendation"]["scenario"]


def test_an_unknown_scenario_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="scenario: 'cheapest' is no feasible one: on_demand"):
        list(focus_rows(typed(), Context(scenario="cheapest")))


def test_all_rows_of_a_commitment_call_it_by_its_machine_and_terms() -> None:
    names: dict[str, set[str]] = defaultdict(set)
    for row in rows("cloud"):
        if row.get("CommitmentDiscountId"):
            names[row["CommitmentDiscountId"]].add(row["CommitmentDiscountName"])
    assert names
    assert all(len(one) == 1 and " months" in next(iter(one)) for one in names.values()), names


def read_csv(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_each_commitment_of_the_plan_is_a_row_with_its_whole_term() -> None:
    commitments = read_csv(as_commitments(typed(), context("cloud")))
    begun = [p for p in typed().by_key["cloud"].purchases if p.kind == "commitment"]
    assert commitments
    assert len(commitments) == len(begun)
    assert len({row["ContractCommitmentId"] for row in commitments}) == len(commitments)
    for row, purchase in zip(commitments, begun, strict=True):
        months = typed().offers[purchase.source].term_months
        start, end = (row[f"ContractCommitmentPeriod{which}"] for which in ("Start", "End"))
        assert int(end[:4]) * 12 + int(end[5:7]) - int(start[:4]) * 12 - int(start[5:7]) == months
        due = (purchase.due_at_start or 0) + (purchase.due_per_month or 0) * months
        assert Decimal(row["ContractCommitmentCost"]) == due
        is_spend = row["ContractCommitmentCategory"] == "Spend"
        assert bool(row["ContractCommitmentQuantity"]) != is_spend


def test_charges_and_commitments_are_described_as_people_know_them() -> None:
    contract = "p5.48xlarge in us-east-1, reserved 36 months, no upfront"
    described = {
        row["ContractCommitmentDescription"] for row in commitment_rows(typed(), COMMITTED)
    }
    assert described == {contract}
    charges = {row["ChargeDescription"] for row in rows("cloud")}
    assert {contract, f"{contract}: used", f"{contract}: unused"} <= charges
