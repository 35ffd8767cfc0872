"""The planner as a library: the figures of page, API and commands without their server.

    from gpu_cost_planner import compare

    answer = compare({"workload": {"kind": "accelerator_hours", "accelerator": "H100",
                                   "hours_per_month": 5840}})
    print(answer)                       # the advice and its tables, as on the command line
    answer.lines.to_frame()             # any table of it as a pandas frame

Importing costs little: solver, pandas and prices are loaded by the first call that needs them.
"""

from __future__ import annotations

from gpu_cost_planner.planning import compare, estimate, offers, plan_portfolio, sweep
from gpu_cost_planner.server import server_catalog
from pricing.common.invalid_input import InvalidInput

__all__ = [
    "InvalidInput",
    "compare",
    "estimate",
    "offers",
    "plan_portfolio",
    "server_catalog",
    "sweep",
]
