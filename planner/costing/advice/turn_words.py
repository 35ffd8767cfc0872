"""What would change the advice, in words. PURE."""

from __future__ import annotations

from planner.costing.advice.verdict import SCENARIO_NAMES
from planner.costing.analysis.turning_points import TurningPoint

_FIGURES = {
    "workload.hours": "the hours",
    "rental_prices": "rental prices",
    "on_prem.servers.unit_price": "server prices",
}


def describe_turn(point: TurningPoint) -> str:
    """What would have to change, and what follows.

    >>> from planner.contract.answer.common import ScenarioKey
    >>> fewer = TurningPoint("workload.hours", 0.9, ScenarioKey.ON_DEMAND)
    >>> describe_turn(fewer)
    'If the hours fell by 10%, renting on demand would cost no more than this plan.'
    >>> most = TurningPoint("workload.hours", 1.1, ScenarioKey.HYBRID, begins_payback=True)
    >>> describe_turn(most)
    'If the hours rose by 10%, buying servers would save enough to be advised.'
    >>> more = TurningPoint("workload.hours", 1.06, ScenarioKey.COMMITTED, ends_payback=True)
    >>> describe_turn(more)
    'If the hours rose by 6%, the servers would not save enough, because the hours added are \
rented beside them at a higher price than renting alone would pay: ask again with those hours for \
what to do instead.'
    """
    change = point.multiplier - 1.0
    direction = "rose" if change > 0 else "fell"
    moved = f"If {_FIGURES[point.field]} {direction} by {abs(change):.0%}"
    if point.begins_payback:
        return f"{moved}, buying servers would save enough to be advised."
    if not point.ends_payback:
        return f"{moved}, {SCENARIO_NAMES[point.scenario]} would cost no more than this plan."
    if change > 0 and point.field == "workload.hours":
        return (  # The plan adds no server: what it lacks is rented.
            f"{moved}, the servers would not save enough, because the hours added are rented "
            "beside them at a higher price than renting alone would pay: ask again with those "
            "hours for what to do instead."
        )
    return f"{moved}, the servers would not save enough: fewer or none would be advised."
