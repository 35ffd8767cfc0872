"""`manage.py compare FILE|-`: the comparison as a table, or the JSON answer with --json."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from planner.comparison import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.management.reading import read_request
from planner.management.tables import comparison_tables
from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.management.database_command import DatabaseCommand


class Command(DatabaseCommand):
    """Reads a request, compares, prints. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = "Compare renting, committing, owning and mixing for a request in JSON or TOML."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="request in JSON or TOML; - reads standard input")
        parser.add_argument("--json", action="store_true", help="print the whole answer as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            answer = compare(read_request(options["file"]), catalog.current())
        except InvalidInput as refusal:
            for one in refusal.all():
                self.stderr.write(str(one))
            sys.exit(2)
        self.stdout.write(self._format(answer, options["json"]))

    def _format(self, answer: ComparisonAnswer, as_json: bool) -> str:
        if as_json:
            return json.dumps(answer.to_json(), indent=2, allow_nan=False)
        return comparison_tables(answer)
