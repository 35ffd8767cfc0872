"""`restore FILE`: a copy made by `backup` brought back into an empty database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from planner.services.housekeeping.backup import BackupError, restore
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Restores a copy into the database of the settings, which must be empty, and migrates."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="file that `manage.py backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            restore(Path(options["file"]))
        except BackupError as error:
            raise CommandError(str(error)) from None
        call_command("migrate", verbosity=0)
        self.stdout.write(
            f"{options['file']} is restored. Check it with `manage.py prices verify --all`."
        )
