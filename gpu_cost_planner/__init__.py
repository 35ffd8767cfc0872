"""The planner as a library: the figures of page, API and commands without their server.

    from gpu_cost_planner import compare

    answer = compare({"workload": {"kind": "accelerator_hours", "accelerator": "H100",
                                   "hours_per_month": 5840}})
    print(answer)                       # the advice and its tables, as on the command line
    answer.lines.to_frame()             # any table of it as a pandas frame

Importing costs little: solver, pandas and prices are loaded by the first call that needs them.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def _check_packages() -> None:
    """Ends the import where a module of the user's and a package of ours have one name: Python
    would give one for the other, or pip has written one over the other without a word."""
    home = Path(__file__).parents[1]
    records = {path: f"\n{path.read_text()}" for path in home.glob("*.dist-info/RECORD")}
    for name in ("planner", "pricing"):
        spec = find_spec(name)
        origin = spec and (spec.origin or list(spec.submodule_search_locations or ()))
        if origin != str(home / name / "__init__.py"):
            problem = f"Python finds {origin}"
        elif (home / f"{name}.py").exists():
            problem = f"{home / name}.py stands beside it"
        elif len(owners := [p for p in records if f"\n{name}/__init__.py," in records[p]]) > 1:
            held = " and ".join(sorted(path.parent.stem for path in owners))
            problem = f"{held} hold one each, and pip wrote one over the other"
        else:
            continue
        raise ImportError(
            f"gpu_cost_planner needs its own package {name}, but {problem}. Rename the other one, "
            "or install gpu-cost-planner into a virtual environment of its own."
        )


_check_packages()

from gpu_cost_planner.planning import compare, estimate, offers, plan_ladder, plan_portfolio, sweep  # noqa: E402
from gpu_cost_planner.server import server_catalog  # noqa: E402
from pricing.common.invalid_input import InvalidInput  # noqa: E402

__all__ = [
    "InvalidInput",
    "compare",
    "estimate",
    "offers",
    "plan_ladder",
    "plan_portfolio",
    "server_catalog",
    "sweep",
]
