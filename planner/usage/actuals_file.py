"""Files of what was really used and paid, as sums by month and by what was bought.

Bills are read as `planner.usage` reads them; a table of one's own has columns of its own. Memory
does not grow with the file. A file with a row that is not understood is refused as a whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import BinaryIO, NamedTuple

from planner.contract.typed_numbers import plain_number, spell_out_round
from planner.usage.bills import ZERO, Bill, Line
from planner.usage.formats.focus import Focus
from planner.usage.formats.own_table import COLUMNS, name_columns, read_month
from planner.usage.ledger import DoubtfulRows, Ledger, Reason, UnusableFile
from planner.usage.machines import ONE_OF
from planner.usage.reading import open_bill
from planner.usage.sources import Allowance, open_source
from planner.usage.tables import Table, amount, quantity, read_currency
from pricing.common.invalid_input import MAX_REFUSALS, InvalidInput

MAX_BYTES = 2_000_000_000
MAX_ROWS = 1_000_000
MAX_GROUPS = 200_000
MAX_HOURS = 1e12
LENGTHS = {
    "provider": 60,
    "region": 60,
    "instance_type": 120,
    "purchase_option": 30,
    "category": 30,
}
"""Most characters of the parts of a group."""
Counts = Callable[[str], float | None]
"""Name of a machine → the accelerators in it; None where it is not known."""
_EITHER_MARK = re.compile(r"[+-]?\d{1,3}[.,]\d{3}")
"""A point or comma that may part thousands or decimals."""


class Group(NamedTuple):
    """What rows are summed by."""

    month: str
    provider: str
    region: str
    instance_type: str
    purchase_option: str
    category: str


@dataclass
class Sums:
    """A file read to its end: hours and cost by group, and what the file was."""

    format: str
    """`focus` counts hours of machines; `csv` and `usage`, any other bill, accelerator-hours."""
    currency: str
    rows: int = 0
    digest: str = ""
    """Of what the rows say, however the file writes them."""
    hours: dict[Group, float] = field(default_factory=dict)
    cost: dict[Group, Decimal] = field(default_factory=dict)
    doubtful: DoubtfulRows = field(default_factory=DoubtfulRows)

    def add(self, group: Group, hours: float, cost: Decimal, currency: str) -> None:
        if currency and currency != self.currency:
            problem = f"{currency[:10]!r} is not the project's {self.currency}"
            raise InvalidInput("currency", problem)
        if group not in self.cost and len(self.cost) >= MAX_GROUPS:
            problem = f"names more than {MAX_GROUPS:,} different things that were bought; split it"
            raise UnusableFile(problem)
        self.hours[group] = self.hours.get(group, 0.0) + hours
        self.cost[group] = self.cost.get(group, ZERO) + cost

    def content_digest(self) -> str:
        """The same for the same sums, in whatever order, quotes and line ends they came."""
        sha = hashlib.sha256(f"{self.format} {self.currency}".encode())
        for group in sorted(self.cost):
            sums = (f"{self.hours[group]:.9g}", f"{self.cost[group].normalize():f}")
            sha.update(repr((*group, *sums)).encode())
        return sha.hexdigest()


def read_actuals_file(stream: BinaryIO, currency: str, counts: Counts) -> Sums:
    """The sums of a file whose amounts are in `currency`; refusals name row and column.

    `counts` turns hours of machines in a table of one's own into accelerator-hours.
    """
    try:
        bill = open_bill(open_source(stream, Allowance(MAX_BYTES, MAX_ROWS)))
        form = "focus" if isinstance(bill, Focus) else "usage"
        sums = Sums("csv" if isinstance(bill, Table) else form, currency)
        _add_rows(bill, counts, sums)
    except UnusableFile as refusal:
        raise InvalidInput("file", str(refusal)) from None
    sums.digest = sums.content_digest()
    return sums


def _add_rows(bill: Bill | Table, counts: Counts, sums: Sums) -> None:
    refusals: list[InvalidInput] = []
    decimal_comma = isinstance(bill, Table) and bill.decimal_comma
    rows = _own_rows(bill) if isinstance(bill, Table) else bill.lines(bill.repeats(Ledger()))
    for number, row in rows:
        sums.rows += 1
        try:
            if isinstance(row, InvalidInput):
                raise row
            if isinstance(row, Line):
                _add_line(row, number, sums)
            elif isinstance(row, dict):
                _add_own_row(row, decimal_comma, counts, sums)
        except InvalidInput as refusal:
            refusals.extend(refusal.under(f"row {number}").all())
        if len(refusals) >= MAX_REFUSALS:
            break
    if refusals:
        raise InvalidInput.together(refusals, len(refusals))
    if not sums.cost:
        raise InvalidInput("file", "holds a header and no rows")


def _add_line(line: Line, number: int, sums: Sums) -> None:
    kind = line.kind
    if line.problem is not None:
        raise line.problem
    if line.billed is None:
        raise UnusableFile("holds amortised costs alone; upload the actual (billed) costs")
    if not kind.currency:
        raise InvalidInput("currency", "is not stated, and a project's costs are in one")
    hours = line.accelerator_hours if kind.reason is Reason.ACCELERATOR_USE else 0.0
    machine = kind.machine
    if sums.format == "focus":
        machine = f"{ONE_OF}{kind.accelerator}" if kind.is_apart else machine
        hours = line.bought_hours or 0.0
        if hours < 0 and not kind.takes_back:
            problem = f"{hours:g} is not a number of hours from 0 to 1e12"
            hint = "less is taken back by a row with ChargeClass Correction"
            raise InvalidInput("ConsumedQuantity", f"{problem}; {hint}")
    elif kind.is_unknown_machine:
        problem = f"the accelerators of {kind.machine!r} are not known"
        raise InvalidInput("machine", problem)
    group = Group(
        line.start.month, kind.provider[:60], kind.region[:60], machine, kind.option, kind.book_as()
    )
    cost = line.billed if line.paid is None else line.paid
    sums.add(group, hours, cost, kind.currency)
    if cost != line.billed:
        rest = Group(line.start.month, kind.provider[:60], "", "", "", "other")
        sums.add(rest, 0.0, line.billed - cost, kind.currency)
    period = (line.end.seconds - line.start.seconds) / 3600
    if hours <= 0 or period <= 0 or kind.reason is Reason.COMMITMENT_FEE:
        return
    held = hours * (kind.accelerators or 1.0) if sums.format == "focus" else hours
    if held > line.most_at_once * period:
        row = f"row {number} with {held:,.0f} accelerator-hours in {period:,.2f} h"
        sums.doubtful.add(row)


# A table of one's own ---------------------------------------------------------------------


def _own_rows(table: Table) -> Iterator[tuple[int, dict[str, str]]]:
    named = name_columns(table.header)
    columns = [named.get(name, "") for name in table.header]
    for name in ("month", "cost"):
        if name not in columns:
            raise InvalidInput(f"column {name}", "is missing; required are month, cost")
    if "" in columns:
        unknown, known = table.header[columns.index("")], ", ".join(COLUMNS)
        raise InvalidInput(f"column {unknown[:60]}", f"is unknown; allowed are {known}")
    if len(set(columns)) < len(columns):
        raise InvalidInput("row 1", "names a column twice")
    for number, cells in enumerate(table.rows, table.first_row):
        if any(cell.strip() for cell in cells):  # spreadsheets end a table with empty rows
            yield number, dict(zip(columns, cells, strict=True))


def _add_own_row(record: dict[str, str], decimal_comma: bool, counts: Counts, sums: Sums) -> None:
    month = read_month(record["month"])
    parts = {name: record.get(name, "").strip() for name in LENGTHS}
    for name, text in parts.items():
        if len(text) > LENGTHS[name]:
            raise InvalidInput(name, f"is longer than {LENGTHS[name]} characters")
    parts["provider"] = parts["provider"].lower()
    parts["category"] = parts["category"] or "compute"
    hours_in = "accelerator_hours" if "accelerator_hours" in record else "instance_hours"
    hours = quantity(_plain(record.get(hours_in, ""), hours_in, decimal_comma), hours_in)
    if not 0 <= hours <= MAX_HOURS:
        raise InvalidInput(hours_in, f"{hours:g} is not a number of hours from 0 to 1e12")
    if hours and hours_in == "instance_hours":
        hours *= _accelerators(parts["instance_type"], hours_in, counts)
    cost = amount(_plain(record["cost"], "cost", decimal_comma), "cost")
    if cost is None:
        raise InvalidInput("cost", "is empty; write it like 1234.56")
    currency = read_currency(record.get("currency", ""), "currency")
    sums.add(Group(month, **parts), hours, cost, currency)


def _plain(text: str, column: str, decimal_comma: bool) -> str:
    """A number with a decimal point. In a table parted by semicolons the comma is the decimal
    mark, in any other the point.

    >>> _plain("1.000,50", "cost", True), _plain("1234.56", "cost", False)
    ('1000.50', '1234.56')
    """
    tidy = text.strip()
    is_open = _EITHER_MARK.fullmatch(tidy) if decimal_comma else spell_out_round(tidy) != tidy
    if is_open:
        problem = f"{tidy!r} may be read in two ways"
        hint = "write it like 1234.56, without marks of thousands"
        raise InvalidInput(column, f"{problem}; {hint}")
    return plain_number(tidy) if decimal_comma else tidy


def _accelerators(machine: str, hours_in: str, counts: Counts) -> float:
    count = counts(machine) if machine else None
    if count is None:
        what = f"the machine {machine[:40]!r}" if machine else "a machine without a name"
        problem = f"how many accelerators {what} has is not known"
        hint = "name one of the catalog or the plan in instance_type, or give accelerator_hours"
        raise InvalidInput(hours_in, f"{problem}; {hint}")
    return count
