"""`manage.py demo_workspace`: a team with projects, plans and actuals to look around in."""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from planner.services import demo_workspace
from pricing import catalog
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    """Makes it once; later calls find it there."""

    requires_system_checks = ()
    help = "Make a demo workspace with people of every role (development only)."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG:
            self.stdout.write("Demo workspace: not made where DEBUG=0.")
            return
        people, password = ", ".join(demo_workspace.PEOPLE), secrets.token_urlsafe(9)
        how = "(lost the password? manage.py changepassword NAME)"
        if not demo_workspace.exists():
            if not catalog.revisions_in_force():
                raise CommandError("The demo workspace needs prices first: manage.py load_catalog")
            demo_workspace.make(password)
            how = f"\nwith the password {password} (shown only once)"
        self.stdout.write(f"Demo workspace: sign in as {people} {how}")
