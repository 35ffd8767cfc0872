"""`delete_account NAME --yes`: removes a person's account."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from planner.services.housekeeping.deletion import delete_account, list_sole_member_teams
from planner.services.teams.access import WrongStateError
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Deletes an account with its tokens, memberships, and teams that have no other member."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="user name of the account")
        parser.add_argument("--yes", action="store_true", help="delete it; nothing brings it back")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        user = get_user_model()._default_manager.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no account {name[:150]!r}.")
        teams = ", ".join(team.name for team in list_sole_member_teams(user)) or "none"
        if not options["yes"]:
            raise CommandError(
                f"{name} would be deleted for good; teams that go with it: {teams}. Run this with"
                " --yes."
            )
        try:
            delete_account(user)
        except WrongStateError as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(f"{name} is deleted; teams that went with it: {teams}.")
