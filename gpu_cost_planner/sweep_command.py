"""`gpu-cost-planner sweep FILE --vary FIELD=V1,V2`: a comparison for each combination, as CSV."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gpu_cost_planner.planning import sweep
from gpu_cost_planner.server import add_server
from planner.contract.typed_numbers import check_tree
from pricing.common.invalid_input import InvalidInput

if TYPE_CHECKING:
    from pricing.market.snapshot import Catalog

HELP = "Compare a request for every combination of some values; prints a row for each as CSV."


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="request in JSON or TOML; - reads standard input")
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="FIELD=V1,V2",
        help="a dotted field and its values; repeatable",
    )
    parser.add_argument("--processes", type=int, metavar="N", help="by default one a processor")
    parser.add_argument(
        "--journal", metavar="FILE", help="keep what is done here, and go on from it"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    add_server(parser)


def run(options: Namespace, catalog: Catalog, write: Callable[[str], object]) -> int:
    """Print the rows; gives the exit status."""
    from planner.exports.frames import format_csv

    frame = sweep(
        options.file,
        read_grid(options.vary),
        catalog=catalog,
        processes=options.processes,
        journal=options.journal,
        progress=not options.quiet,
        exact=True,
    )
    write(format_csv(frame))
    return 0


def read_grid(texts: list[str]) -> dict[str, list[Any]]:
    """Fields with their values: JSON where a value is some, text otherwise.

    >>> read_grid(["horizon_months=12,24", "currency=EUR"])
    {'horizon_months': [12, 24], 'currency': ['EUR']}
    """
    grid: dict[str, list[Any]] = {}
    for text in texts:
        field, equals, values = text.partition("=")
        if not equals or not values:
            raise InvalidInput("--vary", f"{text!r} is not of the form FIELD=V1,V2")
        if field in grid:
            raise InvalidInput("--vary", f"{field!r} is given twice; give all its values at once")
        try:
            grid[field] = json.loads(f"[{values}]")
        except ValueError:
            grid[field] = values.split(",")
    check_tree(grid)
    return grid
