"""`export_team SLUG FILE`: all that a team keeps, as a ZIP of JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from planner.management.team_argument import operator_access, pick_team
from planner.services.housekeeping.backup import make_private
from planner.services.housekeeping.deletion import export_team
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Writes all data of a team to a ZIP file of JSON lines."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("team", help="short name of the team, as in its addresses")
        parser.add_argument("file", help="file to write; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        team = pick_team(options["team"])
        path = Path(options["file"])
        try:
            make_private(path)
            with path.open("wb") as file:
                counts = export_team(operator_access(team), team, file)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
        self.stdout.write(f"{path}: {sum(counts.values())} rows of {team.name}")
