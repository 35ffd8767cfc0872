"""Bills of other forms as actuals: hours, the whole of the money, and refusals."""

from __future__ import annotations

import gzip
import io
from decimal import Decimal

import pytest

from planner.services.actuals.usage_files import read_actuals_file
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import (
    azure_row,
    cur_row,
    focus_row,
    gcp_row,
    json_lines,
    sacct,
    table,
)


def sums_of(content: bytes, currency: str = "USD"):
    return read_actuals_file(io.BytesIO(content), currency, lambda _: None)


def by_category(sums):
    cost: dict[str, Decimal] = {}
    for group, amount in sums.cost.items():
        cost[group.category] = cost.get(group.category, Decimal(0)) + amount
    return cost


def test_a_bill_of_aws_counts_hours_and_the_whole_of_its_money():
    rows = [
        cur_row(1),
        cur_row(2, usage_type="EBS:VolumeUsage.gp3", unblended_cost="7"),
        cur_row(3, line_item_type="Tax", usage_type="", unblended_cost="5"),
        cur_row(4, line_item_type="RIFee", usage_type="HeavyUsage:g5.12xlarge", unblended_cost="9"),
    ]
    sums = sums_of(table(rows))
    assert sums.format == "usage"
    assert sum(sums.hours.values()) == 8.0
    assert by_category(sums) == {"compute": 60, "other": 7, "tax": 5, "commitment": 9}


def test_invoice_and_use_months_of_google_are_kept_apart():
    late = gcp_row(usage_start_time="2025-04-30 23:00:00 UTC", invoice={"month": "202505"})
    sums = sums_of(json_lines([late]))
    assert {group.month for group in sums.cost} == {"2025-04"}
    assert sum(sums.cost.values()) == 80


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
        (table([cur_row(1, usage_type="BoxUsage:p99.48xlarge")]), "USD", "rows that are not under"),
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
            "384 accelerator-hours in 1.0",
        ),
        (focus_of("p5.48xlarge", "1.4"), ""),
        (focus_of("p5.48xlarge", "48"), "row 2 with 48 machine-hours in 1.00 h"),
        (focus_of("m7i.large", "48"), ""),
        (focus_of("p5.48xlarge", "48").replace(b"2025-05-06T01:00:00Z", b""), ""),
        (
            table([focus_row(x_UsageType="BoxUsage:p5.48xlarge", ConsumedQuantity="744000000")]),
            "row 2 with 744,000,000 machine-hours in 1.00 h",
        ),
    ],
)
def test_use_that_no_machine_could_give_is_counted_and_named(content, says):
    for packed in (content, gzip.compress(content)):
        warnings = sums_of(packed).doubtful.warnings()
        assert len(warnings) == bool(says)
        assert all("counted as written, and doubtful" in one for one in warnings)
        assert says in "".join(warnings)


def test_the_same_bill_has_the_same_digest_however_it_is_packed():
    content = table([cur_row(1)])
    assert sums_of(content).digest == sums_of(gzip.compress(content)).digest
    assert sums_of(content).file_digest != sums_of(gzip.compress(content)).file_digest
