"""Hours of commitments in FOCUS bills: what is paid for of machines, what is covered by money."""

from __future__ import annotations

import pytest

from planner.services.actuals import actuals
from tests.planner.services.actuals.test_actuals import upload, work
from tests.planner.workspace import Workspace

__all__ = ["work"]

pytestmark = pytest.mark.usefixtures("months_over")


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


def test_of_a_savings_plan_the_hours_that_it_covered_count(work: Workspace) -> None:
    head = (
        "ChargePeriodStart,BilledCost,BillingCurrency,ChargeCategory,PricingQuantity,PricingUnit,"
        "ConsumedQuantity,ConsumedUnit,CommitmentDiscountId,CommitmentDiscountCategory,"
        "CommitmentDiscountStatus,x_InstanceType\n"
    )
    row = work.project()
    upload(
        work,
        row,
        f"{head}2027-01-01,16000,USD,Purchase,730,Hours,,,sp-1,Spend,,\n"
        "2027-01-01,0,USD,Usage,500,Hours,500,Hours,sp-1,Spend,Used,p5.48xlarge\n"
        "2027-01-01,0,USD,Usage,,,,,sp-1,Spend,Unused,\n",
    )
    told = actuals.variance(row).as_dict()
    assert told["total"]["actual_hours"] == 4000.0
    assert told["warnings"] == []
