"""Columns of the FOCUS datasets, in their order, and our own; `focus_columns.csv` lists them."""

from __future__ import annotations

from pathlib import Path

from pricing.common.tables import read_rows

_ROWS = read_rows(Path(__file__).with_name("focus_columns.csv"))
_COLUMNS = [(row["dataset"], row["column"]) for row in _ROWS]
VERSIONS = ("1.4", "1.2")
"""FOCUS 1.4 names who provides a service and its host where 1.2 has provider and publisher; the
public validator knows 1.2 (2026)."""
COLUMNS = {
    version: tuple(
        name
        for dataset, name in _COLUMNS
        if dataset in ("cost_and_usage", f"cost_and_usage_{version}", "own")
    )
    for version in VERSIONS
}
"""Version → columns of the Cost and Usage dataset, and our own."""
COMMITMENT_COLUMNS = tuple(name for dataset, name in _COLUMNS if dataset.endswith("commitment"))
"""Of the Contract Commitment dataset of FOCUS 1.3, and our own."""
APPROVAL_COLUMNS = ("x_SavedComparisonId", "x_State", "x_StateBy", "x_StateAt")

SERVICE_CATEGORIES = {
    "storage": ("Storage", "Object Storage"),
    "egress": ("Networking", "Network Connectivity"),
}
COMPUTE = ("Compute", "Virtual Machines")
OTHER_COMPUTE = ("Compute", "Other (Compute)")

UNPRICED = {"tax": "Tax", "residual": "Credit", "credit": "Credit", "shortfall": "Adjustment"}
"""Categories of lines that have no price → their charge category."""
CAPITAL = frozenset({"capex", "install", "network_storage", "spares"})


def unit_of(unit: str) -> str:
    """A line's unit in FOCUS's unit format.

    >>> unit_of("node-hours"), unit_of("GiB-months"), unit_of("server")
    ('Hours', 'GiB-Months', 'Server')
    """
    if unit == "node-hours":
        return "Hours"
    what, dash, time = unit.rpartition("-")
    if not dash:
        what, time = unit, ""
    return (what.capitalize() if what.islower() else what) + dash + time.capitalize()
