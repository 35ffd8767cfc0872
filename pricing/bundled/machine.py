"""The machine of a price row, or why the row has none. PURE."""

from __future__ import annotations

import re

from pricing.bundled.row_audit import Outcome
from pricing.market import machine_types
from pricing.market.machine_types import MachineType

_DEDICATED_HOST = re.compile(r"_Type\d+$")


def machine(provider: str, name: str) -> tuple[MachineType | None, Outcome, str]:
    """The machine type, or None with the outcome and its detail.

    >>> machine("azure", "Standard_NP10s")[1:]
    (<Outcome.NO_ACCELERATOR: 'no deep-learning accelerator'>, 'Standard_NP10s')
    """
    machine_type = machine_types.find(provider, name)
    if machine_type is None:
        return None, _unknown(name), name
    if not machine_type.accelerator:
        return None, Outcome.NO_ACCELERATOR, name
    if machine_type.accelerator_count is None:
        return None, Outcome.FRACTION_UNKNOWN, name
    return machine_type, Outcome.PUBLISHED, ""


def _unknown(name: str) -> Outcome:
    return Outcome.DEDICATED_HOST if _DEDICATED_HOST.search(name) else Outcome.UNKNOWN_MACHINE
