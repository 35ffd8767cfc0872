"""The commands that ask the planner, each for a terminal or as JSON, some as a table in CSV."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from planner.commands.command import (
    Command,
    LoadCatalog,
    Options,
    load_prices,
    read_bytes,
    read_comparison,
    read_request,
    read_text,
    write_request,
)
from planner.contract.answer.common import AnswerModel
from planner.contract.request.question import EXAMPLE
from planner.exports import TABLES
from planner.exports.portfolio_exports import PORTFOLIO_TABLES, portfolio_csv
from planner.usage.ladder import RULES, Ladder, plan_ladder
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import HOURS_PER_MONTH

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

    does_without = not request.use_catalog or bool(request.custom_offers)
    answer = plan_portfolio(request, load_prices(load_catalog, does_without))
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
    answer = compare(request, load_prices(load_catalog, does_without))
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


# ladder -----------------------------------------------------------------------------------

MAX_USE_BYTES = 20_000_000
EVERY = {"hour": 1.0, "day": 24.0, "week": 168.0, "month": float(HOURS_PER_MONTH)}


def _add_ladder_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="units in use, a line each, last column; - for standard input"
    )
    price = {"type": float, "required": True, "metavar": "PRICE"}
    months = {"type": int, "default": 12, "metavar": "MONTHS"}
    held = {"action": "append", "default": [], "metavar": "UNITS:MONTHS"}
    for name, kind, text in (
        ("on-demand", price, "of a unit for an hour"),
        ("committed", price, "of the same, committed"),
        ("term", months, "of a contract"),
        ("months", months, "to plan"),
        ("held", held, "units committed already and months that they run on; may be repeated"),
        ("every", {"choices": list(EVERY), "default": "hour"}, "what a line is of"),
        ("rule", {"choices": list(RULES)}, "absent: the one that cost less on the use so far"),
        ("json", {"action": "store_true"}, "print everything as JSON"),
    ):
        parser.add_argument(f"--{name}", help=text, **kind)


def read_use(text: str) -> list[float]:
    """The last column of each line; a first line of names is left out.

    >>> read_use("hour,units\\n2026-01-01 00:00,8\\n2026-01-01 01:00,7.5\\n")
    [8.0, 7.5]
    """
    lines = [line for line in text.splitlines() if line.strip()]
    use = []
    for number, line in enumerate(lines, 1):
        last = line.replace(";", ",").replace("\t", ",").rsplit(",", 1)[-1].strip()
        try:
            use.append(float(last))
        except ValueError as error:
            if number > 1:
                raise InvalidInput("file", f"line {number}: {last[:40]!r} is no number") from error
    return use


def _read_held(rows: Sequence[str]) -> Iterator[tuple[float, int]]:
    for row in rows:
        units, _, months = row.partition(":")
        try:
            yield float(units), int(months)
        except ValueError as error:
            raise InvalidInput("held", f"{row!r} is not UNITS:MONTHS, such as 8:6") from error


def _answer_ladder(options: Options, _: LoadCatalog) -> str:
    ladder = plan_ladder(
        read_use(read_text(options["file"], MAX_USE_BYTES)),
        options["on_demand"],
        options["committed"],
        options["term"],
        options["months"],
        EVERY[options["every"]],
        tuple(_read_held(options["held"])),
        options["rule"],
    )
    if options["json"]:
        return json.dumps({"sign_now": ladder.sign_now, **asdict(ladder)}, indent=2)
    return "\n".join(_ladder_lines(ladder))


def _ladder_lines(ladder: Ladder) -> Iterator[str]:
    yield ladder.sentence
    yield ""
    yield f"{'month':>5}  {'sign':>8}  {'committed':>9}  {'expected use':>12}"
    for row in ladder.months:
        held = f"{row.sign:>8,.0f}  {row.committed:>9,.0f}"
        yield f"{row.month + 1:>5}  {held}  {row.expected_use:>12,.1f}"
    yield ""
    owed = f" and {ladder.owed_after:,.0f} owed after them" if ladder.owed_after else ""
    yield f"Cost {ladder.cost:,.0f}{owed}; all on demand {ladder.on_demand_cost:,.0f}."


LADDER = Command(
    "how much of a use to commit to, now and later", _add_ladder_arguments, _answer_ladder
)


# jobfile ----------------------------------------------------------------------------------

if TYPE_CHECKING:
    from planner.usage.job_files.facts import JobFacts

MAX_FILE_BYTES = 4_000_000
_NUMBERS = {
    "runs_per_month": (1e6, "times it runs a month; once where it is not given"),
    "accelerators": (1e7, "how many, where the file leaves it open"),
    "at_once": (1e6, "runs that go at once, where the file leaves it open"),
    "hours": (1e6, "hours of a run, where the file leaves them open"),
    "tokens": (1e18, "tokens of a training"),
}
"""Option → the highest number that it may be, and what it says."""


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", help="job file; - reads standard input")
    for name, (_, meaning) in _NUMBERS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="N", help=meaning)
    for name, metavar, meaning in (
        ("accelerator", None, "accelerator, where the file leaves it open"),
        ("model", None, "model of a training"),
        ("request", "FILE", "write the request, once nothing is open"),
    ):
        parser.add_argument(f"--{name}", default="", metavar=metavar, help=meaning)


def _answer(options: Options, _: LoadCatalog) -> str:
    from planner.usage.job_files import read_job_file

    text = read_text(options["file"], MAX_FILE_BYTES)
    facts = read_job_file(text, Path(options["file"]).name)
    _answer_questions(facts, options)
    request = facts.request(options["runs_per_month"] or 1.0)
    if options["request"]:
        if facts.questions:
            refusals = [InvalidInput(field, why) for field, why in facts.questions.items()]
            raise InvalidInput.together(refusals, len(refusals))
        write_request(request, options["request"])
    return json.dumps(facts.as_dict() | {"request": request}, indent=2, allow_nan=False)


def _answer_questions(facts: JobFacts, options: Options) -> None:
    for name, (most, _) in _NUMBERS.items():
        value = options[name]
        if value is not None and not 0 < value <= most:
            raise InvalidInput(name, f"{value:g} is not between 0 and {most:g}")
    for name in ("accelerator", "accelerators", "hours"):
        if options[name]:
            setattr(facts, name, options[name])
    if options["at_once"]:
        facts.at_once = int(options["at_once"])
    if options["accelerators"]:
        facts.slices = ""
    elif facts.slices and options["accelerator"]:
        facts.ask_count(f"how many whole accelerators its slices ({facts.slices}) are")
    for name in ("tokens", "model"):
        if options[name] and facts.training:
            facts.training[name] = options[name]
    answered = {**options, "peak_accelerators": options["accelerators"]}
    facts.questions = {name: why for name, why in facts.questions.items() if not answered.get(name)}
    facts.settle()


JOB_FILE = Command(
    help="Read a job file (Slurm, Kubernetes, SkyPilot, training) as a request.",
    add_arguments=_add_arguments,
    answer=_answer,
)
