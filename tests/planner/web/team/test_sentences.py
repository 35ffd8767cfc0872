"""Sentences of the team's pages, one state after the other."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from planner.contract.amounts import name_day
from planner.models import Alert, ApiToken, Invitation, Job, Project, SavedComparison, State
from planner.web.team import sentences

DAY = dt.datetime(2026, 11, 20, 9, 30, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("kind", "arguments", "title"),
    [
        ("price_refresh", {}, "Price refresh"),
        ("project_reprice", {}, "Repricing"),
        ("actuals_upload", {"file_name": "june.csv"}, "Reading june.csv"),
        ("actuals_upload", {}, "Reading"),
        ("comparison", {}, "Comparison"),
    ],
)
def test_a_job_is_named_by_what_it_does(kind: str, arguments: dict[str, Any], title: str) -> None:
    assert sentences.job_title(Job(kind=kind, arguments=arguments)) == title


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"outcome": "unchanged"}, "unchanged"),
        (
            {"outcome": "published", "revision": 7, "offers": 1812, "message": ""},
            "published, revision 7, 1,812 prices",
        ),
        (
            {"outcome": "failed", "revision": None, "message": "No key.", "remedy": "Set one."},
            "failed. No key. Set one.",
        ),
    ],
)
def test_a_refresh_says_what_came_of_it(result: dict[str, Any], words: str) -> None:
    assert sentences.refresh_outcome(result) == words


@pytest.mark.parametrize(
    ("budget", "period", "line"),
    [
        ("", "total", "No budget set"),
        ("12000", "total", "Budget 12,000\u00a0USD for the whole plan"),
        ("12000", "yearly", "Budget 12,000\u00a0USD a year"),
        ("12000", "monthly", "Budget 12,000\u00a0USD a month"),
    ],
)
def test_the_budget_says_its_period(budget: str, period: str, line: str) -> None:
    project = Project(budget=budget, budget_period=period)
    assert sentences.budget_line(project, "USD") == line


def test_a_watch_says_its_threshold() -> None:
    assert sentences.watch_line(Project()) == "prices are not watched"
    watched = Project(watched=True, watch_threshold=0.05)
    assert sentences.watch_line(watched) == "watched: a move of more than 5.0% is reported"


def _saved(**values: Any) -> SavedComparison:
    return SavedComparison(answered_on=DAY.date(), **values)


def test_the_history_names_each_step_taken() -> None:
    assert sentences.history_line(_saved()) == "Answered 20 November 2026"
    steps = {"submitted_at": DAY, "submitted_as": "ada", "approved_at": DAY + dt.timedelta(1)}
    line = (
        "Answered 20 November 2026 · submitted 20 November 2026 by ada · approved 21 November 2026"
    )
    assert sentences.history_line(_saved(**steps)) == line
    back = _saved(sent_back_at=DAY, sent_back_as="bo")
    assert sentences.history_line(back).endswith(" · sent back 20 November 2026 by bo")


@pytest.mark.parametrize(
    ("state", "line"),
    [(State.DRAFT, ""), (State.SUBMITTED, "by ada"), (State.APPROVED, "by bo")],
)
def test_a_decision_names_its_person(state: State, line: str) -> None:
    saved = _saved(state=state, submitted_as="ada", approved_as="bo")
    assert sentences.decision_line(saved) == line


def test_an_alert_gives_both_amounts_or_none() -> None:
    alert = Alert(before="1000", after="1250", currency="EUR")
    assert sentences.alert_change(alert) == "1,000\u00a0EUR → 1,250\u00a0EUR"
    assert sentences.alert_change(Alert(before="1000", after="", currency="EUR")) == ""


def test_a_token_says_when_it_ends() -> None:
    later, before = timezone.now() + dt.timedelta(9), dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    assert sentences.token_end(ApiToken(expires_at=later)) == name_day(later)
    assert sentences.token_end(ApiToken(expires_at=before)) == "expired 2 January 2026"
    revoked = ApiToken(expires_at=later, revoked_at=DAY)
    assert sentences.token_end(revoked) == "revoked 20 November 2026"


def test_an_invitation_says_what_became_of_it() -> None:
    later, before = timezone.now() + dt.timedelta(9), dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    state = sentences.invitation_state
    assert state(Invitation(expires_at=later)) == f"open until {name_day(later)}"
    assert state(Invitation(expires_at=before)) == "expired 2 January 2026"
    assert state(Invitation(expires_at=later, accepted_at=DAY)) == "accepted 20 November 2026"
    assert state(Invitation(expires_at=later, revoked_at=DAY)) == "revoked 20 November 2026"


def test_saving_says_whose_prices_it_takes() -> None:
    assert "at the prices the link names, and frozen with" in sentences.saving_note(True)
    assert "with the team's prices and frozen with" in sentences.saving_note(False)
