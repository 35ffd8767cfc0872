"""`manage.py jobfile FILE`: what a job file says of accelerators and hours, as a request."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from planner.commands.job_file import JOB_FILE
from pricing import catalog


class Command(BaseCommand):
    """Reads a job file, prints its request. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = JOB_FILE.help

    def add_arguments(self, parser: ArgumentParser) -> None:
        JOB_FILE.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        status = JOB_FILE.run(options, catalog.current, self.stdout.write, self.stderr.write)
        if status:
            sys.exit(status)
