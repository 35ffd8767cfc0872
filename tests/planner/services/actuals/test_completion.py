"""What a plan will have cost when it ends, and what the budget leaves of it."""

import io
from decimal import Decimal

import pytest

from planner.models import Project
from planner.services.actuals import actuals
from planner.services.actuals.actuals import estimate_completion
from tests.planner.costing.market_of import RENT_ALONE
from tests.planner.workspace import PLAIN, WORKLOAD, Workspace

pytestmark = pytest.mark.usefixtures("months_over")


RENTED = PLAIN | {"on_prem": {"servers": []}, "finance": RENT_ALONE}
MONTHLY = Decimal(27520)
"""What the plan costs each month: 500 h of a machine at 55.04."""


@pytest.fixture
def project(work: Workspace) -> Project:
    row = work.project(
        budget="200000", assumptions=RENTED | {"constraints": {"purchase_options": ["on_demand"]}}
    )
    work.saved(row)
    return row


def pay(work: Workspace, project: Project, **months: int | str) -> None:
    rows = "".join(f"{name.replace('m', '2027-')},{cost}\n" for name, cost in months.items())
    actuals.load_actuals(work.access(), project, io.BytesIO(f"month,cost\n{rows}".encode()))


def test_a_month_without_an_upload_is_estimated_and_never_nothing(
    work: Workspace, project: Project
) -> None:
    pay(work, project, m01=30000, m03=30000)
    done = estimate_completion(project)
    assert (done.months_left, done.is_due_after) == (4, False)
    assert done.estimate_at_completion == pytest.approx(180_000)


@pytest.mark.parametrize(("budget", "period"), [("180000", "total"), ("30000", "monthly")])
def test_a_budget_counts_for_all_months_of_the_plan(
    work: Workspace, project: Project, budget: str, period: str
) -> None:
    pay(work, project, m01=36000, m02=24000)
    project.budget, project.budget_period = budget, period
    assert estimate_completion(project).budget == 180_000


def test_a_plan_in_another_currency_is_not_compared(work: Workspace, project: Project) -> None:
    pay(work, project, m01=36000)
    project.assumptions = {**project.assumptions, "currency": "EUR"}
    table = actuals.variance(project)
    assert table.plan is None
    assert "The plan is in USD and the project in EUR" in table.as_dict()["warnings"][0]
    assert estimate_completion(project, table) is None


def test_months_after_the_plan_are_none_of_those_left(work: Workspace) -> None:
    row = work.project(
        assumptions={
            **PLAIN,
            "term_end": "full",
            "constraints": {"purchase_options": ["reserved"]},
            "on_prem": {"servers": []},
        }
    )
    work.saved(row)
    pay(work, row, m01=30000, m02=30000)
    done = estimate_completion(row)
    assert (done.months_left, done.is_due_after) == (4, True)


def test_months_outside_of_the_plan_are_paid_but_neither_done_nor_compared(
    work: Workspace, project: Project
) -> None:
    pay(work, project, m01=27520)
    rows = b"month,cost\n2026-11,100000\n2027-09,5000\n"
    actuals.load_actuals(work.access(), project, io.BytesIO(rows))
    done = estimate_completion(project)
    assert done is not None
    assert (done.months_done, done.months_left) == (1, 5)
    assert done.actual == 132_520
    assert done.estimate_at_completion == 105_000 + MONTHLY * 6
    (words,) = done.warnings
    assert words == (
        "2026-11, 2027-09 are no months of the plan, which pays from 2027-01 to 2027-06: the "
        "105,000 USD paid in them count as paid, not as months done nor in the share that is "
        "carried on."
    )


@pytest.mark.parametrize(("hours", "by_the_hour"), [(11680, 6), (8760, 3), (5840, 0), (2920, 0)])
def test_commitments_serve_first_so_that_less_use_is_less_by_the_hour(
    work: Workspace, hours: int, by_the_hour: int
) -> None:
    load = WORKLOAD | {"hours_per_month": [5840, 11680] * 6, "peak_accelerators": [8, 16] * 6}
    options = {"constraints": {"purchase_options": ["reserved", "on_demand"]}}
    row = work.project(workload=load, assumptions=RENTED | options | {"horizon_months": 12})
    work.saved(row)
    cost = f"{730 * (34 + Decimal('55.04') * by_the_hour / 6):.2f}"
    rows = f"month,category,cost,hours\n2027-02,compute,{cost},{hours}\n"
    actuals.load_actuals(work.access(), row, io.BytesIO(rows.encode()))
    done = estimate_completion(row)
    paid_monthly, burst = 730 * 34, 730 * Decimal("55.04")
    assert done.estimate_at_completion == 12 * paid_monthly + by_the_hour * burst
    assert done.low >= 12 * paid_monthly
