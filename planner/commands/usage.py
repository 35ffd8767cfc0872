"""`usage FILE…`: what bills and cluster logs say, and the demand that follows. No Django."""

from __future__ import annotations

import datetime as dt
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from planner.commands.command import Command, LoadCatalog, Options
from planner.usage.demand.plan import Demand, next_month, plan_demand, read_run
from planner.usage.formats.base import ReadOptions
from planner.usage.projects import DEFAULT_SOURCES, ProjectRules
from planner.usage.reading import read_files
from planner.usage.summary import DIMENSIONS, Usage
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

MAX_FILES = 1_000


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="bills and logs; - reads standard input"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--by",
        default="month,accelerator,option,project",
        help=f"what to sum by, with commas: {', '.join(DIMENSIONS)}",
    )
    parser.add_argument(
        "--project-by",
        default=",".join(DEFAULT_SOURCES),
        help="where a project's name stands, in order: tag:NAME, account, user",
    )
    parser.add_argument(
        "--rename",
        action="append",
        default=[],
        metavar="PATTERN=NAME",
        help="call the projects of a pattern such as ml-* by one name; may be repeated",
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="COLUMN=NAME",
        help="read a column of one's own table by another name; may be repeated",
    )
    parser.add_argument("--fields", default="", help="columns of a log of Slurm without a header")
    parser.add_argument("--unit", default="", help="unit of a report that does not state it")
    parser.add_argument("--month", default="", help="month of a report that does not state it")
    _add_demand_arguments(parser)
    parser.add_argument(
        "--watch", default="", metavar="DIR", help="read a folder whenever it changes"
    )
    parser.add_argument(
        "--interval", type=int, default=30, metavar="S", help="seconds between looks at the folder"
    )
    parser.add_argument(
        "--out", default="", metavar="FILE", help="with --watch: keep the JSON in this file"
    )


def _add_demand_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--forecast", type=int, default=12, metavar="MONTHS", help="months to forecast; 0 for none"
    )
    parser.add_argument("--start", default="", help="first month of the plan, such as 2027-01")
    parser.add_argument("--accelerator", default=None, help="accelerator to forecast, by its name")
    parser.add_argument(
        "--past-run",
        action="append",
        default=[],
        metavar="MONTH=HOURS[:NAME]",
        help="work of the past that will not come again; may be repeated",
    )
    parser.add_argument(
        "--add-run",
        action="append",
        default=[],
        metavar="MONTH=HOURS[:NAME]",
        help="work that is known to come; may be repeated",
    )
    parser.add_argument(
        "--request", default="", metavar="FILE", help="write the demand as a request for compare"
    )


def read_options(options: Options) -> ReadOptions:
    """What the arguments say about the files."""
    return ReadOptions(
        projects=ProjectRules(
            [part.strip() for part in options["project_by"].split(",") if part.strip()],
            dict(_pairs(options["rename"], "rename")),
        ),
        mapping=dict(_pairs(options["map"], "map")),
        fields=tuple(part for part in options["fields"].split(",") if part),
        unit=options["unit"],
        month=options["month"],
    )


def _pairs(texts: Iterable[str], field: str) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign or not name or not value:
            raise InvalidInput(field, f"{shorten(text)} is not NAME=NAME")
        yield name, value


def read_paths(paths: Iterable[str], options: ReadOptions) -> Usage:
    """The files of these names as one sum; a refusal names the file."""
    names = list(paths)
    if not names:
        raise InvalidInput("files", "are missing; name at least one, or a folder with --watch")
    if len(names) > MAX_FILES:
        raise InvalidInput("files", f"are {len(names):,}; at most {MAX_FILES:,} are read")
    return Usage(*read_files(_open_each(names), options))


def _open_each(names: list[str]) -> Iterator[tuple[str, BinaryIO]]:
    for name in names:
        if name == "-":
            yield "standard input", sys.stdin.buffer
            continue
        try:
            with Path(name).open("rb") as stream:
                yield Path(name).name, stream
        except OSError as error:
            raise InvalidInput("file", f"{name} cannot be read: {error.strerror}") from error


def find_demand(usage: Usage, options: Options, today: dt.date) -> Demand | None:
    """The demand that the arguments ask for; none where the files hold no use of accelerators."""
    if not options["forecast"] or not usage.ledger.uses:
        return None
    return plan_demand(
        usage,
        options["forecast"],
        options["start"] or next_month(f"{today:%Y-%m}"),
        options["accelerator"],
        [read_run(text, "past_run") for text in options["past_run"]],
        [read_run(text, "add_run") for text in options["add_run"]],
    )


def describe(usage: Usage, options: Options) -> str:
    """What the command prints."""
    from planner.commands.usage_tables import usage_tables

    by = [part.strip() for part in options["by"].split(",") if part.strip()]
    usage.lines(*by)
    problem, demand = "", None
    try:
        demand = find_demand(usage, options, dt.datetime.now(dt.UTC).date())
    except InvalidInput as refusal:
        if options["request"] or refusal.field in ("past_run", "add_run", "accelerator"):
            raise
        problem = str(refusal)
    if options["request"]:
        _write_request(demand, options["request"])
    if not options["json"]:
        return usage_tables(usage, by, demand, problem)
    answer: dict[str, Any] = usage.as_dict(by)
    answer["demand"] = demand.as_dict() if demand else None
    answer["no_demand_because"] = problem
    return json.dumps(answer, indent=2, allow_nan=False)


def _write_request(demand: Demand | None, name: str) -> None:
    if demand is None:
        raise InvalidInput("request", "cannot be written: the files hold no use to forecast")
    if not demand.is_known_accelerator:
        raise InvalidInput("request", f"cannot be written: {demand.notes[-1]}")
    try:
        Path(name).write_text(json.dumps(demand.request(), indent=2), encoding="utf-8")
    except OSError as error:
        raise InvalidInput("request", f"{name} cannot be written: {error.strerror}") from error


def _answer(options: Options, _: LoadCatalog) -> str:
    if options["watch"]:
        from planner.commands.usage_watch import watch

        watch(options["watch"], options, lambda text: print(text, flush=True))
        return ""
    return describe(read_paths(options["files"], read_options(options)), options)


USAGE = Command(
    help="Read bills and cluster logs: hours, costs and the demand that follows from them.",
    add_arguments=_add_arguments,
    answer=_answer,
)
