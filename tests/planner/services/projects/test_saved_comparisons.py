"""Saved comparisons: frozen, recalculated with reasons, approved in turn."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, connection, transaction

from planner.models import AuditEntry, Role, SavedComparison, State
from planner.services.alerts.alerts import changes_since
from planner.services.portfolio import portfolios
from planner.services.projects import projects
from planner.services.projects.projects import current_plan, reprice
from planner.services.teams import teams
from planner.services.teams.access import StaleError, WrongStateError
from pricing import catalog as catalogs
from pricing.common.invalid_input import InvalidInput
from tests.planner.workspace import REQUEST, WORKLOAD, Workspace, market

pytestmark = pytest.mark.django_db


def test_an_answer_is_kept_with_all_it_came_from(work: Workspace) -> None:
    kept = work.saved()
    assert kept.state == State.DRAFT
    assert kept.revisions == {"aws": 1}
    assert kept.answer["scenarios"]
    assert kept.summary["total_cost"] == next(
        s["total_cost"] for s in kept.answer["scenarios"] if s["key"] == kept.summary["recommended"]
    )


def test_it_goes_stale_after_the_market_moved_on_and_stays_as_it_was(work: Workspace) -> None:
    kept = work.saved()
    shown = kept.rows
    market("99.00", dt.date(2026, 11, 5))
    kept.refresh_from_db()
    assert changes_since(kept, {"aws": 2})
    assert kept.rows == shown
    plan = kept.read_plan()
    assert plan.recommended is not None
    assert str(plan.recommended.total_cost) == kept.summary["total_cost"]
    figures = next(section["rows"] for section in shown if section["title"] == "Figures")
    assert ["Total", f"{plan.recommended.total_cost:,.0f}", "USD"] in figures


def test_a_plan_in_the_form_of_another_release_still_opens(work: Workspace) -> None:
    kept = work.saved()
    for gone in ("verdict", "demand", "break_even"):
        del kept.answer[gone]
    for scenario in kept.answer["scenarios"]:
        del scenario["energy"]
    kept.save()
    market("60.00", dt.date(2026, 11, 5))
    assert rented(reprice(kept, catalogs.current())).change > 0


def test_what_changed_is_listed(work: Workspace) -> None:
    """It is asked again with the team's rates of today, whatever its project asks by now."""
    project = work.project()
    kept = work.saved(project)
    market("60.00", dt.date(2026, 11, 5))
    more = {**WORKLOAD, "hours_per_month": 8000, "peak_accelerators": 16}
    projects.change_project(work.access(), project, {"workload": more})
    told = reprice(kept, catalogs.current())
    assert {m.offer_id: (str(m.before), m.after and str(m.after)) for m in told.prices_moved} == {
        "aws:us-east-1:p5.48xlarge:on_demand": ("55.04", "60")
    }
    totals = {row.label: (row.before, row.after) for row in told.changed_rows}
    assert totals["Total"] == ("173,980 USD", "189,604 USD")
    assert "own servers: PUE" not in totals
    change = rented(told)
    assert change.after - change.before == change.change > 0
    half = {"price_adjustments": [{"multiplier": 0.5}]}
    kept.team = teams.change_settings(work.access(), work.team, half)
    assert rented(reprice(kept, catalogs.current())).change < 0


def rented(repriced: Any) -> Any:
    return next(one for one in repriced.difference if one.scenario == "on_demand")


def test_an_approval_supersedes_the_one_before(work: Workspace) -> None:
    project = work.project()
    first, second = work.saved(project), work.saved(project)
    for kept in (first, second):
        sent = projects.submit(work.access(Role.EDITOR), kept)
        projects.approve(work.access(Role.APPROVER), sent)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, first.superseded_by_id) == (State.SUPERSEDED, second.pk)
    assert second.approved_by == work.users[Role.APPROVER]
    assert second.submitted_by == work.users[Role.EDITOR]
    assert second.approved_at
    assert current_plan(project) == second
    told = AuditEntry.objects.filter(object_id=str(first.pk)).values_list("action", flat=True)
    assert [action.split(".")[1] for action in reversed(told)] == [
        "created", "submitted", "approved", "superseded",
    ]  # fmt: skip


def test_states_follow_one_another(work: Workspace) -> None:
    kept, owner = work.saved(), work.access()
    with pytest.raises(WrongStateError, match="draft; only one that is submitted can be changed"):
        projects.approve(owner, kept)
    sent = projects.submit(owner, kept)
    for refused in (projects.submit, projects.delete_saved):
        with pytest.raises(WrongStateError):
            refused(owner, sent)
    with pytest.raises(WrongStateError):
        projects.change_saved(owner, sent, {"note": "x"})
    back = projects.send_back(owner, sent)
    assert (back.state, back.submitted_at) == (State.DRAFT, None)


