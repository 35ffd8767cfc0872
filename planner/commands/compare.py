"""`compare FILE|-`: the comparison for a terminal, as JSON, or one table as CSV."""

from __future__ import annotations

import json
from argparse import ArgumentParser

from planner.commands.command import Command, LoadCatalog, Options, answer_at_prices
from planner.commands.reading import read_request
from planner.contract.answer.comparison import ComparisonAnswer
from planner.exports.table_names import TABLES


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="request in JSON or TOML; - reads standard input")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the whole answer as JSON")
    form.add_argument(
        "--table",
        choices=TABLES,
        metavar="TABLE",
        help=f"print one table of the answer as CSV: {', '.join(TABLES)}",
    )


def _answer(options: Options, load_catalog: LoadCatalog) -> str:
    request = read_request(options["file"])
    # Help and refusals of a file come without the solver, which takes half a second to import.
    from planner.comparison import compare

    does_without = request.get("use_catalog") is False or bool(request.get("custom_offers"))
    answer = answer_at_prices(does_without, load_catalog, lambda known: compare(request, known))
    return _format(answer, options["json"], options["table"])


def _format(answer: ComparisonAnswer, as_json: bool, table: str | None) -> str:
    if as_json:
        return json.dumps(answer.to_json(), indent=2, allow_nan=False)
    if table is None:
        from planner.commands.tables import comparison_tables

        return comparison_tables(answer)
    # pandas takes longer to import than a comparison takes to compute.
    from planner.exports.frames import FRAMES, format_csv

    return format_csv(FRAMES[table](answer))


COMPARE = Command(
    help="Compare renting, committing, owning and mixing for a request in JSON or TOML.",
    add_arguments=_add_arguments,
    answer=_answer,
)
