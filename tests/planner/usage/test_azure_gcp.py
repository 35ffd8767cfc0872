"""Azure cost details, Google Cloud billing export and Oracle cost reports."""

import json
from decimal import Decimal

import pytest

from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import (
    azure_row,
    cur_row,
    gcp_row,
    hours_by,
    json_lines,
    read,
    reasons,
    table,
    unused_hours,
)


def test_old_headers_and_translated_ones_are_the_same_table():
    names = {
        "Date": "UsageDateTime (UsageDateTime)",
        "MeterCategory": "Kategorie der Verbrauchseinheit",
        "AdditionalInfo": "Zusätzliche Informationen",
        "UnitOfMeasure": "Maßeinheit",
        "Quantity": "Verbrauchte Menge",
        "CostInBillingCurrency": "Kosten (PreTaxCost)",
        "BillingCurrencyCode": "Currency",
    }
    row = {names.get(name, name): value for name, value in azure_row(Date="06.05.2025").items()}
    camel = {name[0].lower() + name[1:]: value for name, value in azure_row().items()}
    for rows in ([row], [camel]):
        assert hours_by(read(b"\xef\xbb\xbf" + table(rows)).ledger, "month") == {"2025-05": 24.0}


def on_days(*dates):
    return table([azure_row(Date=date, ResourceId=f"vm{n}") for n, date in enumerate(dates)])


def test_a_date_far_down_says_which_number_is_the_month():
    """The first rows alone, of the first twelve days of a month, would not."""
    days = [f"{1 + n % 12:02d}/{1 + n % 2:02d}/2025" for n in range(1_000)]
    for last, months in (("31/01/2025", 2), ("01/31/2025", 12)):
        assert len(hours_by(read(on_days(*days, last)).ledger, "month")) == months


@pytest.mark.parametrize(
    ("dates", "months", "order"),
    [
        (["05/06/2025"], {"2025-05"}, "month/day"),
        (["05/06/2025", "06/06/2025", "07/06/2025"], {"2025-06"}, "day/month"),
        (["06/05/2025", "06/06/2025", "06/07/2025"], {"2025-06"}, "month/day"),
        (["05/06/2025"] * 6_000, {"2025-05"}, "month/day"),
    ],
)
def test_dates_that_could_mean_either_are_named(dates, months, order):
    usage = read(on_days(*dates))
    assert set(hours_by(usage.ledger, "month")) == months
    assert f"Dates such as {dates[0]} are read as {order}/year" in " ".join(usage.notes())


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (table([azure_row(BillingCurrency=one) for one in ("", "EUR")]), 1),
        (table([cur_row(1, currency_code=""), cur_row(2, currency_code="")]), 2),
        (table([cur_row(1, currency_code="", unblended_cost="0")]), 0),
    ],
)
def test_a_cost_without_a_currency_is_named(content, rows):
    usage = read(content)
    assert usage.is_complete
    warnings = " ".join(usage.warnings())
    assert (f"{rows} row" in warnings and "and no currency" in warnings) == bool(rows)


def test_old_exports_count_blocks_where_the_price_says_so():
    row = azure_row(UnitOfMeasure="10 Hours", CostInBillingCurrency="96")
    old = {
        {"Quantity": "UsageQuantity", "EffectivePrice": "ResourceRate"}.get(k, k): v
        for k, v in row.items()
    }
    blocks = old | {"UsageQuantity": "2.4", "ResourceRate": "40"}
    assert hours_by(read(table([blocks])).ledger, "month") == {"2025-05": 24.0}


def test_actual_and_amortised_exports_do_not_mix():
    actual = azure_row(PricingModel="Reservation", CostInBillingCurrency="0")
    purchase = azure_row(ChargeType="Purchase", PricingModel="Reservation", Quantity="1")
    amortised = azure_row(PricingModel="Reservation", CostInBillingCurrency="50")
    unused = azure_row(ChargeType="UnusedReservation", PricingModel="Reservation", Quantity="4")
    [line] = read(table([actual, purchase])).lines("option")
    assert (line.billed["EUR"], line.amortised["EUR"]) == (0, None)
    usage = read(table([amortised, unused]))
    [line] = usage.lines("option")
    assert (line.billed["EUR"], line.amortised["EUR"]) == (None, 50)
    assert list(unused_hours(usage).values()) == [4.0]
    with pytest.raises(InvalidInput, match="count the same use twice"):
        read(table([actual]), table([amortised]))


