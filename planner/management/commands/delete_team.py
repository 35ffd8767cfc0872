"""`delete_team SLUG --yes`: removes a team with all that it keeps."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from planner.management.team_argument import operator_access, pick_team
from planner.services.housekeeping.deletion import delete_team
from planner.services.teams.access import WrongStateError
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Deletes a team with all that it keeps; only its audit log stays. Export it first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("team", help="short name of the team, as in its addresses")
        parser.add_argument("--yes", action="store_true", help="delete it; nothing brings it back")

    def handle(self, *args: Any, **options: Any) -> None:
        team = pick_team(options["team"])
        name = team.name
        if not options["yes"]:
            raise CommandError(
                f"{name} would be deleted for good. Export it with `manage.py export_team "
                f"{team.slug} FILE`, then run this with --yes."
            )
        try:
            delete_team(operator_access(team), team)
        except WrongStateError as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"{name} is deleted.")
