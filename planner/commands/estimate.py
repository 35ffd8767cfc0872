"""`estimate FILE|-`: accelerator-hours of a workload, as tables or JSON."""

from __future__ import annotations

import json
from argparse import ArgumentParser

from planner.commands.command import Command, LoadCatalog, Options
from planner.commands.reading import read_request


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="request in JSON or TOML; - reads standard input")
    parser.add_argument("--json", action="store_true", help="print the whole answer as JSON")


def _answer(options: Options, _: LoadCatalog) -> str:
    request = read_request(options["file"])
    from planner.commands.sizing_tables import estimate_tables
    from planner.sizing.estimate import estimate

    estimated = estimate(request)
    if options["json"]:
        return json.dumps(estimated.answer.to_json(), indent=2, allow_nan=False)
    return estimate_tables(estimated)


ESTIMATE = Command(
    help="Estimate accelerator-hours, memory and layout of a workload in JSON or TOML.",
    add_arguments=_add_arguments,
    answer=_answer,
)
