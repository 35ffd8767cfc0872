"""Which callers a table of permissions is tried with: all of them in `make sweep`."""

from collections.abc import Mapping
from itertools import groupby

import pytest

SHORT_FORM = "at each limit"
CALLERS = [SHORT_FORM, pytest.param("all", marks=pytest.mark.sweep)]
ALWAYS = {"stranger"}


def at_each_limit(expected: Mapping[str, int]) -> dict[str, int]:
    """Caller → outcome: of neighbours who are let in the first, who may least; of neighbours who
    are refused the last, who may most.

    >>> at_each_limit({"anonymous": 401, "viewer": 403, "editor": 403, "approver": 2, "owner": 2})
    {'anonymous': 401, 'editor': 403, 'approver': 2}
    """
    chosen = set(ALWAYS)
    for outcome, group in groupby(expected, key=expected.__getitem__):
        callers = list(group)
        chosen.add(callers[-1] if outcome >= 300 else callers[0])
    return {caller: outcome for caller, outcome in expected.items() if caller in chosen}


def refused_of(expected: Mapping[str, int]) -> dict[str, int]:
    """Caller → outcome: those of `at_each_limit` who are refused.

    >>> refused_of({"anonymous": 401, "viewer": 403, "editor": 403, "approver": 2, "owner": 2})
    {'anonymous': 401, 'editor': 403}
    """
    return {caller: code for caller, code in at_each_limit(expected).items() if code >= 300}
