"""Days of price lists whose rows carry none, by the commit that they come from. PURE.

A list that a repository holds at one commit was read on one day. Where nobody states that day it
follows from what else the list says, held against lists that are dated.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

_DAYS: Mapping[str, dt.date] = {
    # Spot prices of L4 in 18 regions: all 18 are those of Cyclenerd's list of 2026-03-05 (2 x
    # g2-standard-4 less g2-standard-8), 7 those of 2026-02-05 and 8 those of 2026-04-02.
    "skypilot-org/skypilot-catalog@006059e": dt.date(2026, 3, 5),
}
"""Repository and commit, as a source begins → day on which its prices were in force."""


def find_commit_day(source: str) -> dt.date | None:
    """The day of the list that `source` names; None where it is not known.

    >>> find_commit_day("skypilot-org/skypilot-catalog@006059e catalogs/v8/gcp/vms.csv")
    datetime.date(2026, 3, 5)
    """
    return _DAYS.get(source.partition(" ")[0])
