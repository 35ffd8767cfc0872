"""Hours that are taken to fall together, where a load of days and nights costs less. PURE."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.workload import AcceleratorHours
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from pricing.market.offers import HOURS_PER_MONTH

UNEVEN_RULES = 6
"""Edition of the rules from which it is said, 2026."""
LEAST_USE, MOST_USE = 0.25, 0.9
"""Share of a month for which the peak lasts, between which a level and a rise above it may be far
from all at once; planning choices, 2026."""


def warn_of_uneven_hours(
    plan: Scenario | None, inputs: ModelInputs, request: ComparisonRequest
) -> Iterator[str]:
    """That a stated peak is taken to do all hours of a month, where several machines are paid for
    all month: those that only a part of the day needs may be rented for it."""
    workload = request.workload
    if not isinstance(workload, AcceleratorHours) or workload.peak_accelerators is None:
        return
    if request.rules < UNEVEN_RULES or plan is None or not _pays_several_all_month(plan, inputs):
        return
    month = int(np.argmax(inputs.hours))
    peak, hours = float(inputs.peak[month]), float(inputs.hours[month])
    lasts = hours / peak
    if not LEAST_USE < lasts / HOURS_PER_MONTH < MOST_USE:
        return
    yield (
        f"{hours:,.0f} hours a month at a peak of {peak:,.0f} are assumed to fall together: "
        f"{peak:,.0f} accelerators for {lasts:,.0f} of {HOURS_PER_MONTH} hours and none for the "
        "rest. A load with a steady base and a daytime peak may cost less: plan the base and the "
        "peak as two projects of a portfolio."
    )


def _pays_several_all_month(plan: Scenario, inputs: ModelInputs) -> bool:
    """Whether more than one machine of a kind is bought, leased or committed to at once."""
    return any(
        inputs.by_key[key].units_in_service(started.astype(np.float64)).max() > 1
        for key, started in plan.units_started.items()
    )
