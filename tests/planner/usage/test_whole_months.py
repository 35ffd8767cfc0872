"""Whole months of bills and logs with every trap in them, to the cent and to 0.01 h.

The months are made up (2026), their sums were worked out by a second program that shares nothing
with the readers. Prices in them are no evidence of prices.
"""

from decimal import Decimal

import pytest

from tests.planner.usage.make import cur_row, focus_row, read, sacct, table

PLAN = "arn:aws:savingsplans::1:savingsplan/sp1"
RI = "arn:aws:ec2:us-east-1:1:reserved-instances/r1"
BOX = "BoxUsage:p5.48xlarge"


def aws_rows():
    """A month of a Cost and Usage Report: a line a tuple, then what commitments add to it."""
    lines = [
        *[("Usage", BOX, "1", "55.04")] * 11,
        ("Usage", BOX, "0.41666667", "22.9333335168"),
        ("Usage", "USE1-UnusedBox:p5.48xlarge", "1", "55.04"),
        ("Usage", "USE1-SpotUsage:g6e.12xlarge", "1", "1.31"),
        ("Usage", "USE1-SpotUsage:g6e.12xlarge", "0.25", "0.3275"),
        ("Usage", "USE1-SpotUsage:g6e.12xlarge", "0.75", "0.9825"),
        ("Usage", "BoxUsage:trn1.32xlarge", "2", "43"),
        ("Usage", "USE1-Train:ml.p4d.24xlarge", "3", "113.064"),
        ("Usage", "USE1-EBS:VolumeUsage.gp3", "500", "40"),
        ("Tax", "", "1", "25.5"),
        ("Credit", BOX, "0", "-100"),
        ("Refund", f"USE1-{BOX}", "0", "-12.34"),
    ]
    for _ in range(5):
        line = ("DiscountedUsage", "USE1-BoxUsage:g5.12xlarge", "1", "0")
        lines.append(
            (*line, {"reservation/ReservationARN": RI, "reservation/EffectiveCost": "3.573"})
        )
    fee = {"reservation/ReservationARN": RI, "reservation/UnusedRecurringFee": "2383.191"}
    lines.append(("RIFee", "HeavyUsage:g5.12xlarge", "672", "2401.056", fee))
    for _ in range(8):
        plan = {"savingsPlan/SavingsPlanARN": PLAN}
        used = plan | {"savingsPlan/SavingsPlanEffectiveCost": "12.5"}
        paid = plan | {
            "savingsPlan/TotalCommitmentToDate": "14",
            "savingsPlan/UsedCommitment": "12.5",
        }
        machine = "USE1-BoxUsage:p4d.24xlarge"
        lines.append(("SavingsPlanCoveredUsage", machine, "1", "21.957642", used))
        lines.append(("SavingsPlanNegation", machine, "1", "-21.957642", plan))
        lines.append(("SavingsPlanRecurringFee", "ComputeSP:1yrNoUpfront", "1", "14", paid))
    for number, (kind, usage_type, amount, cost, *more) in enumerate(lines):
        names = ("line_item_type", "usage_type", "usage_amount", "unblended_cost")
        values = dict(zip(names, (kind, usage_type, amount, cost), strict=True))
        yield cur_row(number, **values) | (more[0] if more else {})
    yield cur_row(0, usage_type=BOX, usage_amount="1", unblended_cost="55.04")


def by_machine(usage, currency):
    return {
        line.group["machine"]: (
            round(line.instance_hours, 2),
            round(line.accelerator_hours, 2),
            round(line.billed[currency], 2),
            round(line.amortised[currency], 2),
        )
        for line in usage.lines("machine")
    }


def charged(usage, charge):
    sums = [one for key, one in usage.ledger.charges.items() if key.charge == charge]
    return sum(one.billed.total for one in sums), sum(one.amortised.total for one in sums)


def money(*texts):
    return tuple(Decimal(text) for text in texts)


@pytest.fixture(scope="module")
def aws():
    return read(table(aws_rows()))


