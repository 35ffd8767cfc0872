"""What bills say is signed already, what stood idle and cost, and rules of projects."""

from __future__ import annotations

import datetime as dt
import io
import json

import pytest

from planner.contract.request.comparison import read_request
from planner.usage.projects import read_rule
from planner.usage.question import UsageQuestion, answer_usage
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import azure_row, cur_row, focus_row, sacct, table

PLAN = "arn:aws:savingsplans::1:savingsplan/sp-a"
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


def test_a_reservation_is_taken_over_with_its_machines_and_charge():
    [one] = answer(reserved()).taken_over
    assert one.entry == {
        "label": "ri-b",
        "provider": "aws",
        "region": "us-east-1",
        "accelerator": "nvidia-a100-40gb-sxm",
        "accelerator_count": 8.0,
        "units": 2,
        "price_per_month": 8760.0,
    }
    assert list(one.missing) == ["ends"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ri-x=2028-03", "'ri-x' is no commitment of the files; there are: ri-b"),
        ("ri-b=soon", "is not COMMITMENT=MONTH"),
        ("=2028-03", "is not COMMITMENT=MONTH"),
    ],
)
def test_an_end_that_cannot_be_read_is_refused(text, problem):
    with pytest.raises(InvalidInput, match=problem):
        answer(reserved(), commitment_end=(text,))


def test_what_is_whole_goes_into_the_request_of_a_comparison():
    months = [
        cur_row(
            month + 10,
            usage_amount="730",
            usage_start_date=f"2025-{month:02d}-01T00:00:00Z",
            usage_end_date=f"2025-{month + 1:02d}-01T00:00:00Z",
        )
        for month in range(1, 8)
    ]
    asked = {"forecast_months": 6, "start": "2025-08"}
    whole = answer(table(months), reserved(), commitment_end=("ri-b=2026-12",), **asked)
    request = read_request(whole.request())
    [commitment] = request.existing.commitments
    assert (commitment.units, commitment.accelerator_count) == (2, 8)
    assert f"{commitment.ends:%Y-%m}" == "2026-12"
    assert "existing" not in answer(table(months), reserved(), **asked).request()


def hourly_plan(covered_hours):
    """Ten hours of a savings plan of 14 dollars an hour, with a machine under it."""
    rows = []
    for hour in range(10):
        span = {
            "usage_start_date": f"2025-05-06T{hour:02d}:00:00Z",
            "usage_end_date": f"2025-05-06T{hour + 1:02d}:00:00Z",
        }
        rows.append(
            cur_row(
                hour * 2,
                line_item_type="SavingsPlanCoveredUsage",
                usage_type="USE1-BoxUsage:p4d.24xlarge",
                usage_amount=str(covered_hours),
                savings_plan_a_r_n=PLAN,
                savings_plan_effective_cost="12.5",
                **span,
            )
        )
        rows.append(
            cur_row(
                hour * 2 + 1,
                line_item_type="SavingsPlanRecurringFee",
                usage_type="ComputeSP:1yrNoUpfront",
                unblended_cost="14",
                savings_plan_a_r_n=PLAN,
                total_commitment_to_date="14",
                used_commitment="12.5",
                **span,
            )
        )
    return table(rows)


def test_a_savings_plan_is_as_many_machines_as_it_covers():
    [one] = answer(hourly_plan(1)).taken_over
    assert (one.entry["units"], one.entry["price_per_month"]) == (1, 10_220.0)


def test_a_broken_number_of_machines_is_asked_for():
    [one] = answer(hourly_plan(0.4)).taken_over
    assert "units" not in one.entry
    assert "0.40 machines, which is no whole number" in one.missing["units"]


def test_a_commitment_on_several_machines_is_asked_for():
    rows = [
        focus_row(
            x_UsageType=f"BoxUsage:{machine}",
            PricingCategory="Committed",
            CommitmentDiscountId="sp-1",
            CommitmentDiscountType="Savings Plan",
            CommitmentDiscountStatus="Used",
        )
        for machine in ("p5.48xlarge", "p4d.24xlarge")
    ]
    [one] = answer(table(rows)).taken_over
    assert "p4d.24xlarge, p5.48xlarge" in one.missing["accelerator"]
    assert not {"units", "price_per_month", "accelerator"} & one.entry.keys()


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
    assert told.history.accelerator == "nvidia-a100-40gb-sxm"
    assert "is that of nvidia-a100-40gb-sxm alone, 60%" in told.notes[0]
    assert "Not in it: 5,952 h of nvidia-h100-80gb-sxm." in told.notes[0]
    assert not any("as if free" in note for note in told.notes)


def test_commitments_in_several_currencies_are_in_no_plan_and_named():
    euros = on_demand(
        7,
        line_item_type="DiscountedUsage",
        unblended_cost="0",
        reservation_a_r_n=f"{RI}2",
        currency_code="EUR",
    )
    both = answer(reserved(), euros, forecast_months=12, commitment_end=("ri-b=2026-05",))
    assert both.currencies == ["EUR", "USD"]
    assert "existing" not in both.request()
    assert any("billed in EUR and USD" in note for note in both.demand.notes)
