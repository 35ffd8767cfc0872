"""The samples that every comparison draws from fitted prices."""

import numpy as np
from numpy.typing import NDArray

from planner.comparison import solve
from planner.costing.analysis.simulation import simulation_of
from tests.bench.bench_compare import REQUESTS, TODAY, bundled
from tests.bench.row import Row, processor_ms

Floats = NDArray[np.float64]
FITTED_MS = 80.0


def bench() -> list[Row]:
    """All scenarios of comparisons of 36 months over 2,000 samples, drawn and costed."""
    rows, catalog = [], bundled()
    for name, asked in REQUESTS.items():
        results = solve(asked | {"sensitivity": False}, catalog, TODAY)
        plans = tuple(results.allowed_scenarios.values())
        parameters = results.risk_parameters
        assert parameters is not None
        feasible = [plan for plan in plans if plan.feasible]
        ours = processor_ms(
            lambda r=results, f=feasible, p=parameters: simulation_of(r.inputs, p, f).cost(f)
        )
        ok = ours <= FITTED_MS
        rows.append(Row(f"2,000 samples: {name}", ours, FITTED_MS, f"<= {FITTED_MS:g} ms", ok))
    return rows
