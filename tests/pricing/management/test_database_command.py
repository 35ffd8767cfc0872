"""Commands on a database that is not migrated: what is wrong and what to do, no traceback."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError

from pricing.management.database_command import describe_database_error
from tests.another_database import sqlite_at

COMMANDS = (
    ("prices", "verify"),
    ("load_catalog",),
    ("refresh_prices", "--dry-run", "--region", "us-east-1"),
)


@pytest.mark.django_db
def test_an_unmigrated_database_is_named_with_its_remedy(tmp_path: Path) -> None:
    for command in COMMANDS:
        with (
            sqlite_at(tmp_path / "empty.sqlite3"),
            pytest.raises(CommandError, match=r"not migrated \(no such table.*manage.py migrate`"),
        ):
            call_command(*command)


@pytest.mark.django_db
def test_a_full_disk_is_not_taken_for_a_database_without_tables(tmp_path: Path) -> None:
    """A `migrate` that found no room was told to run `migrate`."""
    with sqlite_at(tmp_path / "empty.sqlite3"):
        words = describe_database_error(OperationalError("database or disk is full"))
    assert words.startswith("The disk of the database is full (database or disk is full). ")
    assert "Make room" in words
    assert "migrate" not in words
