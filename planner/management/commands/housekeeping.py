"""`housekeeping`: removes what is older than its retention, for cron where no schedule is set."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from planner.models import Job
from planner.services.housekeeping.retention import remove_expired
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Removes old jobs, deliveries, sessions and the like."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="count what would go, and remove nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        Job.objects.exists()  # a database that is not migrated ends here, in one sentence
        removed = remove_expired(dry_run=options["dry_run"])
        for one in removed:
            if one.count is not None:
                self.stdout.write(f"{one.what}: {one.count}")
        if any(one.count is None for one in removed):
            raise CommandError("Some could not be removed; the log says why.")
