"""Rows that are not understood: their money is in the sums of all rows, their number and the
reasons are said."""

from __future__ import annotations

import pytest

from tests.planner.usage.make import azure_row, cur_row, focus_row, gcp_row, json_lines, read, table

BOX = "BoxUsage:p5.48xlarge"
OWN = {"month": "2025-05", "accelerator_hours": "8", "cost": "80", "currency": "USD"}


BILLS = {
    "FOCUS, unit": table([focus_row(x_UsageType=BOX, ConsumedUnit="GB"), focus_row()]),
    "FOCUS, category": table([focus_row(ChargeCategory="Riddle"), focus_row()]),
    "FOCUS, quantity": table([focus_row(ConsumedQuantity="many"), focus_row()]),
    "AWS, type": table([cur_row(1, line_item_type="Riddle"), cur_row(2)]),
    "AWS, unit": table([cur_row(1) | {"pricing/unit": "GB"}, cur_row(2)]),
    "Azure, type": table([azure_row(ChargeType="Riddle"), azure_row()]),
    "Azure, quantity": table([azure_row(Quantity="many"), azure_row()]),
    "Google, type": json_lines([gcp_row(cost_type="riddle"), gcp_row()]),
    "own table, hours": table([OWN | {"accelerator_hours": "-1"}, OWN]),
}
BILLED = {"FOCUS": 20, "AWS": 120, "Azure": 192, "Google": 160, "own table": 160}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", BILLS)
def test_the_money_of_a_row_that_is_not_understood_is_in_the_sum_of_all_rows(name):
    usage = read(BILLS[name])
    [total] = usage.totals()
    assert float(total["billed"]) == BILLED[name.partition(",")[0]]
    [warning] = usage.warnings()
    assert warning.startswith("1 of 2 rows are not understood, and their hours are in no sum")
    assert "(1 are read, 0 repeat others). Their costs are in the sums of all rows." in warning
    figures = usage.as_dict()
    assert (figures["row_count"], list(figures["problems"].values())) == (2, [1])


PERIODS = {
    "FOCUS": table([focus_row(x_UsageType=BOX, ChargePeriodEnd="2025-05-05T00:00:00Z")]),
    "AWS": table([cur_row(1, usage_end_date="2025-05-05T00:00:00Z")]),
    "Google": json_lines([gcp_row(usage_end_time="2025-05-05 00:00:00 UTC")]),
}


@pytest.mark.parametrize("name", PERIODS)
def test_a_row_that_ends_before_it_starts_is_not_understood(name):
    usage = read(PERIODS[name])
    assert not usage.ledger.uses
    assert "is before the start of the row's period" in usage.ledger.not_understood[0]
    assert float(usage.totals()[0]["billed"]) > 0


def test_a_cost_that_cannot_be_read_is_said_to_be_missing():
    rows = [focus_row(BilledCost="riddle"), focus_row(ChargePeriodStart="?"), focus_row()]
    usage = read(table(rows))
    assert usage.totals()[0]["billed"] == "10"
    [warning] = usage.warnings()
    assert "The cost of 2 of them cannot be read either and is missing from the sums" in warning


def test_rows_of_several_files_reconcile():
    rows = [focus_row(x_UsageType=BOX, ConsumedUnit="GB"), focus_row(x_UsageType=BOX)]
    usage = read(table(rows), table(rows), table([rows[1], focus_row(RegionId="eu-west-2")]))
    assert usage.ledger.rows == sum(file.rows for file in usage.files) == 6
    assert "(2 are read, 3 repeat others)" in usage.warnings()[0]
