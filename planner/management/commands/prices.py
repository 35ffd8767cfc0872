"""`manage.py prices`: the prices in the database, their age, and the cheapest offers."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from planner.commands.prices import PRICES
from pricing import catalog
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    """Reads the published prices. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = PRICES.help

    def add_arguments(self, parser: ArgumentParser) -> None:
        PRICES.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = PRICES.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
