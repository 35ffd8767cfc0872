"""From usage to the demand of a plan: history, forecast, known runs, fields to fill. PURE."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean, median
from typing import Any

from planner.contract.amounts import months_between, shift_month
from planner.usage.forecast import MAX_MONTHS, MIN_HISTORY, Forecast, forecast
from planner.usage.machines import is_slice, name_accelerator
from planner.usage.summary import Usage
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput
from pricing.common.words import pluralize
from pricing.market import accelerators
from pricing.market.offers import HOURS_PER_MONTH

LONGEST_MONTH_HOURS, YEAR = 744.0, 12


@dataclass
class Demand:
    """What a plan asks for, and how sure that is."""

    history: History
    start: str
    hours_per_month: list[float]
    p10: list[float] | None
    p90: list[float] | None
    peak_accelerators: list[int]
    method: str
    forecast: Forecast | None
    notes: list[str]

    @property
    def is_known_accelerator(self) -> bool:
        """Whether a plan can be made on it: a name that means one accelerator."""
        return accelerators.find(self.history.accelerator) is not None

    def rows(self) -> list[dict[str, Any]]:
        unknown = [None] * len(self.hours_per_month)
        columns = (self.p10 or unknown, self.p90 or unknown, self.peak_accelerators)
        return [
            {"month": shift_month(self.start, step), "hours": hours, "p10": p10, "p90": p90}
            | {"peak": peak}
            for step, (hours, p10, p90, peak) in enumerate(
                zip(self.hours_per_month, *columns, strict=True)
            )
        ]

    def workload(self) -> dict[str, Any]:
        return {
            "kind": "accelerator_hours",
            "accelerator": self.history.accelerator,
            "hours_per_month": [round(hours, 2) for hours in self.hours_per_month],
            "peak_accelerators": self.peak_accelerators,
        }

    def request(self) -> dict[str, Any]:
        return {
            "name": "Demand from usage",
            "start": self.start,
            "horizon_months": len(self.hours_per_month),
            "workload": self.workload(),
        }

    def as_dict(self) -> dict[str, Any]:
        carried = self.forecast
        return {
            "accelerator": self.history.accelerator,
            "history_start": self.history.start,
            "history": [round(hours, 2) for hours in self.history.hours],
            "start": self.start,
            "hours_per_month": [round(hours, 2) for hours in self.hours_per_month],
            "p10": None if self.p10 is None else [round(hours, 2) for hours in self.p10],
            "p90": None if self.p90 is None else [round(hours, 2) for hours in self.p90],
            "peak_accelerators": self.peak_accelerators,
            "method": self.method,
            "errors": carried.errors if carried else {},
            "growth_per_year": carried.growth_per_year if carried else None,
            "seasonality": carried.seasonality if carried else None,
            "notes": self.notes,
        }


def plan_demand(
    usage: Usage,
    months: int,
    start: str | None = None,
    accelerator: str | None = None,
    growth: float | None = None,
) -> Demand:
    """Demand of `months` from `start`, the month after the history where none is said: the
    forecast, or the year before and `growth` more."""
    if not 1 <= months <= MAX_MONTHS:
        raise InvalidInput("months", f"{months} is not between 1 and {MAX_MONTHS}")
    history = read_history(usage, accelerator)
    following = shift_month(history.start, len(history.hours))
    begin = max(start or following, following)
    gap = months_between(following, begin)
    if gap + months > MAX_MONTHS:
        problem = (
            f"{begin} is {gap} months after the history; add newer files, or start it by "
            f"{shift_month(following, MAX_MONTHS - months)}"
        )
        raise InvalidInput("start", problem)
    demand = _carry_on(history, begin, gap, months, growth)
    if start and start < following:
        last = shift_month(following, -1)
        note = f"The history goes to {last}: the plan starts after it, not in {start}."
        demand.notes.append(note)
    _fit_into_plan_months(demand)
    pairs = zip(history.peaks, history.hours, strict=True)
    ratios = [peak / hours for peak, hours in pairs if peak > 0 and hours > 0]
    ratio = median(ratios) if ratios else 0.0
    most = max(history.peaks, default=0.0)
    longest = most * LONGEST_MONTH_HOURS / HOURS_PER_MONTH
    in_proportion = (hours * ratio for hours in demand.hours_per_month)
    peaks = (most if most < peak <= longest else peak for peak in in_proportion)
    demand.peak_accelerators = [
        max(ceil(hours / HOURS_PER_MONTH - 1e-9), ceil(peak - 1e-9))
        for hours, peak in zip(demand.hours_per_month, peaks, strict=True)
    ]
    if not demand.is_known_accelerator:
        name = history.accelerator or "without a name"
        demand.notes.append(
            f"The files call the accelerator {name!r}, which may mean several; choose one in the "
            "plan."
        )
    return demand


def _carry_on(history: History, begin: str, gap: int, months: int, growth: float | None) -> Demand:
    notes = list(history.notes)
    if growth is not None:
        year = history.hours[-YEAR:] if len(history.hours) >= YEAR else [fmean(history.hours)]
        grown = [
            year[(gap + step) % len(year)] * (1 + growth) ** (1 + step // YEAR)
            for step in range(months)
        ]
        before = "the year before" if len(year) == YEAR else "the mean of the history"
        title = f"{before}, {growth:+.0%} a year"
        return Demand(history, begin, grown, None, None, [], title, None, notes)
    if len(history.hours) < MIN_HISTORY:
        mean = fmean(history.hours)
        notes.append(
            f"A history of {pluralize(len(history.hours), 'month')} is too short for a forecast: "
            "its mean is carried on, and the range is not known."
        )
        flat = [mean] * months
        return Demand(history, begin, flat, None, None, [], "mean of the history", None, notes)
    carried = forecast(history.hours, gap + months)
    if gap:
        notes.append(
            f"The history ends {pluralize(gap, 'month')} before {begin}; its forecast goes on to "
            "there."
        )
    return Demand(
        history=history,
        start=begin,
        hours_per_month=carried.p50[gap:],
        p10=carried.p10[gap:],
        p90=carried.p90[gap:],
        peak_accelerators=[],
        method=carried.title,
        forecast=carried,
        notes=notes,
    )


def _fit_into_plan_months(demand: Demand) -> None:
    """A machine that never stops works 744 h in the longest months and 730 h in those of a plan:
    that takes no machine more."""
    most = max(demand.history.peaks, default=0.0)
    limit, longest = most * HOURS_PER_MONTH, most * LONGEST_MONTH_HOURS
    fitted = [limit if limit < one <= longest else one for one in demand.hours_per_month]
    if fitted == demand.hours_per_month:
        return
    if demand.p10 is not None:
        demand.p10 = [min(pair) for pair in zip(demand.p10, fitted, strict=True)]
    demand.hours_per_month = fitted
    demand.notes.append(
        f"The {most:g} accelerators worked without a break: a plan's month counts as "
        f"{HOURS_PER_MONTH} h, also where one of the calendar has 744."
    )


EDGE_DAYS = 2
"""Days without use at an end of the files after which that month counts as cut off."""
MAX_NAMED_GAPS = 6


@dataclass
class History:
    """Hours of consecutive whole months of one accelerator."""

    accelerator: str
    start: str
    hours: list[float]
    peaks: list[float]
    """Most accelerators at once; 0 where no file says it."""
    notes: list[str] = field(default_factory=list)


def list_accelerators(usage: Usage) -> list[str]:
    """Accelerators by hours, the most used first; slices left out."""
    hours: dict[str, float] = defaultdict(float)
    for key, sums in usage.ledger.uses.items():
        if not is_slice(key.accelerator):
            hours[key.accelerator] += sums.accelerator_hours
    return [name for name in sorted(hours, key=lambda n: -hours[n]) if hours[name] > 0]


def read_history(usage: Usage, accelerator: str | None = None) -> History:
    names = list_accelerators(usage)
    if not names:
        raise InvalidInput("file", "holds no use of accelerators to plan on")
    chosen = names[0] if accelerator is None else _name_used(names, accelerator)
    by_month: dict[str, float] = defaultdict(float)
    for key, sums in usage.ledger.uses.items():
        if key.accelerator == chosen:
            by_month[key.month] += sums.accelerator_hours
    first, last = min(by_month), max(by_month)
    notes: list[str] = []
    first, last = _drop_cut_months(usage, first, last, notes)
    first, last = _drop_corrections(by_month, first, last, notes)
    count = months_between(first, last) + 1
    if count > MAX_MONTHS * 2:
        raise InvalidInput("file", f"spans {count} months; at most {MAX_MONTHS * 2} are read")
    months = [shift_month(first, step) for step in range(count)]
    gaps = [month for month in months if month not in by_month]
    if gaps:
        named = ", ".join(gaps[:MAX_NAMED_GAPS])
        more = f" and {len(gaps) - MAX_NAMED_GAPS} more" if len(gaps) > MAX_NAMED_GAPS else ""
        notes.append(
            f"The files hold no use of {chosen or 'the accelerator'} in {named}{more}, "
            "between months that do: it counts as 0 h. Add the file of a month that is missing."
        )
    peaks = usage.ledger.hourly.peaks()
    return History(
        accelerator=chosen,
        start=first,
        hours=[max(0.0, by_month.get(month, 0.0)) for month in months],
        peaks=[peaks.get((month, chosen), 0.0) for month in months],
        notes=notes,
    )


def _name_used(names: Sequence[str], accelerator: str) -> str:
    """The accelerator of this name among those used, by the name that the files have or any usual
    one."""
    for name in (accelerator, name_accelerator(accelerator)):
        if name in names:
            return name
    allowed = ", ".join(name or "(no name)" for name in names[:10])
    raise InvalidInput("accelerator", f"{shorten(accelerator)} was not used; used were {allowed}")


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
