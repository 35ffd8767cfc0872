"""Commands on a database that is not migrated: what is wrong and what to do, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError

from pricing.management.database_command import describe_database_error
from tests.another_database import sqlite_at

COMMANDS = (
    ("verify_prices",),
    ("load_catalog",),
    ("refresh_prices", "--dry-run", "--region", "us-east-1"),
    ("housekeeping",),
    ("deliver_webhooks",),
    ("demo_workspace", "--force"),
)


@pytest.mark.django_db
def test_an_unmigrated_database_is_named_with_its_remedy(tmp_path: Path) -> None:
    for command in COMMANDS:
        with (
            sqlite_at(tmp_path / "empty.sqlite3"),
            pytest.raises(CommandError, match=r"not migrated \(no such table.*manage.py migrate`"),
        ):
            call_command(*command)


@pytest.mark.sweep
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda command: command[0])
def test_a_process_of_its_own_prints_no_traceback(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    environment = os.environ | {"DATABASE_URL": f"sqlite:///{tmp_path / 'empty.sqlite3'}"}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "The database is not migrated (no such table" in done.stderr
    assert "Run `manage.py migrate`" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.django_db
def test_a_full_disk_is_not_taken_for_a_database_without_tables(tmp_path: Path) -> None:
    """A `migrate` that found no room was told to run `migrate`."""
    with sqlite_at(tmp_path / "empty.sqlite3"):
        words = describe_database_error(OperationalError("database or disk is full"))
    assert words.startswith("The disk of the database is full (database or disk is full). ")
    assert "Make room" in words
    assert "migrate" not in words
