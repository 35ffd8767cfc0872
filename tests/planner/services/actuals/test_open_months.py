"""Months that were uploaded before they were over: no measure of use, and not paid for yet."""

import datetime as dt
import io
from decimal import Decimal

import pytest

from planner.models import ActualsUpload, Project
from planner.services.actuals import actuals
from planner.services.actuals.actuals import estimate_completion
from tests.planner.services.actuals.test_completion import MONTHLY, pay, project
from tests.planner.workspace import Workspace

__all__ = ["project"]


def uploaded(day: dt.date) -> None:
    """Sets the day of the latest upload."""
    latest = ActualsUpload.objects.order_by("created_at").last()
    moment = dt.datetime(day.year, day.month, day.day, 12, tzinfo=dt.UTC)
    ActualsUpload.objects.filter(pk=latest.pk).update(created_at=moment)


@pytest.mark.parametrize(
    ("day", "months_done", "estimate"),
    [
        (dt.date(2027, 2, 28), 1, 36000 + 5 * 36000),
        (dt.date(2027, 3, 1), 2, 45000 + 4 * MONTHLY * 45000 / (2 * MONTHLY)),
    ],
)
def test_a_month_that_was_not_over_is_expected_to_go_on(
    work: Workspace, project: Project, day: dt.date, months_done: int, estimate: Decimal
) -> None:
    pay(work, project, m01=36000, m02=9000)
    uploaded(day)
    table = actuals.variance(project)
    done = estimate_completion(project, table)
    assert (done.months_done, done.months_left) == (months_done, 6 - months_done)
    assert done.actual == 45000
    assert done.estimate_at_completion == pytest.approx(estimate)
    told = any(
        "February 2027 was uploaded before the end" in text for text in table.as_dict()["warnings"]
    )
    assert told is (months_done == 1)


def test_what_is_paid_of_such_a_month_counts_where_it_is_more(
    work: Workspace, project: Project
) -> None:
    pay(work, project, m01=MONTHLY, m02=90000)
    uploaded(dt.date(2027, 2, 10))
    done = estimate_completion(project)
    assert done.estimate_at_completion == MONTHLY + 90000 + 4 * MONTHLY
    assert done.remaining_plan == 4 * MONTHLY


def test_a_later_upload_of_the_rest_closes_the_month(work: Workspace, project: Project) -> None:
    pay(work, project, m01=36000, m02=9000)
    uploaded(dt.date(2027, 2, 10))
    pay(work, project, m02=15000)
    uploaded(dt.date(2027, 3, 2))
    assert actuals.variance(project).open_months == frozenset()
    assert estimate_completion(project).estimate_at_completion == pytest.approx(60000 + 4 * 30000)


def test_use_and_price_are_of_months_that_were_over(work: Workspace, project: Project) -> None:
    text = b"month,cost,hours\n2027-01,36000,4800\n2027-02,100,8\n"
    actuals.load_actuals(work.access(), project, io.BytesIO(text))
    uploaded(dt.date(2027, 2, 10))
    done = estimate_completion(project)
    assert done.hours_ratio == pytest.approx(1.2)
    assert done.estimate_at_completion == pytest.approx(36000 + 5 * MONTHLY * Decimal("1.2"))


def test_without_a_month_that_was_over_nothing_is_estimated(
    work: Workspace, project: Project
) -> None:
    pay(work, project, m01=5000)
    uploaded(dt.date(2027, 1, 10))
    table = actuals.variance(project)
    done = estimate_completion(project, table)
    assert done.estimate_at_completion is None
    assert done.why_not == ("no month of the plan that was paid for was over when it was uploaded")


def test_a_month_before_the_plan_is_paid_for_whenever_it_was_uploaded(
    work: Workspace, project: Project
) -> None:
    """Nothing more of it is expected, and the line of what was paid begins with it."""
    actuals.load_actuals(work.access(), project, io.BytesIO(b"month,cost\n2026-10,100000\n"))
    uploaded(dt.date(2026, 10, 20))
    pay(work, project, m01=MONTHLY)
    uploaded(dt.date(2027, 2, 2))
    table = actuals.variance(project)
    done = estimate_completion(project, table)
    assert done.estimate_at_completion == 100_000 + 6 * MONTHLY
    assert not any("before the end of the month" in text for text in table.as_dict()["warnings"])
