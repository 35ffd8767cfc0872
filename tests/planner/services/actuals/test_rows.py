"""Files of what was used and paid, read row by row: they may hold anything."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal

import pytest

from planner.services.actuals.rows import MAX_LINE_BYTES, read_actuals
from pricing.common.invalid_input import InvalidInput

HEAD = "month,cost,hours,provider,region,instance_type,purchase_option,category,currency\n"


def read(text: str | bytes) -> object:
    raw = text if isinstance(text, bytes) else text.encode()
    return read_actuals(io.BytesIO(raw), "USD")


def test_rows_are_summed_by_month_and_what_was_bought() -> None:
    sums = read(
        HEAD
        + "2027-01,10.10,1,AWS,us-east-1,p5,on_demand,,USD\n"
        + "2027-01,0.20,2,aws,us-east-1,p5,on_demand,compute,\n"
        + "2027-02,-5,0,aws,us-east-1,p5,on_demand,,\n"
    )
    assert sums.rows == 3
    assert list(sums.cost.values()) == [Decimal("10.30"), Decimal(-5)]
    assert list(sums.hours.values()) == [3.0, 0.0]


def test_decimals_of_a_program_are_no_marks_of_thousands() -> None:
    sums = read("month,cost,hours\n2027-01,0.250,5.841\n2027-02,1234.500,730.0\n")
    assert list(sums.cost.values()) == [Decimal("0.250"), Decimal("1234.500")]
    assert list(sums.hours.values()) == [5.841, 730.0]


def test_a_byte_order_mark_and_windows_lines_are_fine() -> None:
    assert read(b"\xef\xbb\xbfmonth,cost\r\n2027-01,1\r\n").rows == 1


def test_rows_that_a_spreadsheet_left_empty_are_passed_over() -> None:
    assert read("month,cost\n2027-01,1\n,\n , \n2027-02,2\n,,\n").rows == 2


@pytest.mark.one_in(5)
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "column month: is missing"),
        ("month,price\n", "column cost: is missing"),
        ("month,cost,colour\n", "column colour: is unknown"),
        ("month,cost,cost\n", "names a column twice"),
        ("month,cost\n", "holds a header and no rows"),
        ("month,cost\n2027-13,1\n", "row 2.month: '2027-13' is not a month"),
        ("month,cost\n2027-01,abc\n", "row 2.cost"),
        ("month,cost\n2027-01,NaN\n", "row 2.cost"),
        ("month,cost\n2027-01,1e99\n", "row 2.cost"),
        ("month,cost\n2027-01,\n", "row 2.cost"),
        ("month,cost\n2027-01\n", "row 2.cost"),
        ("month,cost,hours\n2027-01,1,-3\n", "row 2.hours"),
        ("month,cost,hours\n2027-01,1,inf\n", "row 2.hours"),
        ("month,cost,currency\n2027-01,1,EUR\n", "row 2.currency: 'EUR' is not the project's USD"),
        ("month,cost,region\n2027-01,1," + "x" * 61 + "\n", "row 2.region: is longer than 60"),
        ('month,cost\n2027-01,5\n2027-01,"1\n2027-02,2\n', "row 3: is not CSV"),
        ("month,cost\n2027-01,5,60\n", "row 2: has 3 cells under 2 columns"),
        ('month,cost\n2027-01,"1,000.50"\n', "write it like 1234.56"),
        ("month;cost\n2027-01;1.500\n", "may be read in two ways"),
        ("month;cost\n2027-01;1,500\n", "may be read in two ways"),
        ("month,cost,hours\n2027-01,9,5.840\n", "row 2.hours: '5.840' may be read in two ways"),
        ("month\tcost\n2027-01\t300.000\n", "row 2.cost: '300.000' may be read in two ways"),
        (b"month,cost\n2027-01,\xff\n", "row 2: is not UTF-8"),
        (b"month,cost\n2027-01,\x001\n", "row 2: holds a NUL"),
        (
            "month,cost\n2027-01,1\n".encode("utf-16"),
            "is in UTF-16; save the table as CSV in UTF-8",
        ),
        (b"month,cost\n" + b"1" * (MAX_LINE_BYTES + 1), "row 2: is longer than"),
        (b"PK\x03\x04zip", "is compressed"),
        (b"\x1f\x8bgzip", "is compressed"),
        ("ChargePeriodStart,BilledCost\n", "column BillingCurrency: is missing"),
    ],
)
def test_what_cannot_be_read_says_where(text: str | bytes, says: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read(text)
    assert says in str(refusal.value)


def test_many_mistakes_are_named_together_up_to_a_limit() -> None:
    with pytest.raises(InvalidInput) as refusal:
        read("month,cost\n" + "x,y\n" * 100)
    assert len(refusal.value.all()) == 20


def test_a_zip_bomb_is_refused_unopened() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"0" * 10_000_000)
    with pytest.raises(InvalidInput, match="compressed"):
        read(packed.getvalue())


def test_focus_rows_are_read_by_their_own_names() -> None:
    sums = read(
        "ChargePeriodStart,BilledCost,BillingCurrency,ChargeCategory,ProviderName,RegionId,"
        "ConsumedQuantity,ConsumedUnit,PricingCategory,CommitmentDiscountId,ServiceCategory,"
        "SkuPriceDetails\n"
        "2027-01-03T00:00:00Z,12.5,USD,Usage,Amazon Web Services,us-east-1,2,Hours,Standard,,"
        'Compute,"{""InstanceType"":""p5.48xlarge""}"\n'
        "2027-01-01T00:00:00Z,7,USD,Purchase,Microsoft,,,,Committed,ri-1,Compute,\n"
        "2027-01-01T00:00:00Z,1,USD,Tax,Microsoft,,,,,,Compute,\n"
        "2027-01-01T00:00:00Z,2,USD,Usage,Google Cloud,,5,GB,Standard,,Storage,\n"
    )
    assert sums.format == "focus"
    first = next(iter(sums.cost))
    assert first == ("2027-01", "aws", "us-east-1", "p5.48xlarge", "on_demand", "compute")
    assert [group.category for group in sums.cost] == ["compute", "commitment", "tax", "storage"]
    assert [sums.hours[group] for group in sums.cost] == [2.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("details", ["{", "[" * 100_000])
def test_focus_details_that_are_no_json_are_refused(details: str) -> None:
    head = "ChargePeriodStart,BilledCost,BillingCurrency,ChargeCategory,SkuPriceDetails\n"
    with pytest.raises(InvalidInput, match=r"JSON|longer"):
        read(f'{head}2027-01-01,1,USD,Usage,"{details}"\n')


BILL = (
    "ChargePeriodStart,BilledCost,BillingCurrency,ChargeCategory,ChargeClass,ConsumedUnit,"
    "ConsumedQuantity,x_IsForecast\n"
)
USED = "2026-09-01T00:00:00Z,100,USD,Usage,,Hours,50,\n"


@pytest.mark.parametrize("kind", ["Usage,Correction", "Credit,", "Adjustment,"])
def test_a_correction_and_a_credit_net(kind: str) -> None:
    sums = read(f"{BILL}{USED}2026-09-01T00:00:00Z,-10,USD,{kind},Hours,-5,\n")
    assert sum(sums.cost.values()) == 90
    assert sum(sums.hours.values()) == 45


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("row", "says"),
    [
        (
            "2026-09-01,-10,USD,Usage,,Hours,-5,",
            "ConsumedQuantity: '-5' is not a number of hours from 0 to 1e12; "
            "less is taken back by a row with ChargeClass Correction",
        ),
        (
            "2026-09-01,-10,USD,Usage,Correction,Hours,-inf,",
            "ConsumedQuantity: '-inf' is not a number",
        ),
        (
            "2026-09-01,1,,Usage,,,,",
            "BillingCurrency: is empty; give the currency of BilledCost, such as USD",
        ),
        ("2026-09-01,1,EUR,Usage,,,,", "BillingCurrency: 'EUR' is not the project's USD"),
        ("2026-09xyz,1,USD,Usage,,,,", "ChargePeriodStart: '2026-09xyz' is not a moment like"),
        ("2026-09-31,1,USD,Usage,,,,", "ChargePeriodStart: '2026-09-31' is not a moment like"),
        ("20260901,1,USD,Usage,,,,", "ChargePeriodStart: '20260901' is not a moment like"),
        ("2026-09-01Z9,1,USD,Usage,,,,", "ChargePeriodStart"),
        (",1,USD,Usage,,,,", "ChargePeriodStart: '' is not a moment like"),
        (
            "2026-09-01,1,USD,Usage,,,,true",
            "x_IsForecast: says that the row is a forecast, which is no bill; "
            "upload what was billed",
        ),
        ("2026-09-01,1,USD,Usage,,,,TRUE", "x_IsForecast"),
    ],
)
def test_a_doubtful_row_of_a_bill_is_refused_by_column(row: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read(f"{BILL}{USED}{row}\n")
    assert str(refusal.value).startswith(f"row 3.{says}")


@pytest.mark.parametrize(
    "start",
    ["2026-09-30T23:59:59Z", "2026-09-01", "2026-09-01 00:00:00 UTC", "2026-09-01T00:00:00+00:00"],
)
def test_a_charge_period_begins_at_a_day_or_a_moment(start: str) -> None:
    sums = read(f"{BILL}{start},1,USD,Usage,,,,false\n")
    assert {group.month for group in sums.cost} == {"2026-09"}


@pytest.mark.parametrize("column", ["hours", "accelerator_hours"])
def test_hours_are_accelerator_hours(column: str) -> None:
    sums = read(f"month,cost,{column},instance_type\n2027-01,5,80,p5.48xlarge\n")
    assert list(sums.hours.values()) == [80.0]


@pytest.mark.parametrize("column", ["instance_hours", "node_hours"])
def test_hours_of_machines_become_accelerator_hours(column: str) -> None:
    text = f"month,cost,{column},instance_type\n2027-01,5,10,p5.48xlarge\n2027-01,5,,\n"
    sums = read_actuals(io.BytesIO(text.encode()), "USD", {"p5.48xlarge": 8.0}.get)
    assert list(sums.hours.values()) == [80.0, 0.0]


@pytest.mark.parametrize(
    ("machine", "says"),
    [("p9", "how many accelerators the machine 'p9' has is not known"), ("", "without a name")],
)
def test_hours_of_a_machine_that_nobody_knows_are_refused(machine: str, says: str) -> None:
    text = f"month,cost,instance_hours,instance_type\n2027-01,5,10,{machine}\n"
    with pytest.raises(InvalidInput) as refusal:
        read(text)
    assert refusal.value.field == "row 2.instance_hours"
    assert says in refusal.value.message
    assert "give accelerator_hours" in refusal.value.message


def test_two_columns_of_hours_are_refused() -> None:
    with pytest.raises(InvalidInput, match="column node_hours: says the same as column hours"):
        read("month,cost,hours,node_hours\n")


# Plan against actual ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "month;cost;hours\n2027-01;1.000,50;12,5\n",
        "Month,Cost,Hours\n2027-01,1000.50,12.5\n",
        " month \tCOST\thours\n2027-01\t1000.50\t12.5\n",
    ],
)
def test_tables_of_any_spreadsheet_say_the_same(text: str) -> None:
    sums = read_actuals(io.BytesIO(text.encode()), "USD")
    assert list(sums.cost.values()) == [Decimal("1000.50")]
    assert list(sums.hours.values()) == [12.5]
