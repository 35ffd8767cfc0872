"""How well sizing predicts ratios of throughput and hours of samples that it has not seen."""

import itertools
from collections.abc import Iterable

from planner.sizing.evidence.benchmarks import Measurement, measurements
from pricing.market.accelerators import get
from tools.sizing_fit.throughput import comparable, fit_index


def ratio_errors(
    workloads: Iterable[str] | None = None,
) -> list[tuple[Measurement, Measurement, float]]:
    """Error of the predicted ratio for every pair of accelerators measured alike, the index
    fitted without any measurement of the pair's workload; of every workload for None."""
    rows = measurements()
    found = []
    for workload in workloads or dict.fromkeys(row.workload for row in rows):
        own = comparable(row for row in rows if row.workload == workload)
        if not own:
            continue
        index = fit_index(row for row in rows if row.workload != workload)
        for group in own:
            for one, other in itertools.combinations(group, 2):
                predicted = index.ratio(
                    get(one.accelerator),
                    get(other.accelerator),
                    one.precision_class,
                    one.workload_class,
                )
                assert predicted is not None
                measured = one.rate_per_second / other.rate_per_second
                found.append((one, other, predicted / measured - 1))
    return found
