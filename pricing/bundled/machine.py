"""The machine of a price row, or why the row has none. PURE."""

from __future__ import annotations

import re

from pricing.bundled.row_audit import RowOutcome
from pricing.market import machine_types
from pricing.market.machine_types import MachineType

_DEDICATED_HOST = re.compile(r"_Type\d+$")


def find_machine_type(provider: str, name: str) -> tuple[MachineType | None, RowOutcome, str]:
    """The machine type, or None with the outcome and its detail.

    >>> find_machine_type("azure", "Standard_NP10s")[1:]
    (<RowOutcome.NO_ACCELERATOR: 'no deep-learning accelerator'>, 'Standard_NP10s')
    """
    machine_type = machine_types.find(provider, name)
    if machine_type is None:
        return None, _classify_unknown(name), name
    if not machine_type.accelerator:
        return None, RowOutcome.NO_ACCELERATOR, name
    if machine_type.accelerator_count is None:
        return None, RowOutcome.FRACTION_UNKNOWN, name
    return machine_type, RowOutcome.PUBLISHED, ""


def _classify_unknown(name: str) -> RowOutcome:
    return RowOutcome.DEDICATED_HOST if _DEDICATED_HOST.search(name) else RowOutcome.UNKNOWN_MACHINE
