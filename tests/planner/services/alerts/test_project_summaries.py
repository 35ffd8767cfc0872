"""A team's projects at a glance."""

from __future__ import annotations

import io
from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied

from planner.models import Role
from planner.services.actuals import actuals
from planner.services.alerts.project_summaries import project_summaries
from planner.services.projects import saved_comparisons
from planner.services.projects.reprice import current_plan
from tests.planner.workspace import Workspace, market

pytestmark = pytest.mark.django_db


@pytest.fixture
def work() -> Workspace:
    market()
    return Workspace("alpha")


def test_each_project_goes_by_the_plan_that_variance_and_watch_go_by(work) -> None:
    project = work.project()
    approved = saved_comparisons.submit(work.access(), work.saved(project))
    saved_comparisons.approve(work.access(), approved)
    work.saved(project)
    other = work.project(name="B")
    work.saved(other)
    latest = work.saved(other)
    plans = {row.project.pk: row.plan for row in project_summaries(work.access(), work.team)}
    assert plans == {project.pk: approved, other.pk: latest}
    assert plans[project.pk] == current_plan(project)


def test_what_was_paid_is_the_exact_sum(work) -> None:
    project = work.project()
    for amount in (b"0.10", b"0.20"):
        stream = io.BytesIO(b"month,cost\n2027-01," + amount + b"\n")
        actuals.load_actuals(work.access(), project, stream)
    (row,) = project_summaries(work.access(), work.team)
    assert (row.actual, row.months_paid) == (Decimal("0.30"), 1)
    assert row.actual == Decimal(actuals.variance(project).as_dict()["total"]["actual"])


def test_the_queries_do_not_grow_with_the_projects(work, django_assert_num_queries) -> None:
    work.saved(work.project(name="A"))
    with django_assert_num_queries(6):
        project_summaries(work.access(), work.team)
    work.saved(work.project(name="B"))
    with django_assert_num_queries(6):
        project_summaries(work.access(), work.team)


def test_a_stranger_is_refused(work) -> None:
    beta = Workspace("beta")
    with pytest.raises(PermissionDenied):
        project_summaries(beta.access(Role.OWNER), work.team)
