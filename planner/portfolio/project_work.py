"""A project's work on the calendar of the plan: what is over counts as done. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.comparison_steps.preparation import Preparation
from planner.contract.months import count_months
from planner.sizing.demand import Demand, compute_demand
from pricing.common.invalid_input import InvalidInput

MOST_MONTHS_OVER = 120
"""Months that a project may have begun before the plan."""


@dataclass(frozen=True)
class ProjectPreparation(Preparation):
    """The comparison of one project whose work may begin before or after the plan does."""

    work_start: dt.date | None = None
    """First month of its work; None for that of the plan."""

    def size_work(self, wanted: Sequence[str] | None) -> Demand:
        """Demand in the months of the plan, of work laid out over its own."""
        if self.work_start is None:
            return super().size_work(wanted)
        calendar = self.calendar
        over = count_months(self.work_start, calendar.start)
        if over > MOST_MONTHS_OVER:
            raise InvalidInput(
                "start",
                f"{self.work_start:%Y-%m} is {over} months before the plan; allowed are "
                f"{MOST_MONTHS_OVER}",
            )
        months = calendar.months + over
        if months < 1:
            raise InvalidInput("start", f"{self.work_start:%Y-%m} is after the plan; leave it out")
        rules = self.request.rules
        demand = compute_demand(self.request.workload, self.work_start, months, wanted, rules)
        return _shift(demand, over)


def _shift(demand: Demand, over: int) -> Demand:
    """The demand without months that are over, or with months before it begins."""
    hours = _shift_row(demand.hours_per_month, over)
    if not hours.any():
        raise InvalidInput("workload", "is over before the plan begins; leave the project out")
    peak = _shift_row(demand.peak_accelerators, over)
    flops = demand.training_flops if over <= 0 else None
    runs = tuple(_shift_row(np.array(demand.runs_at_once), over).tolist())
    return replace(
        demand,
        hours_per_month=hours,
        peak_accelerators=peak,
        training_flops=flops,
        runs_at_once=runs if demand.runs_at_once else (),
    )


def _shift_row(row: NDArray[np.float64], over: int) -> NDArray[np.float64]:
    """
    >>> _shift_row(np.array([1.0, 2.0, 3.0]), 1).tolist(), _shift_row(np.array([1.0]), -2).tolist()
    ([2.0, 3.0], [0.0, 0.0, 1.0])
    """
    return row[over:] if over >= 0 else np.concatenate([np.zeros(-over), row])
