"""Other accelerators for hours stated for one: relative throughput by measurement. PURE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from planner.sizing.demand import Candidate, Demand
from planner.sizing.evidence.measured_throughput import MIXED
from planner.sizing.performance.relative_throughput import throughput_index
from pricing.market.accelerators import get

WORKLOAD_CLASS = "nlp"
"""Class of work by which bare accelerator-hours are converted: transformers in mixed precision."""


def with_equivalents(demand: Demand, accelerators: Iterable[str]) -> Demand:
    """`demand` with candidates for the other `accelerators`, each by its measured throughput.

    Those whose throughput cannot be placed are listed in `excluded` with the reason.

    >>> import datetime as dt
    >>> from planner.sizing.demand import compute_demand
    >>> from planner.contract.request.workload import AcceleratorHours
    >>> hours = AcceleratorHours(kind="accelerator_hours", accelerator="H100 SXM",
    ...                          hours_per_month=[730])
    >>> demand = compute_demand(hours, dt.date(2027, 1, 1), 1)
    >>> both = with_equivalents(demand, ["nvidia-a100-80gb-sxm"])
    >>> 0.3 < both.candidates[1].relative_throughput < 0.7
    True
    """
    known = {c.accelerator for c in demand.candidates}
    candidates, excluded = list(demand.candidates), dict(demand.excluded)
    for slug in sorted(set(accelerators) - known - set(excluded)):
        ratio = throughput_index().ratio(get(slug), get(demand.accelerator), MIXED, WORKLOAD_CLASS)
        if ratio is None:
            excluded[slug] = f"its throughput against {demand.accelerator} is not known"
            continue
        note = f"{ratio:.2f} of {demand.accelerator}: measured training throughputs"
        candidates.append(Candidate(slug, ratio, notes=(note,)))
    return replace(demand, candidates=tuple(candidates), excluded=excluded)
