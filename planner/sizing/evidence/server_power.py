"""Measured power of servers with their accelerators at work. PURE."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("server_power.csv")


@dataclass(frozen=True)
class ServerPower:
    """One measured state of one server."""

    system: str
    accelerator: str
    accelerators: int
    state: str
    """training, inference, stress or waiting (model loaded, no work)."""
    work: str
    watts: float
    is_default: bool
    """Whether clocks and power limits are as delivered, not lowered for efficiency."""
    read_at: str


@cache
def server_powers() -> tuple[ServerPower, ...]:
    """Every row of the table.

    >>> {row.state for row in server_powers()} == {"training", "inference", "stress", "waiting"}
    True
    """
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_row(row) for row in csv.DictReader(lines))


def _row(row: dict[str, str]) -> ServerPower:
    return ServerPower(
        system=row["system"],
        accelerator=row["accelerator"],
        accelerators=int(row["accelerators"]),
        state=row["state"],
        work=row["work"],
        watts=float(row["watts"]),
        is_default=row["mode"] == "default",
        read_at=row["read_at"],
    )
