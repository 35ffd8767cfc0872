"""`manage.py calibrate LOG.csv`: what a log of nvidia-smi says about the plan."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from planner.management.reading import read_text
from planner.management.sizing_tables import calibration_tables
from planner.sizing.calibration.calibration import calibrate
from pricing.common.invalid_input import InvalidInput

MAX_LOG_BYTES = 200_000_000
"""Largest log that is read: about two weeks of one line a second from eight GPUs."""


class Command(BaseCommand):
    """Reads a log, prints its findings. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = "Read a log of nvidia-smi --query-gpu=... --format=csv: utilisation, memory, power."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="log in CSV with its header; - reads standard input")
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            calibration = calibrate(read_text(options["file"], MAX_LOG_BYTES))
        except InvalidInput as refusal:
            for one in refusal.all():
                self.stderr.write(str(one))
            sys.exit(2)
        if options["json"]:
            self.stdout.write(json.dumps(calibration.as_dict(), indent=2, allow_nan=False))
        else:
            self.stdout.write(calibration_tables(calibration))
