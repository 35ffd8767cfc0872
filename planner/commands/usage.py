"""`usage FILE…`: what bills and cluster logs say, and the demand that follows. No Django."""

from __future__ import annotations

import datetime as dt
import json
import shlex
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from planner.commands.command import Command, LoadCatalog, Options, Warned
from planner.usage.projects import DEFAULT_SOURCES
from planner.usage.question import (
    DEFAULT_BY,
    UsageAnswer,
    UsageQuestion,
    answer_usage,
    split_list,
)
from planner.usage.reading import UnmappedColumns
from planner.usage.summary import DIMENSIONS
from pricing.common.invalid_input import InvalidInput

MAX_FILES = 1_000


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="bills and logs; - reads standard input"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--strict", action="store_true", help="refuse files with rows that are not understood"
    )
    parser.add_argument(
        "--by",
        default=",".join(DEFAULT_BY),
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
        "--rule",
        action="append",
        default=[],
        metavar="SOURCE:PATTERN=PROJECT",
        help="what belongs to a project: tag:team:ml-*=Vision, account:4711=Speech, user:… or "
        "partition:…; the first that matches holds, before --project-by; may be repeated",
    )
    parser.add_argument(
        "--idle-price",
        default="",
        metavar="PRICE",
        help="what an idle accelerator-hour costs where no bill says it: 2.10, or '1.95 EUR'",
    )
    parser.add_argument(
        "--commitment-end",
        action="append",
        default=[],
        metavar="COMMITMENT=MONTH",
        help="last month of a commitment of the bills, for --request; may be repeated",
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
        "--forecast",
        type=int,
        default=UsageQuestion.forecast_months,
        metavar="MONTHS",
        help="months to forecast; 0 for none",
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


def read_question(options: Options) -> UsageQuestion:
    """What the arguments ask."""
    return UsageQuestion(
        by=split_list(options["by"]),
        project_by=split_list(options["project_by"]),
        rename=tuple(options["rename"]),
        rule=tuple(options["rule"]),
        idle_price=options["idle_price"],
        commitment_end=tuple(options["commitment_end"]),
        map=tuple(options["map"]),
        fields=split_list(options["fields"]),
        unit=options["unit"],
        month=options["month"],
        forecast_months=options["forecast"],
        start=options["start"],
        accelerator=options["accelerator"],
        past_run=tuple(options["past_run"]),
        add_run=tuple(options["add_run"]),
    )


def answer_paths(paths: Iterable[str], options: Options) -> UsageAnswer:
    """The files of these names as one sum; a refusal names the file."""
    names = list(paths)
    if not names:
        raise InvalidInput("files", "are missing; name at least one, or a folder with --watch")
    if len(names) > MAX_FILES:
        raise InvalidInput("files", f"are {len(names):,}; at most {MAX_FILES:,} are read")
    today = dt.datetime.now(dt.UTC).date()
    try:
        answer = answer_usage(_Files(names), read_question(options), today)
    except UnmappedColumns as refusal:
        pairs = " ".join(shlex.join(["--map", "=".join(pair)]) for pair in refusal.proposed.items())
        raise InvalidInput("header", f"{refusal.message} To agree: {pairs}") from None
    if options["strict"] and (warnings := answer.usage.warnings()):
        raise InvalidInput("files", f"hold rows that are not understood or doubtful: {warnings[0]}")
    return answer


class _Files:
    """Files by their names, each opened when it is its turn."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[tuple[str, BinaryIO]]:
        for name in self._names:
            if name == "-":
                yield "standard input", sys.stdin.buffer
                continue
            try:
                with Path(name).open("rb") as stream:
                    yield Path(name).name, stream
            except OSError as error:
                raise InvalidInput("file", f"{name} cannot be read: {error.strerror}") from error


def describe(answer: UsageAnswer, as_json: bool) -> str:
    """What the command prints."""
    from planner.commands.usage_tables import usage_tables

    if as_json:
        return json.dumps(answer.as_dict(), indent=2, allow_nan=False)
    return usage_tables(answer)


def _write_request(answer: UsageAnswer, name: str) -> None:
    demand = answer.demand
    if demand is None:
        because = answer.no_demand_because or "no forecast was asked for"
        raise InvalidInput("request", f"cannot be written: {because}")
    if not demand.is_known_accelerator:
        raise InvalidInput("request", f"cannot be written: {demand.notes[-1]}")
    try:
        Path(name).write_text(json.dumps(answer.request(), indent=2), encoding="utf-8")
    except OSError as error:
        raise InvalidInput("request", f"{name} cannot be written: {error.strerror}") from error


def _answer(options: Options, _: LoadCatalog) -> str | Warned:
    if options["watch"]:
        from planner.commands.usage_watch import watch

        watch(options["watch"], options, lambda text: print(text, flush=True))
        return ""
    answer = answer_paths(options["files"], options)
    if options["request"]:
        _write_request(answer, options["request"])
    return Warned(describe(answer, options["json"]), answer.usage.warnings())


USAGE = Command(
    help="Read bills and cluster logs: hours, costs and the demand that follows from them.",
    add_arguments=_add_arguments,
    answer=_answer,
)
