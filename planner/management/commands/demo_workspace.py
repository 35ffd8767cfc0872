"""`manage.py demo_workspace`: a team with projects, plans and actuals to look around in."""

from __future__ import annotations

import secrets
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from planner.services import demo_workspace
from pricing import catalog
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    """Makes it once; later calls find it there. In production it wants to be forced."""

    requires_system_checks = ()
    help = "Make a demo workspace with people of every role (development only)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--force", action="store_true", help="make it even where DEBUG=0")
        parser.add_argument(
            "--new-password", action="store_true", help="give its people a new password (DEBUG=1)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG and not options["force"]:
            self.stdout.write("Demo workspace: not made where DEBUG=0; --force makes it.")
        elif demo_workspace.exists():
            self._describe_existing(options["new_password"])
        else:
            self._create()

    def _describe_existing(self, new_password: bool) -> None:
        if new_password and settings.DEBUG:
            password = secrets.token_urlsafe(9)
            demo_workspace.set_password(password)
            self._print_password(password)
        else:
            people = ", ".join(demo_workspace.PEOPLE)
            self.stdout.write(
                f"Demo workspace: sign in as {people} "
                "(lost the password? manage.py demo_workspace --new-password)"
            )

    def _create(self) -> None:
        password = secrets.token_urlsafe(9) if settings.DEBUG else None
        if not catalog.revisions_in_force():
            raise CommandError("The demo workspace needs prices first: manage.py load_catalog")
        demo_workspace.make(password)
        if password:
            self._print_password(password)
        else:
            self.stdout.write("Demo workspace: made; set passwords with manage.py changepassword.")

    def _print_password(self, password: str) -> None:
        self.stdout.write(
            f"Demo workspace: sign in as {', '.join(demo_workspace.PEOPLE)}\n"
            f"with the password {password} (shown only once)"
        )
