"""`manage.py calibrate LOG.csv`: what a log of nvidia-smi or DCGM says about the plan."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from planner.commands.ask import CALIBRATE
from pricing import catalog


class Command(BaseCommand):
    """Reads a log, prints its findings. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = CALIBRATE.help

    def add_arguments(self, parser: ArgumentParser) -> None:
        CALIBRATE.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = CALIBRATE.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
