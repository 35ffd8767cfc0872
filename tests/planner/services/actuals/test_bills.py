"""Files of what was used and paid, read row by row: they may hold anything."""

import gzip
import io
from decimal import Decimal

import pytest

from planner.services.actuals import actuals
from planner.usage.actuals_file import read_actuals_file
from planner.usage.sources import MAX_LINE
from pricing.common.invalid_input import InvalidInput
from tests.planner.services.actuals.test_actuals import upload
from tests.planner.usage.make import azure_row, cur_row, focus_row, sacct, table
from tests.planner.workspace import Workspace

HEAD = "month,cost,hours,provider,region,instance_type,purchase_option,category,currency\n"


def read(text: str | bytes) -> object:
    raw = text if isinstance(text, bytes) else text.encode()
    return read_actuals_file(io.BytesIO(raw), "USD", lambda _: None)


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


def test_rows_that_a_spreadsheet_left_empty_are_passed_over() -> None:
    assert read("month,cost\n2027-01,1\n,\n , \n2027-02,2\n,,\n").rows == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "file: is empty"),
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
        ("month,cost,hours\n2027-01,1,-3\n", "row 2.accelerator_hours"),
        ("month,cost,hours\n2027-01,1,inf\n", "row 2.accelerator_hours"),
        ("month,cost,currency\n2027-01,1,EUR\n", "row 2.currency: 'EUR' is not the project's USD"),
        ("month,cost,region\n2027-01,1," + "x" * 61 + "\n", "row 2.region: is longer than 60"),
        ('month,cost\n2027-01,5\n2027-01,"1\n2027-02,2\n', "line 4: is not CSV"),
        ("month,cost\n2027-01,5,60\n", "line 2: has 3 cells under 2 columns"),
        ('month,cost\n2027-01,"1,000.50"\n', "row 2.cost: '1,000.50' is not a number"),
        ("month;cost\n2027-01;1.500\n", "may be read in two ways"),
        ("month;cost\n2027-01;1,500\n", "may be read in two ways"),
        (
            "month,cost,hours\n2027-01,9,5.840\n",
            "row 2.accelerator_hours: '5.840' may be read in two ways",
        ),
        ("month\tcost\n2027-01\t300.000\n", "row 2.cost: '300.000' may be read in two ways"),
        (b"month,cost\n2027-01,\x81\n", "line 2: is not UTF-8"),
        (b"month,cost\n2027-01,\x001\n", "line 2: holds a NUL"),
        (b"month,cost\n" + b"1" * (MAX_LINE + 1), "line 2: is longer than"),
        (b"PK\x03\x04zip", "is a damaged zip archive"),
        ("ChargePeriodStart,BilledCost\n", "column month: is missing"),
    ],
)
def test_what_cannot_be_read_says_where(text: str | bytes, says: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read(text)
    assert says in str(refusal.value)


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


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (
            "2026-09-01,-10,USD,Usage,,Hours,-5,",
            "ConsumedQuantity: -5 is not a number of hours from 0 to 1e12; "
            "less is taken back by a row with ChargeClass Correction",
        ),
        ("2026-09-01,-10,USD,Usage,Correction,Hours,-inf,", "ConsumedQuantity: '-inf' is not a"),
        (
            "2026-09-01,1,,Usage,,,,",
            "BillingCurrency: is empty; give the currency of BilledCost, such as USD",
        ),
        ("2026-09-01,1,EUR,Usage,,,,", "currency: 'EUR' is not the project's USD"),
        ("2026-09xyz,1,USD,Usage,,,,", "ChargePeriodStart: '2026-09xyz' is not a moment like"),
        ("2026-09-31,1,USD,Usage,,,,", "ChargePeriodStart: '2026-09-31' is not a moment like"),
        ("20260901,1,USD,Usage,,,,", "ChargePeriodStart: '20260901' is not a moment like"),
        ("2026-09-01Z9,1,USD,Usage,,,,", "ChargePeriodStart"),
        (",1,USD,Usage,,,,", "ChargePeriodStart: '' is not a moment like"),
    ],
)
def test_a_doubtful_row_of_a_bill_is_refused_by_column(row: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read(f"{BILL}{USED}{row}\n")
    assert str(refusal.value).startswith(f"row 3.{says}")


@pytest.mark.parametrize("column", ["instance_hours", "Node hours"])
def test_hours_of_machines_become_accelerator_hours(column: str) -> None:
    text = f"month,cost,{column},instance_type\n2027-01,5,10,p5.48xlarge\n2027-01,5,,\n"
    sums = read_actuals_file(io.BytesIO(text.encode()), "USD", {"p5.48xlarge": 8.0}.get)
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


@pytest.mark.parametrize(
    "text",
    [
        "month;cost;hours\n2027-01;1.000,50;12,5\n",
        "Month,Cost,Hours\n2027-01,1000.50,12.5\n",
        " month \tCOST\thours\n2027-01\t1000.50\t12.5\n",
    ],
)
def test_tables_of_any_spreadsheet_say_the_same(text: str) -> None:
    sums = read(text)
    assert list(sums.cost.values()) == [Decimal("1000.50")]
    assert list(sums.hours.values()) == [12.5]


def sums_of(content: bytes, currency: str = "USD"):
    return read_actuals_file(io.BytesIO(content), currency, lambda _: None)


def test_a_real_form_of_focus_counts_its_hours():
    rows = [
        focus_row(x_UsageType="EUW1-BoxUsage:p5.48xlarge"),
        focus_row(x_UsageType="EUW1-BoxUsage:m7i.large", BilledCost="1"),
        focus_row(x_UsageType="EUW1-NatGateway-Hours", BilledCost="2"),
    ]
    for content in (table(rows), gzip.compress(table(rows))):
        sums = sums_of(content)
        hours = {group.instance_type: hours for group, hours in sums.hours.items()}
        assert hours == {"p5.48xlarge": 1.0, "m7i.large": 0.0, "": 0.0}
        assert sum(sums.cost.values()) == 13


@pytest.mark.parametrize(
    ("content", "currency", "problem"),
    [
        (table([cur_row(1)]), "EUR", "'USD' is not the project's EUR"),
        (sacct({}), "USD", "states no costs"),
        (
            table([cur_row(1, usage_type="BoxUsage:p99.48xlarge")]),
            "USD",
            "the accelerators of 'p99",
        ),
        (
            table([azure_row(ChargeType="UnusedReservation", PricingModel="Reservation")]),
            "EUR",
            "holds amortised costs alone",
        ),
    ],
)
def test_a_bill_that_cannot_be_used_is_refused_whole(content, currency, problem):
    with pytest.raises(InvalidInput, match=problem):
        sums_of(content, currency)


def focus_of(instance: str, hours: str) -> bytes:
    usage_type = f"EUW1-BoxUsage:{instance}"
    return table([focus_row(x_UsageType=usage_type, ResourceId="i-1", ConsumedQuantity=hours)])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (table([cur_row(1) | {"lineItem/ResourceId": "i-1"}]), ""),
        (
            table([cur_row(1, usage_amount="48") | {"lineItem/ResourceId": "i-1"}]),
            "row 2 with 384 accelerator-hours in 1.00 h",
        ),
        (focus_of("p5.48xlarge", "1.4"), ""),
        (focus_of("p5.48xlarge", "48"), "row 2 with 384 accelerator-hours in 1.00 h"),
        (focus_of("m7i.large", "48"), ""),
        (focus_of("p5.48xlarge", "48").replace(b"2025-05-06T01:00:00Z", b""), ""),
        (
            table([focus_row(x_UsageType="BoxUsage:p5.48xlarge", ConsumedQuantity="744000000")]),
            "row 2 with 5,952,000,000 accelerator-hours in 1.00 h",
        ),
    ],
)
def test_use_that_no_machine_could_give_is_counted_and_named(content, says):
    for packed in (content, gzip.compress(content)):
        warnings = sums_of(packed).doubtful.warnings()
        assert len(warnings) == bool(says)
        assert all("counted as written, and doubtful" in one for one in warnings)
        assert says in "".join(warnings)


@pytest.mark.usefixtures("months_over")
def test_of_a_commitment_the_hours_paid_for_count_used_or_not(work: Workspace) -> None:
    head = (
        "ChargePeriodStart,BilledCost,BillingCurrency,ChargeCategory,PricingQuantity,PricingUnit,"
        "ConsumedQuantity,ConsumedUnit,CommitmentDiscountId,x_InstanceType\n"
    )
    row = work.project()
    upload(
        work,
        row,
        f"{head}2027-01-01,16000,USD,Purchase,730,Hours,,,ri-1,p5.48xlarge\n"
        "2027-01-01,0,USD,Usage,500,Hours,500,Hours,ri-1,p5.48xlarge\n",
    )
    assert actuals.variance(row).as_dict()["total"]["actual_hours"] == 5840.0
