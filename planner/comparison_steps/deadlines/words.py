"""What an answer says of runs that are done sooner than their deadlines ask. PURE."""

from __future__ import annotations

import numpy as np

from planner.comparison_steps.results import ComparisonResults
from planner.comparison_steps.scenario_results import Sooner
from planner.contract.money import format_money


def describe_sooner(sooner: Sooner, results: ComparisonResults) -> str:
    """When the work is done, and what it would cost if it were spread to its deadlines."""
    spread = format_money(sooner.total, results.request.currency)
    if len(sooner.runs) > 1 or sooner.runs[0].deadline is None:
        return (
            "Runs are done sooner than their deadlines ask: spread evenly over the months to "
            f"these, the plan would cost {spread}."
        )
    last = results.calendar.month(int(np.flatnonzero(results.inputs.hours)[-1]))
    return (
        f"The run is done by the end of {last:%B %Y}, before its deadline, the end of "
        f"{sooner.runs[0].deadline:%B %Y}: spread evenly over the months to it, the plan would "
        f"cost {spread}."
    )
