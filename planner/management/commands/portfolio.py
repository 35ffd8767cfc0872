"""`manage.py portfolio FILE|-`: one plan for all projects at the prices in the database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from planner.commands.ask import PORTFOLIO
from pricing import catalog
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    """Plans at the published prices. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = PORTFOLIO.help

    def add_arguments(self, parser: ArgumentParser) -> None:
        PORTFOLIO.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = PORTFOLIO.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
