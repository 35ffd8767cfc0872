"""What a format is: how a file is recognised, and what reads it into a ledger. PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from planner.usage.ledger import MAX_AT_ONCE, Ledger, Reason
from planner.usage.projects import ProjectRules
from planner.usage.sources import MAX_BYTES, MAX_ROWS, Source
from planner.usage.tables import Table
from planner.usage.text_lines import Allowance
from pricing.market.offers import PurchaseOption


@dataclass
class ReadOptions:
    """What whoever reads files may say about them."""

    projects: ProjectRules = field(default_factory=ProjectRules)
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Column of the file → column to read it as."""
    fields: tuple[str, ...] = ()
    """Columns of a log of Slurm without a header, in order."""
    unit: str = ""
    """Unit of a report that does not state its own: seconds, minutes or hours."""
    month: str = ""
    """Month of a report that does not state its own."""
    max_bytes: int | None = None
    """Most bytes of all files together, unpacked; that of each file alone where None."""
    max_rows: int | None = None
    """Most rows of all files together; that of each file alone where None."""
    on_rows: Callable[[int], None] | None = None
    """Called every few thousand rows; what it raises ends the reading."""

    def allowance(self) -> Allowance | None:
        """What all files may draw on together; None where each has one of its own."""
        if self.max_bytes is None and self.max_rows is None:
            return None
        return Allowance(self.max_bytes or MAX_BYTES, self.max_rows or MAX_ROWS)


class Idle(NamedTuple):
    """Machines that were paid for and stood idle."""

    month: str
    machine: str
    """Empty where the row names none, as that of a commitment of money."""
    accelerators: float | None
    """In one of the machines; 0 for none, None where nobody knows."""
    machine_hours: float
    option: str


def add_idle(
    ledger: Ledger, idle: Idle, reason: Reason, cost: Decimal | None, currency: str
) -> None:
    """Adds what stood idle: hours where accelerators are known, the cost alone of a commitment on
    no machine that is named, and nothing of machines without accelerators."""
    if idle.accelerators:
        key = (idle.month, idle.machine, reason.value)
        ledger.add_unused(key, idle.machine_hours * idle.accelerators, cost, currency)
    elif reason is Reason.UNUSED_COMMITMENT and not (idle.machine and idle.accelerators == 0):
        what = "savings plans" if idle.option == PurchaseOption.SAVINGS_PLAN else "commitments"
        ledger.add_unused((idle.month, idle.machine or what, reason.value), None, cost, currency)


def most_at_once(resource: str, accelerators: float) -> float:
    """Most accelerators that a row of AWS can hold at once: where it names one machine, those of
    the machine, and half as many for starts that are billed by the minute.

    >>> most_at_once("i-0abc", 8.0), most_at_once("", 8.0)
    (12.0, 100000)
    """
    return 1.5 * accelerators if resource.startswith("i-") else MAX_AT_ONCE


@dataclass(frozen=True)
class TableFormat:
    """Rows under a header."""

    name: str
    title: str
    required: tuple[str, ...]
    """Columns by which the format is told."""
    read: Callable[[Table, Ledger, ReadOptions], None]

    def matches(self, table: Table) -> bool:
        return table.columns().has(*self.required)


@dataclass(frozen=True)
class TextFormat:
    """Anything else: lines of a log, or JSON."""

    name: str
    title: str
    matches: Callable[[str], bool]
    """Whether the first characters of a file are this format."""
    read: Callable[[Source, Ledger, ReadOptions], None]
