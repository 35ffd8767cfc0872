"""`housekeeping`: removes what is older than its retention, for cron where no schedule is set."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from planner.models import Job
from planner.services.housekeeping.retention import remove_expired
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Removes old jobs, deliveries, sessions and the like."

    def handle(self, *args: Any, **options: Any) -> None:
        Job.objects.exists()  # a database that is not migrated ends here, in one sentence
        removed = remove_expired()
        for what, count in removed.items():
            if count is not None:
                self.stdout.write(f"{what}: {count}")
        if None in removed.values():
            raise CommandError("Some could not be removed; the log says why.")
