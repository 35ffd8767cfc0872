"""What a format is: how a file is recognised, and what reads it into a ledger. PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from planner.usage.ledger import Ledger
from planner.usage.projects import ProjectRules
from planner.usage.sources import Source
from planner.usage.tables import Table


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
    """Most bytes of a file, unpacked; the readers' own limit where None."""
    max_rows: int | None = None
    """Most rows of a file; the readers' own limit where None."""
    on_rows: Callable[[int], None] | None = None
    """Called every few thousand rows; what it raises ends the reading."""


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
