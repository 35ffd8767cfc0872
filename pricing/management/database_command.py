"""Base of the commands that read or write the database: its errors become clear messages."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from pricing.discovery import all_providers
from pricing.ingest.http import Secrets
from pricing.publish.refresh import is_disk_full


class DatabaseCommand(BaseCommand):
    """A command whose database may be missing, full or not migrated."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command; a `DatabaseError` becomes a `CommandError` that says what to do."""
        try:
            return super().execute(*args, **options)
        except DatabaseError as error:
            raise CommandError(describe_database_error(error)) from None


def add_provider_arguments(parser: ArgumentParser) -> None:
    """Which providers, and which of their regions: of the commands that read them."""
    known = ", ".join(all_providers()) or "none"
    parser.add_argument("provider", nargs="*", help=f"which (all by default): {known}")
    parser.add_argument(
        "--region", action="append", default=[], metavar="R", help="only this region; repeatable"
    )


def describe_database_error(error: DatabaseError) -> str:
    """What is wrong with the database and what to do about it, without secrets."""
    text = Secrets(os.environ).scrub(" ".join(str(error).split()))
    if is_disk_full(error):
        return (
            f"The disk of the database is full ({text}). Published prices stay in force. Make room,"
            " then run this command again."
        )
    if _has_unapplied_migrations():
        return (
            f"The database is not migrated ({text}). Run `manage.py migrate`, then run this command"
            " again."
        )
    return (
        f"The database cannot be used ({text}). Published prices stay in force. Check DATABASE_URL,"
        " the free space on the database's disk and `manage.py migrate`, then run this command"
        " again."
    )


def _has_unapplied_migrations() -> bool:
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False
