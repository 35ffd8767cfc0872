"""`gpu-cost-planner mcp`: the tools for an assistant, over standard input and output or HTTP."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gpu_cost_planner.server import add_server, load_catalog
from planner.contract.typed_numbers import MOST_PORT, whole_number_from
from pricing.common.invalid_input import InvalidInput

if TYPE_CHECKING:
    from gpu_cost_planner.assistants.server import Application

HELP = "Serve the planner as tools of an assistant (MCP); read-only. Needs the extra mcp."
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--http", action="store_true", help="streamable HTTP at /mcp, not standard input and output"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address (default %(default)s)")
    parser.add_argument(
        "--port",
        type=whole_number_from(1, MOST_PORT),
        default=8001,
        help="port (default %(default)s)",
    )
    add_server(parser)


def run(options: Namespace) -> int:
    """Serve until the assistant goes, or until stopped."""
    check_options(options)
    catalog = load_catalog(options)
    import anyio

    from gpu_cost_planner.assistants.server import TokenGate, build_server, serve_stdio

    if not options.http:
        anyio.run(serve_stdio, catalog)
        return 0
    import uvicorn

    application: Application = build_server(catalog).streamable_http_app(
        host=options.host, stateless_http=True, json_response=True
    )
    if options.server:  # for holders of its tokens alone
        application = TokenGate(application, options.server)
    uvicorn.run(application, host=options.host, port=options.port, log_level="warning")
    return 0


def check_options(options: Namespace) -> None:
    """Raise `InvalidInput` without the extra, and for an open address that nobody guards."""
    if find_spec("mcp") is None:
        hint = "install it with pip install 'gpu-cost-planner[mcp]'"
        raise InvalidInput("mcp", f"needs the package mcp; {hint}")
    if options.http and options.host not in LOOPBACK and not options.server:
        raise InvalidInput(
            "--host",
            f"{options.host} can be reached by others; name the planner's --server, whose tokens "
            "callers then have to send",
        )
