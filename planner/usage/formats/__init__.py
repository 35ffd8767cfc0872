"""Forms of bills and logs: how a file is recognised, and what reads it into a ledger. PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.usage.ledger import Ledger
from planner.usage.projects import ProjectRules
from planner.usage.sources import MAX_BYTES, MAX_ROWS, Allowance, Source


@dataclass
class ReadOptions:
    """What whoever reads files may say about them."""

    projects: ProjectRules = field(default_factory=ProjectRules)
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Column of the file → column to read it as."""
    max_bytes: int | None = None
    """Most bytes of all files together, unpacked; that of each file alone where None."""
    max_rows: int | None = None
    """Most rows of all files together; that of each file alone where None."""
    of_folder: bool = False
    """Whether files of no form that is read are left out and named, not refused."""

    def allowance(self) -> Allowance | None:
        """What all files may draw on together; None where each has one of its own."""
        if self.max_bytes is None and self.max_rows is None:
            return None
        return Allowance(self.max_bytes or MAX_BYTES, self.max_rows or MAX_ROWS)


class LogFormat(NamedTuple):
    name: str
    title: str
    matches: Callable[[str], bool]
    """Whether the first characters of a file are this format."""
    read: Callable[[Source, Ledger, ReadOptions], None]
