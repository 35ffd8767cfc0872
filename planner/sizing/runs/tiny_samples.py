"""Samples of far fewer FLOPs than those of any published run. PURE."""

from __future__ import annotations

from functools import cache

from planner.contract.request.workload import Samples
from planner.sizing.evidence.sample_runs import sample_runs
from planner.sizing.performance.beyond_published import FAR, ROUGH_GUESS

TINY_RULES = 6
"""Edition of the rules from which they are named, 2026."""


def warn_tiny(workload: Samples, rules: int) -> tuple[str, ...]:
    """That the time of a sample is that of reading an image, which a row of a table is not.

    >>> clicks = Samples(kind="samples", samples=4e9, epochs=1, forward_gflops_per_sample=0.005)
    >>> warn_tiny(clicks, 6)[0][:52]
    '0.005 GFLOP a sample are 48 times fewer than in any '
    """
    gflops = workload.forward_gflops_per_sample
    is_measured = workload.samples_per_second is not None or workload.benchmark is not None
    if rules < TINY_RULES or gflops is None or is_measured:
        return ()
    least, run = _least(rules)
    if gflops * FAR >= least:
        return ()
    return (
        f"{gflops:.3g} GFLOP a sample are {float(f'{least / gflops:.2g}'):,g} times fewer than in "
        f"any published run on samples ({run}: {least:.2g}): almost all of the hours go to "
        "reading an image, and recommendation, tabular or signal models may take a hundredth of "
        f"them; {ROUGH_GUESS}; a rate measured in a pilot settles it",
    )


@cache
def _least(rules: int) -> tuple[float, str]:
    """The fewest FLOPs of a sample of the published runs, 1e9, and the run."""
    known = [(run.forward_flops, run.run) for run in sample_runs(rules) if run.forward_flops]
    flops, name = min(known)
    return flops / 1e9, name