def test_machines_of_a_month_of_aws(aws):
    assert by_machine(aws, "USD") == {
        BOX[9:]: (11.42, 91.33, *money("628.37", "628.37")),
        "p4d.24xlarge": (8.0, 64.0, *money("0.00", "100.00")),
        "g6e.12xlarge": (2.0, 8.0, *money("2.62", "2.62")),
        "g5.12xlarge": (5.0, 20.0, *money("0.00", "17.86")),
        "trn1.32xlarge": (2.0, 32.0, *money("43.00", "43.00")),
        "ml.p4d.24xlarge": (3.0, 24.0, *money("113.06", "113.06")),
    }


def test_what_is_no_use_in_a_month_of_aws(aws):
    assert charged(aws, "SavingsPlanRecurringFee") == money("112", "12")
    assert charged(aws, "RIFee") == money("2401.056", "2383.191")
    assert charged(aws, "Tax")[0] == Decimal("25.5")
    assert charged(aws, "Credit")[0] == Decimal(-100)
    assert charged(aws, "Refund")[0] == Decimal("-12.34")
    covered, negation = (
        charged(aws, f"SavingsPlan{kind}")[0] for kind in ("CoveredUsage", "Negation")
    )
    assert covered == -negation == Decimal("175.661136")
    idle = aws.ledger.unused["2025-05", BOX[9:], "unused_reservation"].cost
    assert idle.known == Decimal("55.04")
    assert aws.ledger.reasons["duplicate"] == 1


def test_the_two_views_of_a_month_are_each_the_invoice_and_never_added(aws):
    [total] = aws.totals()
    assert round(Decimal(total["billed"]), 2) == Decimal("3308.31")
    assert round(Decimal(total["amortised"]), 2) == Decimal("3308.31")


def focus_rows():
    """A month of FOCUS 1.2 of AWS; the correction is of the month before."""
    on = {"x_UsageType": BOX}
    plan = {"CommitmentDiscountId": PLAN, "CommitmentDiscountType": "Savings Plan"}
    for _ in range(19):
        yield focus_row(**on, BilledCost="55.04", EffectiveCost="55.04")
    yield focus_row(**on, ConsumedQuantity="0.5", BilledCost="27.52", EffectiveCost="27.52")
    for _ in range(6):
        committed = {"PricingCategory": "Committed", "BilledCost": "0"} | plan
        used = {"CommitmentDiscountStatus": "Used", "x_UsageType": "BoxUsage:p4d.24xlarge"}
        unused = {"CommitmentDiscountStatus": "Unused", "ConsumedQuantity": ""}
        yield focus_row(**committed, **used, EffectiveCost="12.5")
        yield focus_row(**committed, **unused, EffectiveCost="1.5")
        yield focus_row(**plan, ChargeCategory="Purchase", BilledCost="14", EffectiveCost="0")
    spot = {"PricingCategory": "Dynamic", "x_UsageType": "USW2-SpotUsage:g6e.12xlarge"}
    yield focus_row(**spot, BilledCost="2.62", EffectiveCost="2.62")
    yield focus_row(ChargeCategory="Tax", BilledCost="30", EffectiveCost="30")
    yield focus_row(**on, ChargeCategory="Credit", BilledCost="-50", EffectiveCost="-50")
    yield focus_row(
        **on,
        ChargeClass="Correction",
        ChargePeriodStart="2025-04-12T00:00:00Z",
        ChargePeriodEnd="2025-04-12T01:00:00Z",
        ConsumedQuantity="-1",
        BilledCost="-55.04",
        EffectiveCost="-55.04",
    )


def test_a_month_of_focus():
    usage = read(table(focus_rows()))
    assert by_machine(usage, "USD") == {
        BOX[9:]: (18.5, 148.0, *money("1018.24", "1018.24")),
        "p4d.24xlarge": (6.0, 48.0, *money("0", "75.00")),
        "g6e.12xlarge": (1.0, 4.0, *money("2.62", "2.62")),
    }
    assert usage.totals() == [{"currency": "USD", "billed": "1084.86", "amortised": "1084.86"}]
    [(before, hours)] = [
        (line.group["month"], line.accelerator_hours)
        for line in usage.lines("month")
        if line.accelerator_hours < 0
    ]
    assert (before, hours) == ("2025-04", -8.0)


