"""What may become of the work of each project, and of the prices that all pay. PURE.

Prices, resale, what sellers ask for servers and when they deliver, and spot are one draw for all
projects. How far each has its hours wrong, its growth and its delay are draws of its own,
independent of those of the others. The first project, by name, has the draws of its comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.monte_carlo import RiskParameters, spot_factor
from planner.costing.analysis.outcomes import Outcomes, draw_outcomes, planned_outcomes
from planner.costing.analysis.price_drivers import PriceDrivers
from planner.costing.price_processes.process import PriceProcess

_NO_PRICES = PriceDrivers((), {})


@dataclass(frozen=True)
class ProjectDraws:
    """The outcomes of one project; every project has them in the same order."""

    drivers: PriceDrivers
    """The prices of all, and those of its own sources among them."""
    outcomes: Outcomes

    @property
    def by_slip(self) -> NDArray[np.intp]:
        """[N] rows by which its delays ascend."""
        return np.argsort(self.outcomes.slip, kind="stable")


def share_drivers(drivers: Sequence[PriceDrivers]) -> list[PriceDrivers]:
    """The same with the processes of all, equal ones once, in the order in which they come."""
    rows: dict[PriceProcess, int] = {}
    for one in drivers:
        for process in one.processes:
            rows.setdefault(process, len(rows))
    every = tuple(rows)
    return [
        PriceDrivers(every, {key: rows[one.processes[i]] for key, i in one.of_source.items()})
        for one in drivers
    ]


def draw_all(
    parameters: Sequence[RiskParameters], drivers: Sequence[PriceDrivers], months: int
) -> list[ProjectDraws]:
    """The outcomes of projects in the order of their names, which `share_drivers`."""
    first = draw_outcomes(parameters[0], drivers[0], months)
    draws = [ProjectDraws(drivers[0], first)]
    for place, (own, shared) in enumerate(zip(parameters[1:], drivers[1:], strict=True), 1):
        seeds = np.random.SeedSequence(own.seed, spawn_key=(place,))
        seed, shuffle = (int(word) for word in seeds.generate_state(2, np.uint64))
        drawn = draw_outcomes(replace(own, seed=seed), _NO_PRICES, months)
        order = np.random.Generator(np.random.PCG64(shuffle)).permutation(own.samples)
        outcomes = replace(
            first,
            slip=drawn.slip[order],  # they come in order, which is no order of the others'
            growth=drawn.growth,
            level=drawn.level,
            lost=spot_factor(own, first.interruptions),
        )
        draws.append(ProjectDraws(shared, outcomes))
    return draws


def draw_as_planned(drivers: Sequence[PriceDrivers], months: int) -> list[ProjectDraws]:
    """One outcome in which all goes as planned."""
    return [ProjectDraws(one, planned_outcomes(one, months)) for one in drivers]
