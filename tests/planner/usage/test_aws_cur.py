"""AWS Cost and Usage Report: what each kind of line counts."""

from decimal import Decimal

import pytest

from tests.planner.usage.make import cur_row, hours_by, read, reasons, table

PLAN = "arn:aws:savingsplans::1:savingsplan/a"
RI = "arn:aws:ec2:us-east-1:1:reserved-instances/b"


def charges(usage):
    sums = {}
    for key, one in usage.ledger.charges.items():
        sums[key.charge] = sums.get(key.charge, Decimal(0)) + one.billed.known
    return sums


def test_hours_are_those_of_machines_times_their_accelerators():
    usage = read(table([cur_row(1), cur_row(2, usage_amount="0.25", unblended_cost="15")]))
    [line] = usage.lines("machine")
    assert (line.instance_hours, line.accelerator_hours) == (1.25, 10.0)
    assert line.billed == line.amortised == {"USD": Decimal("75.00")}


@pytest.mark.parametrize(
    ("resource", "amount", "is_doubtful"),
    [("", "12500", False), ("", "1000000000", True), ("i-1", "1.5", False), ("i-1", "2", True)],
)
def test_more_use_than_machines_give_in_the_time_is_doubtful(resource, amount, is_doubtful):
    """Hours that are seconds, or a column that moved: they count as written, and a warning says."""
    usage = read(table([cur_row(1, usage_amount=amount) | {"lineItem/ResourceId": resource}]))
    assert hours_by(usage.ledger, "machine") == {"p5.48xlarge": 8 * float(amount)}
    assert bool(usage.warnings()) is is_doubtful
    assert usage.is_complete


def test_another_version_of_a_line_is_named_and_the_first_counts():
    final, draft = (table([cur_row(1, unblended_cost=cost)]) for cost in ("50.00", "55.04"))
    for first, second, billed in ((final, draft, "50.00"), (draft, final, "55.04")):
        usage = read(first, second)
        assert charges(usage) == {"Usage": Decimal(billed)}
        assert reasons(usage) == {"accelerator_use": 1, "restated": 1}
        assert any("1 row with the identifier and time" in note for note in usage.notes())
        assert any("such as row 2 of file 2:" in note for note in usage.notes())
    written_otherwise = table([cur_row(1, unblended_cost="50", usage_amount="1.0")])
    assert reasons(read(final, written_otherwise)) == {"accelerator_use": 1, "duplicate": 1}


def savings_plan():
    covered = cur_row(
        1,
        line_item_type="SavingsPlanCoveredUsage",
        savings_plan_a_r_n=PLAN,
        savings_plan_effective_cost="30",
    )
    negation = cur_row(
        2, line_item_type="SavingsPlanNegation", unblended_cost="-60.00", savings_plan_a_r_n=PLAN
    )
    fee = cur_row(
        3,
        line_item_type="SavingsPlanRecurringFee",
        usage_type="ComputeSP:1yrNoUpfront",
        unblended_cost="35",
        savings_plan_a_r_n=PLAN,
        total_commitment_to_date="35",
        used_commitment="30",
    )
    return [covered, negation, fee]


def test_a_savings_plan_is_billed_by_its_fee_and_amortised_by_its_use():
    usage = read(table(savings_plan()))
    [line] = usage.lines("machine")
    assert line.accelerator_hours == 8.0
    assert (line.billed["USD"], line.amortised["USD"]) == (0, 30)
    assert sum(charges(usage).values()) == 35
    [commitment] = usage.commitment_rows()
    assert commitment["billed"] == "35"
    assert (commitment["amortised_used"], commitment["amortised_unused"]) == ("30", "5")


