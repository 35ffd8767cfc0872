"""What bills say is signed already, what stood idle and cost, and rules of projects."""

import datetime as dt
import io
import json

import pytest

from planner.usage.projects import read_rule
from planner.usage.question import UsageQuestion, answer_usage
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import azure_row, cur_row, sacct, table

RI = "arn:aws:ec2:us-east-1:1:reserved-instances/ri-b"
TODAY = dt.date(2025, 8, 1)


def answer(*contents, **question):
    files = [(f"file {number}", io.BytesIO(one)) for number, one in enumerate(contents)]
    return answer_usage(files, UsageQuestion(**{"forecast_months": 0} | question), TODAY)


def reserved(**changes):
    """A month of two reserved machines, of which one was used for half of it."""
    used = cur_row(
        1,
        line_item_type="DiscountedUsage",
        usage_type="BoxUsage:p4d.24xlarge",
        usage_amount="1116",
        unblended_cost="0",
        reservation_a_r_n=RI,
        usage_end_date="2025-06-01T00:00:00Z",
        usage_start_date="2025-05-01T00:00:00Z",
    ) | {"reservation/EffectiveCost": "13392"}
    fee = cur_row(
        2,
        line_item_type="RIFee",
        usage_type="HeavyUsage:p4d.24xlarge",
        usage_amount="1488",
        unblended_cost="17856",
        reservation_a_r_n=RI,
        usage_start_date="2025-05-01T00:00:00Z",
        usage_end_date="2025-06-01T00:00:00Z",
    ) | {"reservation/UnusedRecurringFee": "4464"}
    return table([used, fee | changes])


def test_the_unused_part_of_a_commitment_has_a_cost_where_its_hours_are_not_stated():
    [row] = answer(reserved()).idle
    assert (row["accelerator_hours"], row["cost"]) == (None, "4464")
    assert row["not_known"] == "the bill states its cost and no hours"
    unused = azure_row(ChargeType="UnusedReservation", Quantity="4", CostInBillingCurrency="20")
    [row] = answer(table([unused | {"PricingModel": "Reservation", "ReservationId": "r"}])).idle
    assert (row["accelerator_hours"], row["cost"], row["currency"]) == (4.0, "20", "EUR")


def prometheus():
    """Two accelerators for an hour: one without a pod, one in a pod that works half the time."""
    times = [1_746_518_400 + 300 * step for step in range(12)]
    series = [
        ({"gpu": "0"}, [[time, "0"] for time in times]),
        (
            {"gpu": "1", "exported_pod": "p"},
            [[t, "0" if n % 2 else "90"] for n, t in enumerate(times)],
        ),
    ]
    result = [
        {"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "Hostname": "n1", **more}, "values": values}
        for more, values in series
    ]
    return json.dumps(
        {"status": "success", "data": {"resultType": "matrix", "result": result}}
    ).encode()


def test_idle_accelerators_of_a_cluster_cost_what_an_hour_is_said_to_cost():
    costs = {row["reason"]: row for row in answer(prometheus(), idle_price="2.50 eur").idle}
    assert costs["idle"]["accelerator_hours"] == 1.0
    assert costs["idle"]["cost"] == "2.50"
    assert costs["allocated_idle"]["accelerator_hours"] == 0.5
    assert (costs["allocated_idle"]["cost"], costs["allocated_idle"]["currency"]) == ("1.25", "EUR")


def test_rules_say_which_rows_belong_to_a_project():
    jobs = sacct(
        {"JobID": "1", "Partition": "dev"},
        {"JobID": "2", "JobIDRaw": "2", "Account": "vision-3"},
        {"JobID": "3", "JobIDRaw": "3", "User": "bo"},
        {"JobID": "4", "JobIDRaw": "4"},
    )
    rules = ("partition:dev=Trials", "account:vision-*=Vision", "user:bo=Speech")
    lines = answer(jobs, rule=rules, project_by=("account",)).usage.lines("project")
    assert {line.group["project"]: line.accelerator_hours for line in lines} == {
        "Trials": 8.0,
        "Vision": 8.0,
        "Speech": 8.0,
        "lab": 8.0,
    }


def test_the_first_rule_holds_and_those_of_the_question_come_before_the_team_s():
    bill = table([cur_row(1) | {"resourceTags/user:team": "ml-vision"}])
    kept = (read_rule("tag:team:ml-*=Machine learning"),)
    [line] = answer(bill, team_rules=kept).usage.lines("project")
    assert line.group["project"] == "Machine learning"
    [line] = answer(bill, rule=("tag:team:*=Mine",), team_rules=kept).usage.lines("project")
    assert line.group["project"] == "Mine"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("team:x=Y", "'team' is unknown; allowed are tag:NAME, account, user and partition"),
        ("account:=Y", "its pattern '' has 0 characters"),
        ("account:x=", "its project '' has 0 characters"),
        ("account", "is no rule like"),
        ("tag:x=Y", "is no rule like"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(text, problem):
    with pytest.raises(InvalidInput, match=problem):
        read_rule(text)


def on_demand(number, **changes):
    row = {
        "usage_type": "BoxUsage:p5.48xlarge",
        "usage_amount": "744",
        "unblended_cost": "40950",
        "usage_start_date": "2025-05-01T00:00:00Z",
        "usage_end_date": "2025-06-01T00:00:00Z",
    }
    return table([cur_row(number, **row | changes)])


def test_what_other_accelerators_do_is_said_not_to_be_in_the_demand():
    told = answer(reserved(), on_demand(3), forecast_months=12).demand
    assert "is that of nvidia-a100-40gb-sxm alone." in told.notes[0]
