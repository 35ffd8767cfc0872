"""`manage.py estimate FILE|-`: accelerator-hours of a workload, as tables or JSON."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from planner.management.reading import read_request
from planner.management.sizing_tables import estimate_tables
from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput


class Command(BaseCommand):
    """Reads a request, estimates, prints. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = "Estimate accelerator-hours, memory and layout of a workload in JSON or TOML."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="request in JSON or TOML; - reads standard input")
        parser.add_argument("--json", action="store_true", help="print the whole answer as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            estimated = estimate(read_request(options["file"]))
        except InvalidInput as refusal:
            for one in refusal.all():
                self.stderr.write(str(one))
            sys.exit(2)
        if options["json"]:
            self.stdout.write(json.dumps(estimated.answer.to_json(), indent=2, allow_nan=False))
        else:
            self.stdout.write(estimate_tables(estimated))