def test_reserved_use_counts_and_the_hours_of_its_fee_do_not():
    covered = cur_row(
        1,
        line_item_type="DiscountedUsage",
        unblended_cost="0",
        effective_cost="2.5",
        reservation_a_r_n=RI,
    )
    fee = cur_row(
        2,
        line_item_type="RIFee",
        usage_type="HeavyUsage:p5.48xlarge",
        usage_amount="744",
        unblended_cost="1860",
        reservation_a_r_n=RI,
        unused_recurring_fee="1857.5",
    )
    usage = read(table([covered, fee]))
    [line] = usage.lines("option")
    assert (line.group["option"], line.instance_hours) == ("reserved", 1.0)
    assert (line.billed["USD"], line.amortised["USD"]) == (0, Decimal("2.5"))
    assert charges(usage)["RIFee"] == 1860
    assert usage.commitment_rows()[0]["amortised_unused"] == "1857.5"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"line_item_type": "Tax", "usage_type": "", "unblended_cost": "5"}, "tax"),
        ({"line_item_type": "Credit", "unblended_cost": "-5"}, "credit"),
        ({"line_item_type": "Refund", "unblended_cost": "-5"}, "refund"),
        ({"line_item_type": "EdpDiscount", "unblended_cost": "-5"}, "discount"),
        ({"bill_type": "Refund", "unblended_cost": "-5"}, "refund"),
        ({"usage_type": "EUC1-EBSOptimized:p5.48xlarge"}, "not_a_machine"),
        ({"usage_type": "EBS:VolumeUsage.gp3"}, "not_a_machine"),
        ({"usage_type": "USE1-EBS-USE1-EBS-AWS-Out-Bytes"}, "not_a_machine"),
        ({"usage_type": "SoftwareUsage:p4d.24xlarge"}, "not_a_machine"),
        ({"usage_type": "Reservation:p5.48xlarge"}, "capacity_reservation"),
        ({"usage_type": "BoxUsage:m7i.large"}, "other_machine"),
    ],
)
def test_what_is_no_use_adds_money_and_no_hours(changes, reason):
    usage = read(table([cur_row(1, **changes)]))
    assert usage.ledger.uses == {}
    assert reasons(usage) == {reason: 1}
    [charge] = usage.ledger.charges.values()
    assert charge.billed.known == Decimal(str(changes.get("unblended_cost", "60.00")))


@pytest.mark.parametrize(
    ("usage_type", "machine", "option", "region"),
    [
        ("EUC1-SpotUsage:g6e.12xlarge", "g6e.12xlarge", "spot", "eu-central-1"),
        ("BoxUsage:g5.12xlarge", "g5.12xlarge", "on_demand", "us-east-1"),
        ("USE2-Train:ml.p4d.24xlarge", "ml.p4d.24xlarge", "on_demand", "us-east-2"),
        ("BoxUsage:trn1.32xlarge", "trn1.32xlarge", "on_demand", "us-east-1"),
    ],
)
def test_machine_option_and_region_are_in_the_usage_type(usage_type, machine, option, region):
    [key] = read(table([cur_row(1, usage_type=usage_type)])).ledger.uses
    assert (key.machine, key.option, key.region) == (machine, option, region)


def test_a_machine_that_no_table_knows_is_named_and_its_money_counts():
    usage = read(table([cur_row(1, usage_type="BoxUsage:p99.48xlarge")]))
    assert not usage.is_complete
    assert "'p99.48xlarge' are not known" in usage.ledger.not_understood[0]
    assert sum(one.billed.known for one in usage.ledger.charges.values()) == 60
    told = read(table([cur_row(1, usage_type="BoxUsage:p99.48xlarge", gpu="16")]))
    assert hours_by(told.ledger, "machine") == {"p99.48xlarge": 16.0}


def test_the_names_of_cur_2_and_athena_are_read_and_tags_in_a_map():
    row = {
        "identity_line_item_id": "a",
        "line_item_line_item_type": "Usage",
        "line_item_usage_start_date": "2025-05-06 00:00:00.000",
        "line_item_usage_type": "BoxUsage:p5.48xlarge",
        "line_item_usage_amount": "2",
        "line_item_unblended_cost": "120",
        "line_item_currency_code": "NOK",
        "product_region_code": "eu-north-1",
        "resource_tags": '{"user_team": "llm", "user:project": "chat"}',
    }
    [key] = read(table([row])).ledger.uses
    assert (key.region, key.currency, key.project) == ("eu-north-1", "NOK", "chat")
