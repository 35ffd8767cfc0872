"""Goodput: the share of paid time in which a job makes progress. PURE.

M is the mean time between failures of the whole job, δ the time to save a checkpoint, R the
time to restart; all in hours.
"""

from __future__ import annotations

import math
from functools import lru_cache

from planner.contract.request.workload import Training
from planner.sizing.evidence import fitted
from planner.sizing.footprint.memory import ONE_NODE
from planner.sizing.footprint.training_flops import FINE_TUNING, stage_of
from planner.sizing.layout.shapes import StateBytes
from pricing.market.accelerators import Accelerator
from pricing.market.interruptions import InterruptionBand
from pricing.market.offers import HOURS_PER_MONTH

DEVICE_HOURS_PER_FAILURE = 50_700.0
"""Accelerator-hours between interruptions: 419 unexpected in 54 days on 16,384 H100 (Llama 3,
arXiv 2407.21783 section 3.3.4, 2024); BLOOM saw 64,500 (arXiv 2211.05100, 2022)."""
CHECKPOINT_HOURS = 40 / 3600
"""h to save a checkpoint, blocking: 40 s for BLOOM 176B on 384 A100 (BLOOM training chronicle,
bigscience-workshop/bigscience, 2022)."""
CHECKPOINT_GIB_PER_NODE_SECOND = 1.2
"""Rate at which one 8-accelerator node writes a checkpoint, GiB/s: 2.3 TB in 40 s on 48 nodes
(BLOOM 176B training chronicle, bigscience-workshop/bigscience, 2022)."""
RESTART_HOURS = 0.1
"""h from a failure to the next useful step: about what Llama 3's more than 90 % effective time
leaves room for at a failure every 3 h (arXiv 2407.21783 section 3.3.4, 2024)."""
OPERATIONS_SHARE = 0.95
"""Share of the hours left after evaluation, restarts by hand, ramp-up and idle nodes of a job on
many nodes: with the failures below it fits the hours of the runs that publish an MFU best in the
median (published_runs.csv, 2018-2024). Those whose hours are counted from the calendar used
7-35 % more than their MFU says, those counted from step times nothing."""
CALENDAR_SHARE = 0.93
"""The same beside what a team loses on any number of nodes: the nine published runs
whose hours are counted from the calendar used 7-35 % more than their MFU says, 18 % in the median
(published_runs.csv, 2021-2024)."""
SPOT_BANDS = ((0.0, 0.05), (0.05, 0.1), (0.1, 0.15), (0.15, 0.2), (0.2, 1.0))
"""Shares of machines taken back within a month, as spot advisors band them (AWS Spot Instance
Advisor, 2024)."""


def daly_interval(save: float, mtbf: float) -> float:
    """Daly's refinement: τ = √(2 δ M) · (1 + ⅓ √(δ/2M) + δ/18M) − δ for δ < 2M, else M, h.

    Daly, Future Generation Computer Systems 22, 2006.

    >>> round(daly_interval(0.1, 20), 3)
    1.934
    >>> daly_interval(3, 1)
    1
    """
    if save >= 2 * mtbf:
        return mtbf
    ratio = save / (2 * mtbf)
    return math.sqrt(2 * save * mtbf) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - save


def overhead(mtbf: float, save: float = CHECKPOINT_HOURS, restart: float = RESTART_HOURS) -> float:
    """Share of time lost to saving and to redoing work: δ/τ + (τ/2 + R)/M, at most 0.95."""
    if math.isinf(mtbf):
        return 0.0
    interval = max(daly_interval(save, mtbf), save)
    saving = save / interval if interval else 0.0  # a save that takes no time is made all the time
    return min(0.95, saving + (interval / 2 + restart) / mtbf)


def job_mtbf(accelerators: float) -> float:
    """Mean time between failures of a job on n accelerators: device hours / n, h."""
    return DEVICE_HOURS_PER_FAILURE / max(1.0, accelerators)


