"""How far a plan looks where nobody says so: to the last deadline of its runs. PURE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.contract.months import count_months, parse_month

DEFAULT_MONTHS = 36
_MONTH = len("2027-01")


def months_to_last_deadline(request: Mapping[str, object]) -> int | None:
    """Months from the plan's start to its last deadline, both in; None where the start is not
    given, where a run has no deadline, or where something is no month.

    >>> runs = [{"start": "2027-01", "deadline": "2027-06"}, {"start": "2027-07", "count": 2}]
    >>> months_to_last_deadline({"start": "2027-01", "workload": {"runs": runs[:1]}})
    6
    >>> months_to_last_deadline({"start": "2027-01", "workload": {"runs": runs}}) is None
    True
    """
    workload, start = request.get("workload"), request.get("start")
    runs = workload.get("runs") if isinstance(workload, Mapping) else None
    if not isinstance(start, str) or not isinstance(runs, Sequence) or isinstance(runs, str):
        return None
    deadlines = [run.get("deadline") for run in runs if isinstance(run, Mapping)]
    if not deadlines or len(deadlines) < len(runs):
        return None
    if not all(isinstance(text, str) and len(text) <= _MONTH for text in (start, *deadlines)):
        return None
    try:
        first = parse_month(start)
        last = max(parse_month(str(text)) for text in deadlines)
    except ValueError:
        return None
    months = count_months(first, last) + 1
    return months if months > 0 else None
