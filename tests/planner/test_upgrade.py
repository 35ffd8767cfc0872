"""The database of the release before opens with its saved plans after `migrate`."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connections

from planner.exports import FORMATS
from planner.exports.saved_context import export_saved
from planner.models import AuditEntry, Project, SavedComparison, SavedPortfolio

DUMP = Path(__file__).with_name("last_commit.sql.gz")
"""The demo workspace with a portfolio, without prices and sessions."""
UPGRADED = "upgraded"


@pytest.fixture(scope="module")
def upgraded(
    tmp_path_factory: pytest.TempPathFactory, django_db_blocker: pytest.FixtureRequest
) -> Iterator[str]:
    path = tmp_path_factory.mktemp("upgrade") / "db.sqlite3"
    database = sqlite3.connect(path)
    database.executescript(gzip.decompress(DUMP.read_bytes()).decode())
    database.close()
    connections.databases[UPGRADED] = {
        **connections.databases["default"],
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {},
    }
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        call_command("migrate", database=UPGRADED, verbosity=0)
        yield UPGRADED
        connections[UPGRADED].close()
    del connections.databases[UPGRADED]


def test_saved_plans_show_what_they_showed(upgraded: str) -> None:
    plans = SavedComparison.objects.using(upgraded).select_related("team", "project", "created_by")
    assert {plan.state for plan in plans} == {"approved", "submitted"}
    for plan in plans:
        rows = {section["title"]: section["rows"] for section in plan.rows}
        recommended = plan.read_plan().recommended
        assert recommended is not None
        assert recommended.total_cost == plan.read_summary().total_cost
        total, unit = {row[0]: row[1:] for row in rows["Figures"]}["Total"]
        assert (total.replace(",", ""), unit) == (f"{recommended.total_cost:.0f}", "USD")
        assert rows["Advice"][0][1] == plan.answer["verdict"]["headline"]


@pytest.mark.parametrize("form", FORMATS)
def test_saved_plans_are_exported_as_they_were(upgraded: str, form: str) -> None:
    plan = SavedComparison.objects.using(upgraded).get(state="approved")
    assert len(export_saved(plan, form)) > 100


def test_portfolios_open_and_requests_name_no_rules(upgraded: str) -> None:
    portfolio = SavedPortfolio.objects.using(upgraded).get()
    assert portfolio.read_answer().headline
    assert "rules" not in portfolio.request
    for plan in SavedComparison.objects.using(upgraded):
        assert "rules" not in plan.request
        assert "rules" not in plan.given
    assert not Project.objects.using(upgraded).filter(assumptions__has_key="rules").exists()


def test_the_audit_log_is_still_append_only(upgraded: str) -> None:
    table = AuditEntry._meta.db_table
    for statement in (f"UPDATE {table} SET actor = 'nobody'", f"DELETE FROM {table}"):
        with connections[upgraded].cursor() as cursor, pytest.raises(DatabaseError, match="append"):
            cursor.execute(statement)
