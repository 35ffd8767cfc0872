"""Where a command's prices come from: those that come with the program, or a server's."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from gpu_cost_planner.planning import bundled_catalog
from gpu_cost_planner.server import server_catalog

if TYPE_CHECKING:
    from pricing.market.snapshot import Catalog

TOKEN = "GPU_COST_PLANNER_TOKEN"  # noqa: S105 - the name of the variable that holds it


def add_server(parser: ArgumentParser) -> None:
    """The option that names where prices come from."""
    parser.add_argument(
        "--server",
        metavar="URL",
        help=f"prices of a running planner instead of the bundled ones; its token in {TOKEN}",
    )


def load_catalog(options: Namespace) -> Catalog:
    """The bundled prices, or those of the server that the options name."""
    if options.server:
        return server_catalog(options.server, os.environ.get(TOKEN, ""))
    return bundled_catalog()
