"""Months of use in the files: whole ones, gaps and corrections named, past runs taken out. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from planner.contract.months import months_between, shift_month
from planner.usage.demand.forecast import MAX_MONTHS
from planner.usage.machines import is_slice, name_accelerator
from planner.usage.summary import Usage
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput

EDGE_DAYS = 2
"""Days without use at an end of the files after which that month counts as cut off."""
MAX_NAMED_GAPS = 6


@dataclass(frozen=True)
class KnownRun:
    """Work that happens once: in the past it is no habit, in the future it comes on top."""

    month: str
    accelerator_hours: float
    name: str = ""


@dataclass
class History:
    """Hours of consecutive whole months of one accelerator."""

    accelerator: str
    start: str
    hours: list[float]
    """Without what past runs took."""
    peaks: list[float]
    """Most accelerators at once; 0 where no file says it."""
    notes: list[str] = field(default_factory=list)


def hours_by_accelerator(usage: Usage) -> dict[str, float]:
    """Hours of each accelerator that was used, the most used first; slices left out."""
    hours: dict[str, float] = defaultdict(float)
    for key, sums in usage.ledger.uses.items():
        if not is_slice(key.accelerator):
            hours[key.accelerator] += sums.accelerator_hours
    return {name: hours[name] for name in sorted(hours, key=lambda n: -hours[n]) if hours[name] > 0}


def list_accelerators(usage: Usage) -> list[str]:
    """Accelerators by hours, the most used first; slices left out."""
    return list(hours_by_accelerator(usage))


def read_history(
    usage: Usage, accelerator: str | None = None, past_runs: Sequence[KnownRun] = ()
) -> History:
    """Hours by month, without the months that the files cut off at either end."""
    names = list_accelerators(usage)
    if not names:
        raise InvalidInput("file", "holds no use of accelerators to plan on")
    chosen = names[0] if accelerator is None else _name_used(names, accelerator)
    by_month: dict[str, float] = defaultdict(float)
    for key, sums in usage.ledger.uses.items():
        if key.accelerator == chosen:
            by_month[key.month] += sums.accelerator_hours
    if not all(len(month) == 7 and month[:4].isdecimal() for month in by_month):
        raise InvalidInput("month", "is not stated by the files; name it (--month 2026-01)")
    first, last = min(by_month), max(by_month)
    notes: list[str] = []
    first, last = _drop_cut_months(usage, first, last, notes)
    first, last = _drop_corrections(by_month, first, last, notes)
    count = months_between(first, last) + 1
    if count > MAX_MONTHS * 2:
        raise InvalidInput("file", f"spans {count} months; at most {MAX_MONTHS * 2} are read")
    months = [shift_month(first, step) for step in range(count)]
    _note_gaps(by_month, months, chosen, notes)
    peaks = usage.ledger.hourly.peaks()
    history = History(
        accelerator=chosen,
        start=first,
        hours=[max(0.0, by_month.get(month, 0.0)) for month in months],
        peaks=[peaks.get((month, chosen), 0.0) for month in months],
        notes=notes,
    )
    _take_out(history, months, past_runs)
    return history


def _name_used(names: Sequence[str], accelerator: str) -> str:
    """The accelerator of this name among those used, by the name that the files have or any usual
    one."""
    for name in (accelerator, name_accelerator(accelerator)):
        if name in names:
            return name
    allowed = ", ".join(name or "(no name)" for name in names[:10])
    raise InvalidInput("accelerator", f"{shorten(accelerator)} was not used; used were {allowed}")


def _note_gaps(
    by_month: Mapping[str, float], months: Sequence[str], accelerator: str, notes: list[str]
) -> None:
    """Names months between others of which the files hold no use, which count as none."""
    gaps = [month for month in months if month not in by_month]
    if gaps:
        named = ", ".join(gaps[:MAX_NAMED_GAPS])
        more = f" and {len(gaps) - MAX_NAMED_GAPS} more" if len(gaps) > MAX_NAMED_GAPS else ""
        notes.append(
            f"The files hold no use of {accelerator or 'the accelerator'} in {named}{more}, "
            "between months that do: it counts as 0 h. Add the file of a month that is missing."
        )


def _drop_corrections(
    by_month: Mapping[str, float], first: str, last: str, notes: list[str]
) -> tuple[str, str]:
    """Bounds without months at either end that hold more corrections than use; such a month in
    between counts as none. Each is named."""
    if not any(amount > 0 for month, amount in by_month.items() if first <= month <= last):
        months = first if first == last else f"{first} to {last}"
        problem = f"leaves no whole month of use to plan on in {months}; add files of more months"
        raise InvalidInput("file", problem)
    in_use = [month for month in by_month if first <= month <= last and by_month[month] > 0]
    begin, end = min(in_use), max(in_use)
    for month in sorted(by_month):
        if by_month[month] < 0 and first <= month <= last:
            outcome = "it counts as none" if begin < month < end else "it is left out"
            notes.append(
                f"{month} holds corrections of {-by_month[month]:,.2f} h beyond its use, which "
                f"take back use of other months; {outcome}."
            )
            if month < begin:
                first = shift_month(month)
    last = end if by_month.get(last, 0.0) < 0 else last
    return first, last


def _drop_cut_months(usage: Usage, first: str, last: str, notes: list[str]) -> tuple[str, str]:
    """Bounds without a month that begins late or ends early, where others are left."""
    hourly = usage.ledger.hourly
    if hourly.last_s == float("-inf"):
        return first, last
    epoch = dt.datetime(1970, 1, 1)
    begins = epoch + dt.timedelta(seconds=hourly.first_s)
    ends = epoch + dt.timedelta(seconds=hourly.last_s - 1)
    edge = dt.timedelta(days=EDGE_DAYS)
    if first == last:
        if begins > _month_start(first) + edge or ends < _month_start(shift_month(last)) - edge:
            notes.append(
                f"The files cover day {begins.day} to {ends.day} of {first} alone, and their hours "
                "are taken for those of the month."
            )
        return first, last
    if f"{ends:%Y-%m}" == last and ends < _month_start(shift_month(last)) - edge:
        notes.append(f"{last} ends on day {ends.day} in the files and is left out of the history.")
        last = shift_month(last, -1)
    if f"{begins:%Y-%m}" == first and begins > _month_start(first) + edge and first != last:
        notes.append(f"{first} begins on day {begins.day} in the files and is left out.")
        first = shift_month(first)
    return first, last


def _month_start(month: str) -> dt.datetime:
    return dt.datetime(int(month[:4]), int(month[5:]), 1)


def _take_out(history: History, months: list[str], past_runs: Sequence[KnownRun]) -> None:
    """Past runs are named and no habit: their hours leave the history."""
    for run in past_runs:
        if run.month not in months:
            raise InvalidInput("past_run", f"{run.month} is not a month of the history")
        index = months.index(run.month)
        if run.accelerator_hours > history.hours[index] + 1e-6:
            problem = f"{run.accelerator_hours:,.0f} h is more than {run.month} had"
            raise InvalidInput("past_run", f"{problem}: {history.hours[index]:,.0f} h")
        history.hours[index] -= run.accelerator_hours
        what = run.name or "A run"
        history.notes.append(
            f"{what} took {run.accelerator_hours:,.0f} h in {run.month}, which is not carried on."
        )