def machine_of_google():
    core = {"sku": {"description": "A3 Instance Core running in Netherlands"}, "cost": 6.0}
    ram = {"sku": {"description": "A3 Instance Ram running in Netherlands"}, "cost": 4.0}
    return [
        gcp_row(credits=[{"amount": -20.0, "name": "CUD"}]),
        gcp_row(**core, usage={"amount": 7e5, "unit": "seconds"}),
        gcp_row(**ram, usage={"amount": 7.2e15, "unit": "byte-seconds"}),
    ]


def test_a_machine_of_google_is_three_rows_and_one_machine_hour():
    usage = read(json_lines(machine_of_google()))
    [line] = usage.lines("machine", "project")
    assert line.group == {"machine": "a3-highgpu-8g", "project": "llm"}
    assert (line.instance_hours, line.accelerator_hours) == (1.0, 8.0)
    assert line.billed == {"USD": Decimal("70.0")}
    assert line.amortised == {"USD": None}
    assert reasons(usage) == {"accelerator_use": 1, "accelerator_host": 2}


@pytest.mark.parametrize(
    ("sku", "option", "machine", "hours"),
    [
        ("Spot Preemptible Nvidia L4 GPU running in Iowa", "spot", "g2-standard-4", 8.0),
        ("DWS Defined Duration Nvidia H100 80GB Mega GPU in Iowa", "dws_flex_start", "", 8.0),
        ("Nvidia Tesla T4 GPU attached to N1 in EMEA", "on_demand", "n1-standard-8", 8.0),
    ],
)
def test_options_of_google_stand_in_the_sku(sku, option, machine, hours):
    labels = [{"key": "compute.googleapis.com/machine_spec", "value": machine}]
    usage = read(json_lines([gcp_row(sku={"description": sku}, system_labels=labels)]))
    assert hours_by(usage.ledger, "option") == {option: hours}


def test_fees_tax_and_services_of_google_are_no_use():
    rows = [
        gcp_row(sku={"description": "Commitment v1: Nvidia H100 80GB GPU in Iowa for 1 Year"}),
        gcp_row(cost_type="tax", sku={"description": "Tax"}),
        gcp_row(sku={"description": "Storage PD Capacity"}, system_labels=[]),
    ]
    usage = read(json_lines(rows))
    assert usage.ledger.uses == {}
    assert reasons(usage) == {"commitment_fee": 1, "tax": 1, "not_a_machine": 1}


def test_google_s_export_is_read_as_lines_a_list_and_csv():
    rows = machine_of_google()
    flat = {
        "service.description": "Compute Engine",
        "sku.description": "Nvidia H100 80GB GPU running in Netherlands",
        "usage_start_time": "2025-05-31 23:00:00+00:00",
        "usage_end_time": "2025-06-01 00:00:00+00:00",
        "project.id": "proj-a",
        "labels": "[{'key': 'team', 'value': 'llm'}]",
        "system_labels": "[{'key': 'compute.googleapis.com/machine_spec', "
        "'value': 'a3-highgpu-8g'}]",
        "location.region": "europe-west4",
        "cost": "80",
        "currency": "USD",
        "usage.amount": "28800",
        "usage.unit": "seconds",
        "credits": "[{'name': 'CUD', 'amount': -20.5, 'full_name': None}]",
        "invoice.month": "202506",
        "cost_type": "regular",
    }
    forms = [json.dumps(rows).encode(), json.dumps(rows, indent=1).encode()]
    for form in forms:
        assert hours_by(read(form).ledger, "machine") == {"a3-highgpu-8g": 8.0}
    usage = read(table([flat]))
    [line] = usage.lines("month", "project")
    assert line.group == {"month": "2025-05", "project": "llm"}
    assert line.billed == {"USD": Decimal("59.5")}
    assert {key.month for key in usage.ledger.charges} == {"2025-06"}
