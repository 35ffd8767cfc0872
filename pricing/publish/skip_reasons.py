"""Why rows were skipped: some are nothing that a plan could use, others we could not read. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NOT_UNDERSTOOD = re.compile(
    r"unknown|unreadable|unclear|unit\b|price is|no (?:price|region|machine name|product name)"
    r"|two prices|several kinds|number of|accelerator count|size of|vCPUs|a part of the machine"
    r"|(?:reservation|savings plan|commitment) without|usage type contradicts|spot history"
)


def find_not_understood(reasons: Iterable[str]) -> list[str]:
    """Those of `reasons` for which a price may be missing; the others are left out on purpose.

    >>> find_not_understood(["Windows", "unknown accelerator", "unit is not an hour"])
    ['unknown accelerator', 'unit is not an hour']
    """
    return [reason for reason in reasons if _NOT_UNDERSTOOD.match(reason)]
