"""What the files of a saved comparison say of its state, from draft to superseded."""

import pytest

from planner.exports import Context
from planner.exports.saved_context import context_of
from planner.models import Role, SavedComparison
from planner.services.projects import projects
from tests.planner.workspace import Workspace

pytestmark = pytest.mark.django_db


def told(row: SavedComparison) -> list[tuple[str, str]]:
    context = context_of(SavedComparison.objects.get(pk=row.pk))
    return [(step.state, step.by) for step in context.steps]


def approved(work: Workspace, row: SavedComparison) -> SavedComparison:
    submitted = projects.submit(work.access(Role.EDITOR), row)
    return projects.approve(work.access(Role.APPROVER), submitted)


def test_a_draft_is_a_draft(work: Workspace) -> None:
    row = work.saved()
    assert told(row) == [("draft", "owner-of-alpha")]
    assert context_of(row).saved == str(row.pk)
    assert context_of(row).request == row.request


def test_one_that_was_sent_back_is_a_draft_again(work: Workspace) -> None:
    row = projects.submit(work.access(Role.EDITOR), work.saved())
    assert told(row)[-1] == ("submitted", "editor-of-alpha")
    projects.send_back(work.access(Role.EDITOR), row)
    assert told(row)[-1][0] == "draft"


def test_an_approved_one_names_its_approver_and_one_superseded_its_successor_s(
    work: Workspace,
) -> None:
    project = work.project()
    first = approved(work, work.saved(project))
    assert told(first)[-1] == ("approved", "approver-of-alpha")
    approved(work, work.saved(project))
    assert told(first)[-2:] == [
        ("approved", "approver-of-alpha"),
        ("superseded", "approver-of-alpha"),
    ]


def test_nobody_s_comparison_has_no_state() -> None:
    assert Context().approval_columns == ("", "", "", "")
