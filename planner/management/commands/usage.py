"""`manage.py usage FILE…`: what bills and cluster logs say, and the demand that follows."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from planner.commands.usage import USAGE
from pricing import catalog


class Command(BaseCommand):
    """Reads files, prints their sums. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = USAGE.help

    def add_arguments(self, parser: ArgumentParser) -> None:
        USAGE.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = USAGE.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
