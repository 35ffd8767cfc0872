"""Runs that work in several places at once, which no network is known to join. PURE."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.sizing.demand import Demand

NamePlace = Callable[[str, str], str]
"""What people call a provider's region."""
_SOME_HOURS = 1e-6
"""Node-hours from which a machine is at work."""


def warn_of_split_runs(
    plan: Scenario | None, inputs: ModelInputs, demand: Demand, name_place: NamePlace
) -> Iterator[str]:
    """That one run of sized work has machines in several places in the same month."""
    if plan is None or not demand.is_sized:
        return
    is_alone = np.array(demand.runs_at_once) == 1.0
    busy: dict[str, NDArray[np.bool_]] = defaultdict(lambda: np.zeros(is_alone.size, dtype=bool))
    for key, hours in sorted(plan.used_hours.items()):
        busy[_name(inputs.by_key[key], name_place)] |= (hours > _SOME_HOURS) & is_alone
    is_split = np.sum(list(busy.values()), axis=0) > 1
    if not is_split.any():
        return
    places = [place for place, at_work in busy.items() if (at_work & is_split).any()]
    month = inputs.calendar.month(int(np.flatnonzero(is_split)[0]))
    yield (
        f"From {month:%B %Y}, a single run has machines in several places at once ("
        f"{' and '.join(places)}), and no network between them is known to be fast enough: the "
        "plan holds only if the work splits into independent parts, such as separate attempts. If "
        "it does not, plan for machines in one place that hold all of it."
    )


def _name(source: CapacitySource, name_place: NamePlace) -> str:
    if source.is_owned or not source.provider:
        return "your own premises"
    return name_place(source.provider, source.region)
