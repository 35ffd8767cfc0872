"""Useful share of a training's hours by what its checkpoints take. PURE.

    delta = T b / (n r)

T parameters trained, b bytes of weights and optimizer for each, n accelerators, each of which
writes r bytes a second: a larger job saves its states faster, since all of it writes at once.
"""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.layout.states import StateBytes
from planner.sizing.performance.goodput import (
    CALENDAR_SHARE,
    CHECKPOINT_GIB_PER_NODE_SECOND,
    CHECKPOINT_HOURS,
    SINGLE_NODE,
    estimate_goodput,
)

SAVING_RULES = 6
"""Edition of the rules from which the time to save a checkpoint follows from the states and the
accelerators that write them; before, it is that of BLOOM for every training, 2026."""
SAVED_BYTES_PER_S = CHECKPOINT_GIB_PER_NODE_SECOND * 2**30 / SINGLE_NODE
"""Bytes/s that one accelerator writes: BLOOM's 0.16 GB/s; the storage of Llama 3 sustains 2 TB/s
for 16,384, 0.12 GB/s each (arXiv 2407.21783 section 3.3.1, 2024)."""


def saving_hours(states: StateBytes, accelerators: int, rules: int) -> float:
    """Hours in which a job of n accelerators saves weights and optimizer of what it trains.

    >>> from planner.sizing.layout.states import state_bytes
    >>> bloom = state_bytes(Training(kind="training", parameters=176e9, tokens=1e9), "bf16")
    >>> round(3600 * saving_hours(bloom, 384, 6)), round(3600 * saving_hours(bloom, 384, 5))
    (40, 40)
    >>> round(3600 * saving_hours(bloom, 3840, 6), 1)
    4.0
    """
    if rules < SAVING_RULES:
        return CHECKPOINT_HOURS
    saved = states.trained * (states.weights + states.optimizer)
    return saved / (accelerators * SAVED_BYTES_PER_S) / 3600


def usual_goodput(states: StateBytes, accelerators: int, rules: int) -> float:
    """Useful share of the hours of a job on n accelerators, where nothing was measured."""
    save = saving_hours(states, accelerators, rules)
    return estimate_goodput(accelerators, CALENDAR_SHARE, save)


def goodput_of(
    training: Training, states: StateBytes, accelerators: int, rules: int
) -> tuple[float, str]:
    """The same as given, or as estimated, with where it is from."""
    if training.goodput:
        return training.goodput, "given"
    if training.measured_accelerator_hours or training.mfu_of == "run":
        return 1.0, "lost time is in the rate given"
    saved = ""
    if rules >= SAVING_RULES:
        saved = (
            f" of checkpoints that take {3600 * saving_hours(states, accelerators, rules):,.3g} s"
        )
    return usual_goodput(states, accelerators, rules), (
        "failures at 50,700 accelerator-hours each (Llama 3, 2024) with Daly's checkpoint "
        f"interval{saved}, and 8% for operations of many nodes"
    )
