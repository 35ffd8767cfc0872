"""FOCUS of several providers: versions, gaps and corrections."""

import io

import pytest

from planner.usage.actuals_file import read_actuals_file
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import focus_row, hours_by, read, reasons, table, unused_hours

PLAN = {
    "CommitmentDiscountId": "plan-1",
    "CommitmentDiscountType": "Savings Plan",
    "PricingCategory": "Committed",
}


@pytest.mark.parametrize(
    "columns",
    [
        {"x_UsageType": "EUW1-BoxUsage:p5.48xlarge"},
        {"SkuPriceDetails": '{"InstanceType": "p5.48xlarge", "GpuCount": 8}'},
        {"ChargeDescription": "$60.0 per On Demand Linux p5.48xlarge Instance Hour"},
        {"x_InstanceType": "p5.48xlarge"},
    ],
)
def test_the_machine_is_read_from_whatever_an_export_of_aws_has(columns):
    usage = read(table([focus_row(**columns)]))
    assert hours_by(usage.ledger, "machine") == {"p5.48xlarge": 8.0}


def test_the_stated_count_holds_where_no_table_knows_the_machine():
    details = '{"InstanceType": "p99.48xlarge", "GpuCount": 16}'
    assert hours_by(read(table([focus_row(SkuPriceDetails=details)])).ledger, "machine") == {
        "p99.48xlarge": 16.0
    }


def test_a_commitment_counts_once_in_each_view():
    gpu = {"x_UsageType": "BoxUsage:p4d.24xlarge"}
    used = focus_row(
        **PLAN, **gpu, BilledCost="0", EffectiveCost="9", CommitmentDiscountStatus="Used"
    )
    unused = focus_row(**PLAN, BilledCost="0", EffectiveCost="1", CommitmentDiscountStatus="Unused")
    fee = focus_row(**PLAN, ChargeCategory="Purchase", BilledCost="10", EffectiveCost="0")
    usage = read(table([used, unused, fee]))
    [line] = usage.lines("option")
    assert line.group["option"] == "savings_plan"
    assert (line.billed["USD"], line.amortised["USD"]) == (0, 9)
    [commitment] = usage.commitment_rows()
    assert commitment["billed"] == "10"
    assert (commitment["amortised_used"], commitment["amortised_unused"]) == ("9", "1")
    assert reasons(usage) == {"accelerator_use": 1, "unused_commitment": 1, "commitment_fee": 1}


def test_a_correction_takes_hours_back_in_the_month_of_its_charge():
    gpu = {"x_UsageType": "BoxUsage:p5.48xlarge"}
    correction = focus_row(
        **gpu,
        ChargeClass="Correction",
        ConsumedQuantity="-1",
        BilledCost="-10",
        EffectiveCost="-10",
        ChargePeriodStart="2025-04-30T00:00:00Z",
        ChargePeriodEnd="2025-04-30T01:00:00Z",
    )
    usage = read(table([focus_row(**gpu), correction]))
    assert hours_by(usage.ledger, "month") == {"2025-05": 8.0, "2025-04": -8.0}


def test_azure_says_its_size_in_details_or_as_a_meter():
    azure = {
        "ProviderName": "Microsoft",
        "x_SkuMeterCategory": "Virtual Machines",
        "BillingCurrency": "EUR",
        "ConsumedQuantity": "30",
    }
    by_details = focus_row(
        **azure,
        x_SkuMeterName="anything",
        x_SkuDetails='{"x_ServiceType": "Standard_ND96isr_H100_v5"}',
        ServiceName="Azure Machine Learning",
        SubAccountId="/subscriptions/1",
        SubAccountName="Research",
    )
    by_meter = focus_row(**azure, x_SkuMeterName="NC24ads A100 v4 Spot", PricingCategory="Dynamic")
    usage = read(table([by_details | {"x_SkuMeterName": "x"}, by_meter | {"x_SkuDetails": ""}]))
    assert hours_by(usage.ledger, "machine") == {
        "Standard_ND96isr_H100_v5": 240.0,
        "Standard_NC24ads_A100_v4": 30.0,
    }
    assert hours_by(usage.ledger, "option") == {"on_demand": 240.0, "spot": 30.0}
    assert hours_by(usage.ledger, "project")["Research"] == 240.0


SOLD_APART = {
    "Nvidia L4 GPU": "nvidia-l4",
    "Nvidia Tesla A100 GPU": "nvidia-a100-40gb-sxm",
    "GPU - A100 - v2": "nvidia-a100-80gb-sxm",
}


