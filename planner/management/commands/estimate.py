"""`manage.py estimate FILE|-`: accelerator-hours of a workload, as tables or JSON."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from planner.commands.ask import ESTIMATE
from pricing import catalog


class Command(BaseCommand):
    """Sizes a workload; no price is read. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = ESTIMATE.help

    def add_arguments(self, parser: ArgumentParser) -> None:
        ESTIMATE.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = ESTIMATE.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
