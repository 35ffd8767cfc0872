"""`manage.py compare FILE|-`: the comparison at the prices in the database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from planner.commands.ask import COMPARE
from pricing import catalog
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    """Compares at the published prices. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = COMPARE.help

    def add_arguments(self, parser: ArgumentParser) -> None:
        COMPARE.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = COMPARE.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
