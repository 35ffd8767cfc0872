"""Projects at a glance, and what waits for whom."""

import io
from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied

from planner.models import Role
from planner.services.actuals import actuals
from planner.services.alerts.alerts import excess_over_budget, project_summaries, read_inbox
from planner.services.projects import projects
from planner.services.projects.projects import current_plan
from tests.planner.workspace import Workspace


def test_a_submitted_plan_waits_for_those_who_may_approve_it(work: Workspace) -> None:
    plan = projects.submit(work.access(Role.APPROVER), work.saved())
    waits = {role: len(read_inbox(work.access(role), work.team)) for role in Role}
    assert waits == {Role.VIEWER: 0, Role.EDITOR: 0, Role.APPROVER: 0, Role.OWNER: 1}
    projects.approve(work.access(), plan)
    assert not read_inbox(work.access(), work.team)


def test_what_it_replaces_and_the_budget_are_said(work: Workspace) -> None:
    project = work.project(budget="1000")
    first = projects.submit(work.access(Role.EDITOR), work.saved(project))
    projects.approve(work.access(), first)
    projects.submit(work.access(Role.EDITOR), work.saved(project))
    work.saved(project)
    (row,) = read_inbox(work.access(Role.APPROVER), work.team).to_approve
    assert row.replaces == first
    assert excess_over_budget(project, row.saved)


def test_what_was_sent_back_waits_for_its_author_until_it_is_submitted_again(
    work: Workspace,
) -> None:
    editor, approver = work.access(Role.EDITOR), work.access(Role.APPROVER)
    plan = projects.submit(editor, work.saved())
    plan = projects.send_back(approver, plan)
    (row,) = read_inbox(editor, work.team).sent_back
    assert (row, row.sender) == (plan, approver.name)
    assert not read_inbox(approver, work.team)
    projects.submit(editor, plan)
    assert not read_inbox(editor, work.team).sent_back


def test_projects_in_the_archive_ask_nobody(work: Workspace) -> None:
    plan = projects.submit(work.access(Role.EDITOR), work.saved())
    projects.change_project(work.access(), plan.project, {"archived": True})
    assert not read_inbox(work.access(), work.team)


def test_each_project_goes_by_the_plan_that_variance_and_watch_go_by(work) -> None:
    project = work.project()
    approved = projects.submit(work.access(), work.saved(project))
    projects.approve(work.access(), approved)
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
