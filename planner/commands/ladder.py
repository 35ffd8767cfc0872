"""`ladder FILE`: how much of a use to commit to, now and in each later month. No Django."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from planner.commands.command import Command, LoadCatalog, Options, read_text
from planner.usage.ladder import RULES, Ladder, plan_ladder
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import HOURS_PER_MONTH

MAX_BYTES = 20_000_000
EVERY = {"hour": 1.0, "day": 24.0, "week": 168.0, "month": float(HOURS_PER_MONTH)}


def _add_arguments(parser: ArgumentParser) -> None:
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


def _answer(options: Options, _: LoadCatalog) -> str:
    ladder = plan_ladder(
        read_use(read_text(options["file"], MAX_BYTES)),
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
    return "\n".join(_lines(ladder))


def _lines(ladder: Ladder) -> Iterator[str]:
    yield ladder.sentence
    yield ""
    yield f"{'month':>5}  {'sign':>8}  {'committed':>9}  {'expected use':>12}"
    for row in ladder.months:
        held = f"{row.sign:>8,.0f}  {row.committed:>9,.0f}"
        yield f"{row.month + 1:>5}  {held}  {row.expected_use:>12,.1f}"
    yield ""
    owed = f" and {ladder.owed_after:,.0f} owed after them" if ladder.owed_after else ""
    yield f"Cost {ladder.cost:,.0f}{owed}; all on demand {ladder.on_demand_cost:,.0f}."


LADDER = Command("how much of a use to commit to, now and later", _add_arguments, _answer)
