"""`manage.py compare FILE|-`: the comparison for a terminal, as JSON, or one table as CSV."""

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

TABLES = (
    *("scenarios", "lines", "capacity", "purchases", "break_even"),
    *("assumptions", "tornado", "risk"),
)
"""Tables that `--table` prints; the frames of `planner.exports.frames`, without loading pandas."""


class Command(DatabaseCommand):
    """Reads a request, compares, prints. A refusal is `field: message` and exit status 2."""

    requires_system_checks = ()
    help = "Compare renting, committing, owning and mixing for a request in JSON or TOML."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="request in JSON or TOML; - reads standard input")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print the whole answer as JSON")
        form.add_argument(
            "--table",
            choices=TABLES,
            metavar="TABLE",
            help=f"print one table of the answer as CSV: {', '.join(TABLES)}",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            answer = compare(read_request(options["file"]), catalog.current())
        except InvalidInput as refusal:
            for one in refusal.all():
                self.stderr.write(str(one))
            sys.exit(2)
        self.stdout.write(_format(answer, options["json"], options["table"]))


def _format(answer: ComparisonAnswer, as_json: bool, table: str | None) -> str:
    if as_json:
        return json.dumps(answer.to_json(), indent=2, allow_nan=False)
    if table is None:
        return comparison_tables(answer)
    # pandas takes longer to import than a comparison takes to compute.
    from planner.exports.frames import FRAMES, format_csv

    return format_csv(FRAMES[table](answer))
