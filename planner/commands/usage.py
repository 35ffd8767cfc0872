"""`usage FILE…`: what bills and cluster logs say, and the demand that follows. No Django."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO

from rich.table import Table

from planner.commands.command import (
    Command,
    LoadCatalog,
    Options,
    load_prices,
    read_request,
    write_request,
)
from planner.commands.tables import as_text, make_table, portfolio_tables
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.exports.portfolio_exports import PORTFOLIO_FORMATS
from planner.usage.demand import Demand
from planner.usage.projects import DEFAULT_SOURCES
from planner.usage.projects_together import MEANINGS_FILE, build_portfolio, read_meaning
from planner.usage.question import (
    DEFAULT_BY,
    UsageAnswer,
    UsageQuestion,
    answer_usage,
    read_pairs,
    split_list,
)
from planner.usage.sources import is_hidden
from planner.usage.summary import DIMENSIONS, UseLine
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize

MAX_FILES = 1_000
_HELP = {
    "json": "print everything as JSON",
    "strict": "refuse files with rows that are not understood",
    "portfolio": "plan all projects together: each account, team or label is one",
    "by": f"what to sum by, with commas: {', '.join(DIMENSIONS)}",
    "project-by": "where a project's name stands, in order: tag:NAME, account, user",
    "idle-price": "what an idle accelerator-hour costs where no bill says it: 2.10, or '1.95 EUR'",
    "start": "first month of the plan, such as 2027-01",
    "request": "write the demand as a request for compare, or for portfolio",
    "pack": "plan all projects and write the plan to a file: .xlsx, .csv, .json",
    "rule": "what belongs to a project: tag:team:ml-*=Vision, account:4711=Speech, user:… or "
    "partition:…; the first that matches holds, before --project-by; may be repeated",
    "map": "read a column of one's own table by another name; may be repeated",
    "name": "with --portfolio, what a name means: a100=A100-80GB; kept there; may be repeated",
    "forecast": "months to forecast; 0 for none",
    "growth": "as in the year before and more: 0.4 is 40 %%",
    "accelerator": "accelerator to forecast, by its name",
}


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="bills, logs, folders; - reads standard input"
    )
    flag: dict[str, Any] = {"action": "store_true"}
    repeated: dict[str, Any] = {"action": "append", "default": []}
    months = UsageQuestion.forecast_months
    kinds = dict.fromkeys(("json", "strict", "portfolio"), flag) | {
        "by": {"default": ",".join(DEFAULT_BY)},
        "project-by": {"default": ",".join(DEFAULT_SOURCES)},
        "idle-price": {"default": "", "metavar": "PRICE"},
        "start": {"default": ""},
        "request": {"default": "", "metavar": "FILE"},
        "pack": {"default": "", "metavar": "FILE"},
        "rule": repeated | {"metavar": "SOURCE:PATTERN=PROJECT"},
        "map": repeated | {"metavar": "COLUMN=NAME"},
        "name": repeated | {"metavar": "NAME=ACCELERATOR"},
        "forecast": {"type": int, "default": months, "metavar": "MONTHS"},
        "growth": {"type": float, "metavar": "FRACTION"},
    }
    for name, text in _HELP.items():
        parser.add_argument(f"--{name}", help=text, **kinds.get(name, {}))


def read_question(options: Options) -> UsageQuestion:
    return UsageQuestion(
        by=split_list(options["by"]),
        project_by=split_list(options["project_by"]),
        rule=tuple(options["rule"]),
        idle_price=options["idle_price"],
        map=tuple(options["map"]),
        forecast_months=options["forecast"],
        start=options["start"],
        accelerator=options["accelerator"],
        growth=options["growth"],
        of_folder=any(map(os.path.isdir, options["files"])),
    )


def answer_paths(paths: Iterable[str], options: Options) -> UsageAnswer:
    """The files of these names as one sum; a refusal names the file."""
    names = list(_files_of(paths))
    if not names:
        raise InvalidInput("files", "are missing; name at least one")
    if len(names) > MAX_FILES:
        raise InvalidInput("files", f"are {len(names):,}; at most {MAX_FILES:,} are read")
    today = dt.datetime.now(dt.UTC).date()
    answer = answer_usage(_Files(names), read_question(options), today)
    if options["strict"] and (warnings := answer.usage.warnings()):
        raise InvalidInput("files", f"hold rows that are not understood or doubtful: {warnings[0]}")
    return answer


def _files_of(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for one in sorted(Path(path).rglob("*")):
            is_other = is_hidden(one.relative_to(path).as_posix()) or one.name == MEANINGS_FILE
            if one.is_file() and not is_other:
                yield str(one)


class _Files:
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


def _answer_portfolio(answer: UsageAnswer, options: Options, load_catalog: LoadCatalog) -> str:
    folder = next((one for one in options["files"] if os.path.isdir(one)), ".")
    answers = Path(folder) / MEANINGS_FILE
    known = read_request(str(answers)) if answers.exists() else {}
    means = {str(name): str(meant) for name, meant in known.items()}
    for name, meant in read_pairs(options["name"], "name"):
        means[name] = read_meaning(name, meant)
    month, question = f"{dt.datetime.now(dt.UTC):%Y-%m}", read_question(options)
    built = build_portfolio(answer.usage, question, month, means)
    if built.questions and sys.stdin.isatty():
        for name, text in zip(built.questions, built.in_words(), strict=True):
            print(text, end=" ", flush=True, file=sys.stderr)
            means[name] = read_meaning(name, sys.stdin.readline())
        built = build_portfolio(answer.usage, question, month, means)
    if built.questions:
        text = " ".join(built.in_words())
        says = (f"{name}={(one or ('H100',))[-1]}" for name, one in built.questions.items())
        named = " ".join(f"--name {quote(one)}" for one in says)
        raise InvalidInput("name", f"{text} Say it once, such as {named}")
    if means != known:
        write_request(means, str(answers))
    if options["request"]:
        write_request(built.request, options["request"])
    from planner.portfolio.portfolio import plan_portfolio

    planned = plan_portfolio(built.request, load_prices(load_catalog))
    if options["pack"]:
        _write_pack(planned, Path(options["pack"]))
    if options["json"]:
        return json.dumps(planned.to_json(), indent=2, allow_nan=False)
    notes = [*answer.usage.warnings(), *built.notes]
    return "\n".join([portfolio_tables(planned), *(f"Note: {note}" for note in notes)])


def _write_pack(answer: PortfolioAnswer, path: Path) -> None:
    try:
        path.write_bytes(PORTFOLIO_FORMATS[path.suffix.removeprefix(".")].make(answer))
    except KeyError:
        raise InvalidInput("pack", f"{path.name} is none of .xlsx, .csv and .json") from None
    except ImportError:
        raise InvalidInput("pack", "of .xlsx needs XlsxWriter, in the extra server") from None
    except OSError as error:
        raise InvalidInput("pack", f"{path} cannot be written: {error.strerror}") from error


def _answer(options: Options, load_catalog: LoadCatalog) -> str:
    answer = answer_paths(options["files"], options)
    if options["portfolio"] or options["pack"]:
        return _answer_portfolio(answer, options, load_catalog)
    if options["request"]:
        demand = answer.demand
        if demand is None:
            because = answer.no_demand_because or "no forecast was asked for"
            raise InvalidInput("request", f"cannot be written: {because}")
        if not demand.is_known_accelerator:
            reason = f"{demand.notes[-1]} With --portfolio, --name says which."
            raise InvalidInput("request", f"cannot be written: {reason}")
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


@as_text
def usage_tables(answer: UsageAnswer) -> Iterator[str | Table]:
    usage, demand = answer.usage, answer.demand
    for file in filter(lambda file: file.format, usage.files):
        yield f"{file.name}: {file.title}, {pluralize(file.rows, 'row')}"
    ledger = usage.ledger
    reasons = [(reason.meaning, f"{count:,}") for reason, count in ledger.reasons.most_common()]
    rows = [*reasons, ("all rows", f"{ledger.rows:,}")]
    yield make_table("Rows", ("what became of them",), ("rows",), rows)
    yield from (f"Warning: {warning}" for warning in usage.warnings())
    problems = ledger.problems.most_common(SHOWN_PROBLEMS)
    yield from (f"{count:,} × {problem}" for problem, count in problems)
    yield from (f"Not understood: {named}" for named in ledger.not_understood)
    if ledger.uses:
        yield _use(usage.lines(*answer.by), answer.by)
    for row in usage.totals():  # all rows of the bills, in each view
        views = ", ".join(f"{view} {_figure(row[view])}" for view in ("billed", "amortised"))
        yield f"All rows, in {row['currency'] or 'no stated currency'}: {views}"
    if demand is not None:
        name = demand.history.accelerator or "accelerators"
        length = pluralize(len(demand.history.hours), "month")
        yield f"Demand of {name} by {demand.method}, from {length}"
        yield _demand(demand)
    yield from (f"Note: {note}" for note in (*usage.notes(), *(demand.notes if demand else ())))
    if answer.no_demand_because:
        yield f"Note: No forecast: {answer.no_demand_because}"


def _figure(value: Decimal | float | str | None, unit: str = "") -> str:
    return UNKNOWN if value is None else f"{Decimal(value):,.2f} {unit}".rstrip()


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
    names = ("hours", "p10", "p90", "peak")
    rows = (
        (
            str(row["month"]),
            *(UNKNOWN if row[name] is None else f"{row[name]:,.0f}" for name in names),
        )
        for row in demand.rows()
    )
    return make_table("", ("month",), ("accelerator hours", "p10", "p90", "peak"), rows)
