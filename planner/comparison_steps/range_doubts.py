"""What the range of an answer does not hold: work beyond published runs, or its months. PURE.

With L the factor on the hours in an outcome, H the hours of a run's months and

    A = Σ ⌈nodes at work⌉ · capacity · hours of a node in a month

what the machines of the plan can give in them, the run is not done in them on these machines
where L · H > A. A range rents more to the nearest whole machine, as if that were seen in
time, and leaves out what then does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.verdict_words import NARROW
from planner.contract.labels import MISSES_ITS_DEADLINE, NO_RANGE_HERE
from planner.contract.money import format_money
from planner.contract.request.workload import AcceleratorHours
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.server import ServerToBuy
from planner.costing.model_inputs import Floats, ModelInputs
from planner.costing.results.payments import resale_value
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import peak_hours_of
from planner.costing.run_peaks import nodes_at_once
from pricing.common.pluralize import pluralize

_NOISE = 1e-6
"""Share of a machine that no rounding up counts."""
WORTH_SAYING = 0.1
"""Share of outcomes past the deadline from which the p90 of the hours is one of them."""


@dataclass(frozen=True)
class RangeDoubts:
    """Whether the ranges of an answer hold, and what they leave out."""

    holds: bool = True
    """False where the work is far from every published run."""
    note: str = ""
    """What stands beside a range of costs; empty where there is nothing to say."""
    warning: str = ""
    """What the warnings say of work that is not done in its months; empty where it is in 9 outcomes
    of 10."""


SURE = RangeDoubts()
"""Nothing to say of a range."""
BEYOND_PUBLISHED = "the work is far from every published run"
"""Why a range does not hold."""


def find_range_doubts(results: ComparisonResults) -> RangeDoubts:
    """What to know of the ranges of an answer."""
    holds = not any(NO_RANGE_HERE in words for words in results.warnings)
    beyond = "" if holds else f"{NO_RANGE_HERE}, as {BEYOND_PUBLISHED}"
    late, median = _find_late(results), _explain_median(results)
    if late is None:
        return RangeDoubts(holds, "; ".join(filter(None, (beyond, median))))
    return RangeDoubts(holds, "; ".join(filter(None, (beyond, late.note, median))), late.warning)


def _explain_median(results: ComparisonResults) -> str:
    advised, risk = results.recommendation.scenario, results.risk
    if advised is None or risk is None:
        return ""
    plan, median = results.scenarios[advised], risk.total_percentiles[advised][1]
    ordered = (results.inputs.servers.unsure.get(key) for key in plan.units_started)
    unsure = [one for one in ordered if one is not None]
    return explain_median([plan], unsure, median, results.request.currency)


def explain_median(
    parts: Sequence[Scenario], unsure: Sequence[ServerToBuy], median: float, currency: str
) -> str:
    """Why half of the outcomes of a plan that buys cost more than its total, where it is so: what
    servers fetch is skewed about its mean, and what may go wrong with them goes one way. A plan
    is the sum of its `parts`; `unsure` is what may become of the servers that they order."""
    total = sum(float(part.total_cost) for part in parts)
    if not any(part.buys for part in parts) or median <= total + abs(total) * float(NARROW):
        return ""
    may_be_late = any(one.delivery for one in unsure)
    ends = [one.price_range for one in unsure if one.price_range]
    is_lowest = any(one.low >= 1.0 < one.high for one in ends)
    whys = (
        "mostly resell for less than the average counted, and now and then for far more"
        if any(resale_value(part) for part in parts)
        else "",
        "may arrive late, never early" if may_be_late else "",
        "may cost more than the lowest quote, which is counted, never less" if is_lowest else "",
    )
    why = "; they ".join(filter(None, whys))
    return (
        f"half of the cases cost more than {format_money(median, currency)}, which is above the "
        "total"
    ) + (f": servers {why}" if why else "")


@dataclass(frozen=True)
class _Window:
    """Months of the work, the last of them in words, and whether it has to be done in them."""

    months: slice
    last: str
    has_deadline: bool


@dataclass(frozen=True)
class _Late:
    """The work that is the likeliest to take more than its months on the machines of the plan."""

    window: _Window
    share: float
    """Of the outcomes."""
    longest: float
    """Hours at p90 over what the machines of the plan give in its months."""
    whole_nodes: bool
    """Whether machines rent whole."""

    @property
    def note(self) -> str:
        return (
            f"in {self.share:.0%} of the simulated cases the work is not done by the end of "
            f"{self.window.last} on these machines; the range then counts more of them"
            f"{', to the nearest whole one' if self.whole_nodes else ''}"
        )

    @property
    def warning(self) -> str:
        last, more = self.window.last, math.ceil(self.longest * 100 - 100)
        whole = (
            ", to the nearest whole machine, and leaves out any work that does not fit"
            if self.whole_nodes
            else ""
        )
        how = "The range of the total then counts more of them, as if rented in good time"
        if not self.window.has_deadline:
            return (
                f"In {self.share:.0%} of the simulated outcomes the work goes on after {last} on "
                f"the machines of this plan. {how}{whole}: up to {more}% more hours in 9 of 10 "
                "outcomes. A rate measured in a short pilot makes the hours more certain."
            )
        months = self.window.months.stop - self.window.months.start
        later = pluralize(math.ceil(months * self.longest - _NOISE) - months, "month")
        return (
            f"In {self.share:.0%} of the simulated outcomes the work {MISSES_ITS_DEADLINE}, the "
            f"end of {last}, on the machines of this plan. {how}{whole}. A deadline {later} later, "
            f"or at least {more}% more accelerators from the start, would do in 9 of 10 outcomes; "
            "a rate measured in a short pilot makes the hours more certain."
        )


def _find_late(results: ComparisonResults) -> _Late | None:
    """None where all work is done in its months in 9 of 10 outcomes, or its hours are known."""
    advised, simulation = results.recommendation.scenario, results.simulation
    factors = simulation.hours_factors if simulation else None
    if advised is None or factors is None:
        return None
    available = hours_of_machines(results.scenarios[advised], results.inputs)
    if results.sooner is not None:  # what is not done by then goes on to the deadline
        available = np.where(results.inputs.hours > 0, available, available.max())
    judged = [_judge(window, results.inputs, factors, available) for window in _windows(results)]
    late = [one for one in judged if one is not None and one.share > WORTH_SAYING]
    return max(late, key=lambda one: one.share, default=None)


def _windows(results: ComparisonResults) -> Iterator[_Window]:
    """Of each run that has a deadline; where none has, all the months of the work."""
    workload, calendar = results.request.workload, results.calendar
    runs = () if isinstance(workload, AcceleratorHours) else workload.runs or ()
    if results.sooner is not None:
        runs = results.sooner.runs
    dated = [(run.start, run.deadline) for run in runs if run.deadline is not None]
    for start, deadline in dated:
        months = slice(calendar.index(start), calendar.index(deadline) + 1)
        yield _Window(months, f"{deadline:%B %Y}", has_deadline=True)
    busy = np.flatnonzero(results.inputs.hours)
    if not dated and busy.size:
        months = slice(int(busy[0]), int(busy[-1]) + 1)
        yield _Window(months, f"{calendar.month(int(busy[-1])):%B %Y}", has_deadline=False)


def _judge(
    window: _Window, inputs: ModelInputs, factors: Floats, available: Floats
) -> _Late | None:
    needed, most = inputs.hours[window.months].sum(), available[window.months].sum()
    if not needed or not most:
        return None
    return _Late(
        window,
        share=float((factors * needed > most * (1.0 + _NOISE)).mean()),
        longest=float(np.percentile(factors, 90) * needed / most),
        whole_nodes=inputs.whole_nodes,
    )


def hours_of_machines(plan: Scenario, inputs: ModelInputs) -> Floats:
    """[T] reference accelerator-hours that the machines of a plan give if they go on all month."""
    available = np.zeros(inputs.calendar.months)
    for key in {*plan.used_hours, *plan.units_started}:
        source = inputs.by_key[key]
        available += _nodes(source, plan, inputs) * source.capacity * source.hours_per_month
    return available


def _nodes(source: CapacitySource, plan: Scenario, inputs: ModelInputs) -> Floats:
    """[T] machines in service; of those rented as many whole ones as are at work at the peak."""
    if source.term is not None:
        started = plan.units_started.get(source.key, np.zeros(inputs.calendar.months))
        return source.units_in_service(np.asarray(started, dtype=np.float64))
    used = plan.used_hours[source.key]
    at_peak = peak_hours_of(plan, inputs, source)
    nodes = nodes_at_once(used, at_peak)
    return np.ceil(nodes - _NOISE) if inputs.whole_nodes else nodes
