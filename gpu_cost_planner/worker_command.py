"""`gpu-cost-planner worker --broker URL`: takes the comparisons of sweeps, on any machine."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from gpu_cost_planner.catalog_option import add_server
from gpu_cost_planner.sweeps.sweep import check_celery
from pricing.common.invalid_input import InvalidInput

if TYPE_CHECKING:
    from pricing.market.snapshot import Catalog

HELP = "Take the comparisons of `sweep --broker` until stopped; start one on each machine."


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument(
        "--broker", required=True, metavar="URL", help="such as redis://host:6379/1"
    )
    parser.add_argument("--processes", type=int, metavar="N", help="by default one a processor")
    add_server(parser)


def run(options: Namespace, catalog: Catalog) -> int:
    """Work until stopped; gives the exit status."""
    check_celery("worker")
    if options.processes is not None and options.processes < 1:
        refused = f"{options.processes} is not allowed; must be at least 1"
        raise InvalidInput("processes", refused)
    from gpu_cost_planner.sweeps.cluster import work

    work(options.broker, catalog, options.processes)
    return 0