JOBS = [
    ("70001", "COMPLETED", "03-31T20:00", "04-01T04:00", 28_800, "h100=16", "=16"),
    ("70001.0", "COMPLETED", "03-31T20:00", "04-01T03:59", 28_780, "h100=16", "=16"),
    *[
        (f"70010_{n}", state, f"04-02T1{n}:00", f"04-02T1{n}:30", 1_800, "a100=1", "")
        for n, state in enumerate(("COMPLETED", "COMPLETED", "COMPLETED", "FAILED"), 1)
    ],
    ("70010_[5-9%2]", "PENDING", "Unknown", "Unknown", 0, "", ""),
    ("70020", "COMPLETED", "04-03T08:05", "04-03T14:05", 21_600, "a100_1g.5gb=2", "=2"),
    ("70030", "NODE_FAIL", "04-04T00:10", "04-04T03:10", 10_800, "h100=8", "=8"),
    ("70030", "COMPLETED", "04-04T04:00", "04-04T07:00", 10_800, "h100=8", "=8"),
    ("70040", "CANCELLED by 10041", "None", "04-05T11:00", 0, "", ""),
    ("70041", "CANCELLED by 10041", "04-05T12:30", "04-05T13:00", 1_800, "h200=32", "=32"),
    ("70050+0", "COMPLETED", "04-06T01:00", "04-06T05:00", 14_400, "a100=4", "=4"),
    ("70050+1", "COMPLETED", "04-06T01:00", "04-06T05:00", 14_400, "", ""),
    ("70060", "RUNNING", "04-28T12:00", "Unknown", 129_600, "l40s=2", ""),
    ("70070", "PREEMPTED", "04-10T00:00", "04-10T02:00", 7_200, "a100=3,gres/gpu:l40s=1", "=4"),
    ("70080", "TIMEOUT", "04-11T00:00", "04-11T01:00", 3_600, "shard", ""),
]  # fmt: skip


def moment(text):
    """A moment of 2026, or the word that stands for none."""
    return f"2026-{text}:00" if text[0].isdecimal() else text


def test_a_month_of_slurm():
    rows = []
    for number, (job, state, start, end, seconds, typed, total) in enumerate(JOBS):
        tres = ["cpu=8", "node=1"] if start[0] == "0" else []
        if typed == "shard":
            tres.append("gres/shard=4")
        elif typed:
            tres += [f"gres/gpu:{typed}", *([f"gres/gpu{total}"] if total else [])]
        rows.append(
            {
                "JobID": job,
                "JobIDRaw": job if "." in job else str(number),
                "State": state,
                "Start": moment(start),
                "End": moment(end),
                "ElapsedRaw": str(seconds),
                "AllocTRES": ",".join(tres),
            }
        )
    usage = read(sacct(*rows))
    assert usage.ledger.reasons == {
        "accelerator_use": 12, "job_step": 1, "never_ran": 2, "no_accelerator": 2
    }  # fmt: skip
    kinds = {line.group["accelerator"]: line for line in usage.lines("accelerator")}
    hours = {name: (line.accelerator_hours, line.slice_hours) for name, line in kinds.items()}
    assert hours == {
        "nvidia-h100-80gb-sxm": (176.0, 0.0),
        "a100": (24.0, 0.0),
        "a100_1g.5gb": (0.0, 12.0),
        "nvidia-h200-141gb-sxm": (16.0, 0.0),
        "nvidia-l40s": (74.0, 0.0),
    }
    months = {
        line.group["month"]: line.accelerator_hours + line.slice_hours
        for line in usage.lines("month")
    }
    assert months == pytest.approx({"2026-03": 64.0, "2026-04": 238.0})
