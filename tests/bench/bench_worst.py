"""The worst request known, as a multiple of an ordinary comparison of the same run, and by how
much it makes the process grow that answers it."""

import time
from contextlib import suppress

from planner.comparison import TooMuchWork, compare
from planner.costing.optimizer.work import WorkMeter
from tests.bench.bench_compare import TODAY, bundled, request
from tests.bench.row import Row, processor_ms
from tests.planner.test_worst_requests import measure, peak_megabytes
from tests.planner.worst_requests import LARGEST, WORST, build_request

ANONYMOUS_UNITS = 10_000_000
MOST_MEGABYTES = 350.0
"""With the 120 to 150 MB of an idle process within the 500 MB that nothing may take."""
HOLD = 150.0
"""Times an ordinary comparison of about 0.1 s: within the 20 s that nothing may take."""


def bench() -> list[Row]:
    catalog = bundled()
    idle, (_, megabytes) = peak_megabytes(), measure(WORST, catalog)
    _, largest = measure(LARGEST, catalog)
    floor = processor_ms(lambda: compare(request(), catalog, today=TODAY).to_json())
    worst = build_request(WORST)

    def ask() -> None:
        with suppress(TooMuchWork):
            compare(worst, catalog, today=TODAY, work=WorkMeter(ANONYMOUS_UNITS)).to_json()

    began = time.process_time()
    ask()
    ours = (time.process_time() - began) * 1e3
    within = f"<= {MOST_MEGABYTES:g} MB"
    return [
        Row("worst request known", ours, floor, f"<= {HOLD:g} ×", ours <= HOLD * floor),
        *(
            Row(
                f"{which}: growth over the idle process",
                mb,
                idle,
                within,
                mb <= MOST_MEGABYTES,
                "MB",
            )
            for which, mb in (("worst request known", megabytes), ("largest request", largest))
        ),
    ]
