"""The commands that ask the planner: `portfolio`, `calibrate`, `estimate` and `compare`.

Each answers for a terminal, as JSON, or as a table in CSV.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from typing import TypeVar

from planner.commands.command import (
    Command,
    LoadCatalog,
    Options,
    answer_at_prices,
    read_bytes,
    read_comparison,
    read_request,
)
from planner.contract.answer.common import AnswerModel
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.request.question import EXAMPLE
from planner.exports import TABLES
from planner.exports.portfolio_exports import PORTFOLIO_TABLES, portfolio_csv
from pricing.market.snapshot import Catalog

Answer = TypeVar("Answer", bound=AnswerModel)


def _add_forms(
    parser: ArgumentParser, help_text: str, tables: Sequence[str] = (), metavar: str = "file"
) -> None:
    parser.add_argument("file", metavar=metavar, help=f"{help_text}; - reads standard input")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the whole answer as JSON")
    if tables:
        help_text = f"print one table of the answer as CSV: {', '.join(tables)}"
        form.add_argument("--table", choices=tables, metavar="TABLE", help=help_text)


def _write(answer: Answer, options: Options, draw: Callable[[Answer], str]) -> str:
    if options["json"]:
        return json.dumps(answer.to_json(), indent=2, allow_nan=False)
    return draw(answer)


def _add_portfolio_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="PROJECT",
        help="leave a project out, to see what the others do; may be given several times",
    )
    _add_forms(parser, "portfolio request in JSON or TOML", PORTFOLIO_TABLES)


def _answer_portfolio(options: Options, load_catalog: LoadCatalog) -> str:
    from planner.contract.request.portfolio import leave_out, read_portfolio

    request = leave_out(read_portfolio(read_request(options["file"])), options["without"])
    # Help and refusals of a file come without the solver, which takes half a second to import.
    from planner.portfolio.portfolio import plan_portfolio

    def plan(catalog: Catalog) -> PortfolioAnswer:
        return plan_portfolio(request, catalog)

    does_without = not request.use_catalog or bool(request.custom_offers)
    answer = answer_at_prices(does_without, load_catalog, plan)
    if table := options["table"]:
        return portfolio_csv(answer, table).decode().replace("\r\n", "\n").rstrip("\n")
    from planner.commands.tables import portfolio_tables

    return _write(answer, options, portfolio_tables)


PORTFOLIO = Command(
    help="Plan all projects of a team together, for a portfolio in JSON or TOML.",
    add_arguments=_add_portfolio_arguments,
    answer=_answer_portfolio,
)


MAX_LOG_BYTES = 200_000_000
"""Largest log that is read: about two weeks of one line a second from eight GPUs."""


def _answer_calibrate(options: Options, _: LoadCatalog) -> str:
    from planner.commands.tables import calibration_tables
    from planner.usage.gpu_logs import calibrate, decode_log

    calibration = calibrate(decode_log(read_bytes(options["file"], MAX_LOG_BYTES)))
    return _write(calibration, options, calibration_tables)


CALIBRATE = Command(
    help="Read a log of nvidia-smi or dcgmi: utilisation, memory, power.",
    add_arguments=lambda parser: _add_forms(
        parser, "log of nvidia-smi, or of dmon of it or of dcgmi"
    ),
    answer=_answer_calibrate,
)


def _answer_estimate(options: Options, _: LoadCatalog) -> str:
    request = read_request(options["file"])
    from planner.commands.tables import estimate_tables
    from planner.sizing.estimate import estimate

    estimated = estimate(request)
    return _write(estimated.answer, options, lambda _: estimate_tables(estimated))


ESTIMATE = Command(
    help="Estimate accelerator-hours, memory and layout of a workload in JSON or TOML.",
    add_arguments=lambda parser: _add_forms(parser, "request in JSON or TOML"),
    answer=_answer_estimate,
)


def _answer_compare(options: Options, load_catalog: LoadCatalog) -> str:
    request = read_comparison(options["file"])
    # Help and refusals of a file come without the solver, which takes half a second to import.
    from planner.comparison import compare

    does_without = request.get("use_catalog") is False or bool(request.get("custom_offers"))
    answer = answer_at_prices(does_without, load_catalog, lambda known: compare(request, known))
    if table := options["table"]:
        # pandas takes longer to import than a comparison takes to compute.
        from planner.exports.frames import FRAMES, format_csv

        return format_csv(FRAMES[table](answer))
    from planner.commands.tables import comparison_tables

    return _write(answer, options, comparison_tables)


COMPARE = Command(
    help="Compare renting, committing, owning and mixing for a request in JSON or TOML.",
    add_arguments=lambda parser: _add_forms(
        parser, f"a line such as '{EXAMPLE}', or a file in JSON or TOML", TABLES, "REQUEST"
    ),
    answer=_answer_compare,
)