@pytest.mark.parametrize(
    ("provider", "description", "unit", "hours"),
    [
        ("Google Cloud", "Nvidia L4 GPU running in Iowa", "seconds", 2.0),
        ("Google Cloud", "Nvidia Tesla A100 GPU running in Iowa", "hours", 7200.0),
        ("Oracle", "GPU - A100 - v2", "GPU_HOURS", 7200.0),
    ],
)
def test_accelerators_sold_apart_count_as_such(provider, description, unit, hours):
    row = focus_row(ProviderName=provider, ChargeDescription=description)
    row |= {"ConsumedQuantity": "7200", "ConsumedUnit": unit}
    if provider == "Oracle":  # which names columns as drafts of FOCUS did
        row = {name.replace("Consumed", "Usage"): value for name, value in row.items()}
    by_accelerator = hours_by(read(table([row])).ledger, "accelerator")
    assert by_accelerator == {SOLD_APART[description.split(" running")[0]]: hours}


def test_unused_reservations_are_hours_apart():
    unused = focus_row(
        ProviderName="Microsoft",
        CommitmentDiscountId="r1",
        CommitmentDiscountType="Reservation",
        CommitmentDiscountStatus="Unused",
        PricingCategory="Committed",
        ConsumedQuantity="6",
    ) | {"x_SkuMeterCategory": "Virtual Machines", "x_SkuMeterName": "NC24ads A100 v4"}
    usage = read(table([unused]))
    assert usage.ledger.uses == {}
    assert list(unused_hours(usage).values()) == [6.0]


def test_a_forecast_is_no_bill():
    with pytest.raises(InvalidInput, match="calls rows a forecast"):
        read(table([focus_row() | {"x_IsForecast": "true"}]))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"BilledCost": "=1+1"}, "BilledCost: '=1\\+1' is not a number"),
        ({"BillingCurrency": ""}, "BillingCurrency: is empty"),
        ({"ChargePeriodStart": "soon"}, "ChargePeriodStart: 'soon' is not a moment"),
        ({"ChargeCategory": "Gift"}, "ChargeCategory: 'Gift' is unknown"),
        ({"x_UsageType": "BoxUsage:p5.48xlarge", "ConsumedUnit": "GB"}, "'GB' is no unit of time"),
    ],
)
def test_rows_that_are_not_understood_are_named(changes, problem):
    import re

    usage = read(table([focus_row(**changes), focus_row()]))
    assert reasons(usage)["not_understood"] == 1
    assert re.search(f"^row 2: .*{problem}", usage.ledger.not_understood[0])


@pytest.mark.parametrize(("hours", "is_doubtful"), [("1.5", False), ("24", True)])
def test_one_machine_that_ran_longer_than_its_period_is_doubtful(hours, is_doubtful):
    row = focus_row(x_UsageType="BoxUsage:p5.48xlarge", ResourceId="i-1", ConsumedQuantity=hours)
    usage = read(table([row]))
    assert hours_by(usage.ledger, "machine") == {"p5.48xlarge": 8 * float(hours)}
    assert bool(usage.warnings()) is is_doubtful


@pytest.mark.parametrize("machine", ["p5.48xlarge", "p99.48xlarge"])
def test_gpu_hours_are_those_of_cards_already(machine):
    details = f'{{"InstanceType": "{machine}", "GpuCount": 8}}'
    row = focus_row(SkuPriceDetails=details, ConsumedUnit="GPU Hours", ConsumedQuantity="16")
    [line] = read(table([row])).lines("machine")
    assert (line.instance_hours, line.accelerator_hours) == (2.0, 16.0)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (table([focus_row()]).replace(b"ListCost", b"BilledCost"), "BilledCost: is in the header"),
        (table([focus_row()] * 3).replace(b"BillingCurrency", b"Money"), "BillingCurrency: is mis"),
    ],
)
def test_columns_that_are_twice_or_missing_are_named_once(content, problem):
    with pytest.raises(InvalidInput, match=f"^file 1, column {problem}"):
        read(content)
    with pytest.raises(InvalidInput, match=f"^column {problem}"):
        read_actuals_file(io.BytesIO(content), "USD", lambda name: None)


def test_currencies_are_read_in_any_letters_and_others_refused():
    content = table([focus_row(BillingCurrency="usd")])
    assert [total["currency"] for total in read(content).totals()] == ["USD"]
    assert sum(read_actuals_file(io.BytesIO(content), "USD", lambda name: None).cost.values()) == 10
    content = content.replace(b"usd", b"XYZ1")
    problem = "BillingCurrency: 'XYZ1' is no code of a currency, such as USD"
    assert read(content).ledger.not_understood == [f"row 2: {problem}"]
    with pytest.raises(InvalidInput, match=problem):
        read_actuals_file(io.BytesIO(content), "USD", lambda name: None)