def test_the_reason_of_sending_back_is_kept_until_it_is_submitted_again(work: Workspace) -> None:
    editor, approver = work.access(Role.EDITOR), work.access(Role.APPROVER)
    sent = projects.submit(editor, work.saved())
    for unusable in ("a" * 501, "a\u202eb"):
        with pytest.raises(InvalidInput, match="reason"):
            projects.send_back(approver, sent, reason=unusable)
    back = projects.send_back(approver, sent, reason=" Ask for a second quote. ")
    assert (back.sent_back_reason, back.sender) == ("Ask for a second quote.", approver.name)
    entry = AuditEntry.objects.filter(action="saved_comparison.draft").get()
    assert entry.after["sent_back_reason"] == "Ask for a second quote."
    again = projects.submit(editor, back)
    assert (again.sent_back_reason, again.sender, again.sent_back_at) == ("", None, None)


def test_editors_submit_and_approvers_approve(work: Workspace) -> None:
    kept = work.saved()
    with pytest.raises(PermissionDenied):
        projects.submit(work.access(Role.VIEWER), kept)
    sent = projects.submit(work.access(Role.EDITOR), kept)
    with pytest.raises(PermissionDenied):
        projects.approve(work.access(Role.EDITOR), sent)


def test_whoever_submits_a_plan_does_not_approve_it_unless_an_owner(work: Workspace) -> None:
    approver, owner = work.access(Role.APPROVER), work.access()
    own = projects.submit(approver, work.saved())
    with pytest.raises(WrongStateError, match="You submitted it; another approver or an owner"):
        projects.approve(approver, own)
    assert projects.approve(owner, own).approved_by == work.users[Role.OWNER]
    assert projects.approve(owner, projects.submit(owner, work.saved())).state == State.APPROVED


def test_the_database_keeps_one_approved_plan_a_project(work: Workspace) -> None:
    project, owner = work.project(), work.access()
    first, second = work.saved(project), work.saved(project)
    projects.approve(owner, projects.submit(owner, first))
    with pytest.raises(IntegrityError), transaction.atomic():
        SavedComparison.objects.filter(pk=second.pk).update(state=State.APPROVED)


def test_what_was_seen_must_be_what_is_approved(work: Workspace) -> None:
    kept = work.saved()
    projects.change_saved(work.access(), kept, {"note": "changed"})
    with pytest.raises(StaleError):
        projects.submit(work.access(), kept, seen=1)


def test_a_project_with_approvals_is_archived_not_deleted(work: Workspace) -> None:
    project = work.project()
    projects.submit(work.access(), work.saved(project))
    with pytest.raises(WrongStateError, match="archive"):
        projects.delete_project(work.access(), project)
    assert projects.change_project(work.access(), project, {"archived": True}).archived


def open_transactions() -> int:
    """Beside that of the test."""
    return len(connection.savepoint_ids)


def test_nothing_is_locked_while_what_is_to_be_saved_is_answered(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one writer, and its lock is taken as a transaction begins."""
    project, access, seen = work.project(), work.access(), []

    def noting(module: Any, name: str) -> None:
        answer: Callable[..., Any] = getattr(module, name)

        def noted(*args: Any, **options: Any) -> Any:
            seen.append(open_transactions())
            return answer(*args, **options)

        monkeypatch.setattr(module, name, noted)

    noting(projects, "compare_for_team")
    noting(portfolios, "plan_for_team")
    plain = open_transactions()
    work.saved(project)
    projects.save_in_new_project(access, work.team, REQUEST, project="New", name="First")
    work.portfolio()
    assert seen == [plain] * 3


def test_what_cannot_be_created_is_refused_before_it_is_answered(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projects, "compare_for_team", None)
    values = {"project": work.project().name, "name": "First"}
    with pytest.raises(ValueError, match="another project"):
        projects.save_in_new_project(work.access(), work.team, REQUEST, **values)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"assumptions": {"horizon_months": 200}}, "assumptions.horizon_months"),
        ({"assumptions": {"workload": {}}}, "assumptions.workload"),
        ({"assumptions": {"colour": 1}, "workload": {}}, "assumptions.colour"),
        ({"workload": {"kind": "magic"}}, "workload"),
        ({"budget": "-5"}, "budget"),
        ({"budget": "NaN"}, "budget"),
        ({"budget": "1e999999"}, "budget"),
        ({"budget": "a lot"}, "budget"),
    ],
)
def test_a_project_that_cannot_be_compared_is_refused(
    work: Workspace, values: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        work.project(**values)
    assert refusal.value.field.startswith(field)


def test_the_name_of_another_project_is_refused(work: Workspace) -> None:
    first = work.project(name="Vision", archived=True)
    for name in ("Vision", "vision", " VISION "):
        with pytest.raises(InvalidInput, match="'Vision' is the name of an archived project"):
            work.project(name=name)
    other = work.project(name="Speech")
    with pytest.raises(InvalidInput, match="name of another project") as refusal:
        projects.change_project(work.access(), first, {"name": "speech"})
    assert refusal.value.field == "name"
    first.refresh_from_db()
    assert projects.change_project(work.access(), first, {"name": "VISION"}).name == "VISION"
    assert other.name == "Speech"
    assert Workspace("beta").project(name="Speech").name == "Speech"
