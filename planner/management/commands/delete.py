"""`delete account NAME --yes` and `delete team SLUG --yes`, for good."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from planner.management.team_argument import operator_access, pick_team
from planner.services.housekeeping.retention import (
    delete_account,
    delete_team,
    list_sole_member_teams,
)
from planner.services.teams.access import WrongStateError
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Deletes a team with all that it keeps but its audit log, or an account with its tokens, "
        "memberships, and teams that have no other member."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=("account", "team"), help="what to delete")
        parser.add_argument("name", help="user name of the account, or short name of the team")
        parser.add_argument("--yes", action="store_true", help="delete it; nothing brings it back")

    def handle(self, *args: Any, what: str, name: str, yes: bool, **options: Any) -> None:
        if what == "team":
            team = pick_team(name)
            note = f"all that {team.name} keeps goes with it but its audit log"
        else:
            user = get_user_model()._default_manager.filter(username=name).first()
            if user is None:
                raise CommandError(f"There is no account {name[:150]!r}.")
            teams = ", ".join(team.name for team in list_sole_member_teams(user)) or "none"
            note = f"teams that go with it: {teams}"
        if not yes:
            raise CommandError(
                f"{name} would be deleted for good; {note}. Run this again with --yes."
            )
        try:
            if what == "team":
                delete_team(operator_access(team), team)
            else:
                delete_account(user)
        except WrongStateError as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"The {what} {name} is deleted.")