@lru_cache(maxsize=4096)
def estimate_goodput(
    accelerators: float, operations_share: float = OPERATIONS_SHARE, save: float = CHECKPOINT_HOURS
) -> float:
    """Share of accelerator-hours that make progress, where nothing was measured.

    Operations take 5 % (or what `operations_share` leaves) of a job on many nodes and nothing of
    one node, in between by the logarithm; failures take what Daly's interval leaves of them.
    """
    spread = min(1.0, math.log(max(accelerators, ONE_NODE) / ONE_NODE) / math.log(16))
    operations = 1 - (1 - operations_share) * spread
    return operations * (1 - overhead(job_mtbf(accelerators), save))


def goodput_by_band(accelerators: float) -> dict[str, float]:
    """Useful share of a spot hour of a job on n accelerators in nodes of 8, by advisor band."""
    nodes = math.ceil(accelerators / ONE_NODE)
    bands = (InterruptionBand("", "", "", low, high, "") for low, high in SPOT_BANDS)
    return {
        f"{band.low:.0%} to {band.high:.0%}" if band.high < 1 else f"above {band.low:.0%}": (
            spot_goodput(band.interruptions_per_month, nodes)
        )
        for band in bands
    }


def spot_goodput(
    interruptions_per_month: float,
    nodes: float = 1.0,
    save: float = CHECKPOINT_HOURS,
    restart: float = RESTART_HOURS,
) -> float:
    """Useful share of a spot hour: 1 − overhead at M = 730 / (interruptions · nodes).

    A job over several nodes stops when any of them is taken back.
    """
    rate = interruptions_per_month * max(1.0, nodes)
    return 1.0 if rate <= 0 else 1.0 - overhead(HOURS_PER_MONTH / rate, save, restart)


SAVED_BYTES_PER_S = CHECKPOINT_GIB_PER_NODE_SECOND * 2**30 / ONE_NODE
"""Bytes/s that one accelerator writes: BLOOM's 0.16 GB/s; the storage of Llama 3 sustains 2 TB/s
for 16,384, 0.12 GB/s each (arXiv 2407.21783 section 3.3.1, 2024)."""


def saving_hours(states: StateBytes, accelerators: int) -> float:
    """Hours in which a job of n accelerators saves weights and optimizer of what it trains."""
    saved = states.trained * (states.weights + states.optimizer)
    return saved / (accelerators * SAVED_BYTES_PER_S) / 3600


def usual_goodput(states: StateBytes, accelerators: int) -> float:
    """Useful share of the hours of a job on n accelerators, where nothing was measured."""
    save = saving_hours(states, accelerators)
    return estimate_goodput(accelerators, CALENDAR_SHARE, save)


def goodput_of(training: Training, states: StateBytes, accelerators: int) -> tuple[float, str]:
    """The same as given, or as estimated, with where it is from."""
    if training.goodput:
        return training.goodput, "given"
    if training.measured_accelerator_hours or training.mfu_of == "run":
        return 1.0, "lost time is in the rate given"
    saved = ""
    saved = f" of checkpoints that take {3600 * saving_hours(states, accelerators):,.3g} s"
    return usual_goodput(states, accelerators), (
        "failures at 50,700 accelerator-hours each (Llama 3, 2024) with Daly's checkpoint "
        f"interval{saved}, and 8% for operations of many nodes"
    )


START_HOURS = 0.02
"""h from the start of a job to its first step, on every accelerator: processes, data, compilation;
planning value of this project, 2026."""
LOADED_BYTES_PER_S = 2e9
"""Bytes/s at which a node reads weights to start from; planning value of this project, 2026."""


def start_hours(training: Training) -> float:
    """Hours before the first step: processes, compilation, weights that fine-tuning reads."""
    reads = 2 * training.parameters if stage_of(training) == FINE_TUNING else 0.0
    return START_HOURS + reads / LOADED_BYTES_PER_S / 3600


def energy_kwh(one: Accelerator, accelerator_hours: float) -> float | None:
    """Energy of the servers, the data centre's overhead (PUE) not in it: H · TDP · what servers at
    work were measured to draw over it; None where the TDP is not known."""
    if one.tdp_w is None:
        return None
    of_boards = accelerator_hours * one.tdp_w / 1000
    shares = fitted()["power_share"]
    return of_boards * float(shares.get(one.slug, shares["usual"]))
