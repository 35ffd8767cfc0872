"""One measured figure against the floor measured in the same run."""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

SHORT = os.environ.get("BENCH_SHORT") == "1"
"""Short form: fewer repetitions and smaller inputs; the holds are printed, not judged."""


@dataclass(frozen=True)
class Row:
    """`ours` against `floor`, both in `unit`; `hold` says what is to be kept."""

    name: str
    ours: float
    floor: float
    hold: str
    ok: bool
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        """ours / floor; infinite where the floor is 0."""
        return self.ours / self.floor if self.floor else float("inf")


def median_ms(work: Callable[[], object], times: int = 7) -> float:
    """Median wall time of `work`, ms, after one call that warms it up."""
    work()
    taken = []
    for _ in range(3 if SHORT else times):
        began = time.perf_counter()
        work()
        taken.append((time.perf_counter() - began) * 1e3)
    return statistics.median(taken)


def processor_ms(work: Callable[[], object], times: int = 5) -> float:
    """Median processor time of `work`, ms: what computes in one thread takes as long on a free
    machine, and on a busy one this still means something."""
    work()
    taken = []
    for _ in range(3 if SHORT else times):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1e3)
    return statistics.median(taken)
