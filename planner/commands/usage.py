"""`usage FILE…`: what bills and cluster logs say, and the demand that follows. No Django."""

from __future__ import annotations

import datetime as dt
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import BinaryIO

from rich.console import Console
from rich.table import Table

from planner.commands.command import Command, LoadCatalog, Options, write_request
from planner.commands.tables import make_console, make_table
from planner.contract.amounts import shift_month
from planner.usage.demand import Demand
from planner.usage.projects import DEFAULT_SOURCES
from planner.usage.question import DEFAULT_BY, UsageAnswer, UsageQuestion, answer_usage, split_list
from planner.usage.summary import DIMENSIONS, Usage, UseLine
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize

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
        "--map",
        action="append",
        default=[],
        metavar="COLUMN=NAME",
        help="read a column of one's own table by another name; may be repeated",
    )
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
        "--request", default="", metavar="FILE", help="write the demand as a request for compare"
    )


def read_question(options: Options) -> UsageQuestion:
    """What the arguments ask."""
    return UsageQuestion(
        by=split_list(options["by"]),
        project_by=split_list(options["project_by"]),
        rule=tuple(options["rule"]),
        idle_price=options["idle_price"],
        map=tuple(options["map"]),
        forecast_months=options["forecast"],
        start=options["start"],
        accelerator=options["accelerator"],
    )


def answer_paths(paths: Iterable[str], options: Options) -> UsageAnswer:
    """The files of these names as one sum; a refusal names the file."""
    names = list(paths)
    if not names:
        raise InvalidInput("files", "are missing; name at least one")
    if len(names) > MAX_FILES:
        raise InvalidInput("files", f"are {len(names):,}; at most {MAX_FILES:,} are read")
    today = dt.datetime.now(dt.UTC).date()
    answer = answer_usage(_Files(names), read_question(options), today)
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


def _answer(options: Options, _: LoadCatalog) -> str:
    answer = answer_paths(options["files"], options)
    if options["request"]:
        demand = answer.demand
        if demand is None:
            because = answer.no_demand_because or "no forecast was asked for"
            raise InvalidInput("request", f"cannot be written: {because}")
        if not demand.is_known_accelerator:
            raise InvalidInput("request", f"cannot be written: {demand.notes[-1]}")
        write_request(answer.request(), options["request"])
    if options["json"]:
        return json.dumps(answer.as_dict(), indent=2, allow_nan=False)
    return usage_tables(answer)


USAGE = Command(
    help="Read bills and cluster logs: hours, costs and the demand that follows from them.",
    add_arguments=_add_arguments,
    answer=_answer,
)


SHOWN_LINES = 60
"""Lines of use that the table shows; JSON has all of them."""
SHOWN_PROBLEMS = 10
UNKNOWN = "not stated"


def usage_tables(answer: UsageAnswer) -> str:
    """Files, what became of their rows, use, and the demand that follows."""
    usage, demand = answer.usage, answer.demand
    out = StringIO()
    console = make_console(out)
    for file in usage.files:
        console.print(f"{file.name}: {file.title}, {pluralize(file.rows, 'row')}")
    _print_rows(console, usage)
    if usage.ledger.uses:
        console.print(_use(usage.lines(*answer.by), answer.by))
    for row in usage.totals():  # all rows of the bills, in each view
        views = ", ".join(f"{view} {_figure(row[view])}" for view in ("billed", "amortised"))
        console.print(f"All rows, in {row['currency'] or 'no stated currency'}: {views}")
    if demand is not None:
        name = demand.history.accelerator or "accelerators"
        length = pluralize(len(demand.history.hours), "month")
        console.print(f"Demand of {name} by {demand.method}, from {length}")
        console.print(_demand(demand))
    notes = [*usage.notes(), *(demand.notes if demand else ())]
    if answer.no_demand_because:
        notes.append(f"No forecast: {answer.no_demand_because}")
    for note in notes:
        console.print(f"Note: {note}")
    return out.getvalue().rstrip()


def _figure(value: Decimal | float | str | None, unit: str = "") -> str:
    return UNKNOWN if value is None else f"{Decimal(value):,.2f} {unit}".rstrip()


def _print_rows(console: Console, usage: Usage) -> None:
    ledger = usage.ledger
    reasons = [(reason.meaning, f"{count:,}") for reason, count in ledger.reasons.most_common()]
    rows = [*reasons, ("all rows", f"{ledger.rows:,}")]
    console.print(make_table("Rows", ("what became of them",), ("rows",), rows))
    for warning in usage.warnings():
        console.print(f"Warning: {warning}")
    for problem, count in ledger.problems.most_common(SHOWN_PROBLEMS):
        console.print(f"{count:,} × {problem}")
    for named in ledger.not_understood:
        console.print(f"Not understood: {named}")


def _use(lines: Sequence[UseLine], by: Sequence[str]) -> Table:
    slices = ("slice hours",) if any(line.slice_hours for line in lines) else ()
    heads = ("accelerator hours", *slices, "machine hours", "billed", "amortised")
    rows = (
        (
            *(line.group[name] for name in by),
            _figure(line.accelerator_hours),
            *(_figure(line.slice_hours) for _ in slices),
            _figure(line.instance_hours),
            _money(line.billed),
            _money(line.amortised),
        )
        for line in lines[:SHOWN_LINES]
    )
    table = make_table("Use", by, heads, rows)
    if len(lines) > SHOWN_LINES:
        table.caption = f"{len(lines) - SHOWN_LINES:,} more lines: --json has them"
    return table


def _money(amounts: Mapping[str, Decimal | None]) -> str:
    if not amounts or [*amounts.values()] == [None]:
        return UNKNOWN
    return "\n".join(
        f"{UNKNOWN} in {currency}" if amount is None else _figure(amount, currency)
        for currency, amount in sorted(amounts.items())
    )


def _demand(demand: Demand) -> Table:
    rows = (
        (
            shift_month(demand.start, step),
            f"{hours:,.0f}",
            UNKNOWN if demand.p10 is None else f"{demand.p10[step]:,.0f}",
            UNKNOWN if demand.p90 is None else f"{demand.p90[step]:,.0f}",
            f"{demand.peak_accelerators[step]:,}",
        )
        for step, hours in enumerate(demand.hours_per_month)
    )
    return make_table("", ("month",), ("accelerator hours", "p10", "p90", "peak"), rows)
