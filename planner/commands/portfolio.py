"""`portfolio FILE|-`: one plan for all projects, for a terminal, as JSON, or one table as CSV."""

from __future__ import annotations

import json
from argparse import ArgumentParser

from planner.commands.command import Command, LoadCatalog, Options, answer_at_prices
from planner.commands.reading import read_request
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.exports.portfolio_csv import PORTFOLIO_TABLES, portfolio_csv
from pricing.market.snapshot import Catalog


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="portfolio request in JSON or TOML; - reads standard input")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="PROJECT",
        help="leave a project out, to see what the others do; may be given several times",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the whole answer as JSON")
    form.add_argument(
        "--table",
        choices=PORTFOLIO_TABLES,
        metavar="TABLE",
        help=f"print one table of the answer as CSV: {', '.join(PORTFOLIO_TABLES)}",
    )


def _answer(options: Options, load_catalog: LoadCatalog) -> str:
    from planner.contract.request.portfolio import leave_out, read_portfolio

    request = leave_out(read_portfolio(read_request(options["file"])), options["without"])
    # Help and refusals of a file come without the solver, which takes half a second to import.
    from planner.portfolio.portfolio import plan_portfolio
    from planner.portfolio.processes import open_in_processes

    def plan(catalog: Catalog) -> PortfolioAnswer:
        return plan_portfolio(request, catalog, open_lanes=open_in_processes())

    does_without = not request.use_catalog or bool(request.custom_offers)
    answer = answer_at_prices(does_without, load_catalog, plan)
    return _format(answer, options["json"], options["table"])


def _format(answer: PortfolioAnswer, as_json: bool, table: str | None) -> str:
    if as_json:
        return json.dumps(answer.to_json(), indent=2, allow_nan=False)
    if table is None:
        from planner.commands.portfolio_tables import portfolio_tables

        return portfolio_tables(answer)
    return portfolio_csv(answer, table).decode().replace("\r\n", "\n").rstrip("\n")


PORTFOLIO = Command(
    help="Plan all projects of a team together, for a portfolio in JSON or TOML.",
    add_arguments=_add_arguments,
    answer=_answer,
)
