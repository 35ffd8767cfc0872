"""`deliver_webhooks`: attempts what is due, by hand or from cron."""

from __future__ import annotations

from typing import Any

from planner.services.webhooks.webhooks import deliver_due
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    help = "Attempts each webhook delivery whose time has come."

    def handle(self, *args: Any, **options: Any) -> None:
        attempted = deliver_due()
        self.stdout.write(f"{attempted} deliveries attempted")
