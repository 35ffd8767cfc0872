"""What takes long holds neither the database nor a project's answers all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from planner.services.portfolio import portfolios
from planner.services.projects import saved_comparisons
from planner.services.projects import saved_comparisons as save_answers
from tests.planner.workspace import REQUEST, Workspace, market

pytestmark = pytest.mark.django_db


@pytest.fixture
def work() -> Workspace:
    market()
    return Workspace("alpha")


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

    noting(saved_comparisons, "compare_for_team")
    noting(portfolios, "plan_for_team")
    plain = open_transactions()
    work.saved(project)
    save_answers.save_as_variant(access, project, REQUEST, name="Variant")
    save_answers.save_in_new_project(access, work.team, REQUEST, project="New", name="First")
    work.portfolio()
    assert seen == [plain] * 4
    assert project.saved_comparisons.get(variant__name="Variant").name == "Variant"


def test_what_cannot_be_created_is_refused_before_it_is_answered(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_comparisons, "compare_for_team", None)
    values = {"project": work.project().name, "name": "First"}
    with pytest.raises(ValueError, match="another project"):
        save_answers.save_in_new_project(work.access(), work.team, REQUEST, **values)
