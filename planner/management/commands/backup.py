"""`backup FOLDER`: a copy of the database while it is in use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from planner.contract.typed_numbers import MOST_DAYS, whole_number_from
from planner.services.housekeeping.backup import BackupError, back_up, remove_old
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Copies the database, PostgreSQL or SQLite, to a new file, and checks that it is whole."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", help="folder for the copy; made, and said to be new, in one that is there"
        )
        parser.add_argument(
            "--retain-days",
            type=whole_number_from(0, MOST_DAYS),
            default=0,
            metavar="N",
            help="remove copies in the folder that are older; 0, the default, removes none",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder = Path(options["folder"])
        is_new = not folder.exists()
        try:
            file = back_up(folder)
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{file}: {file.stat().st_size / 1e6:,.1f} MB")
        if is_new:
            self.stderr.write(
                f"{folder} was not there and was made: see that it is the one you mean, and not a "
                "disk that is not mounted."
            )
        for old in remove_old(folder, options["retain_days"]):
            self.stdout.write(f"{old} is removed")
