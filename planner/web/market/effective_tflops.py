"""What an accelerator sustains in training: the rate by which prices are held together."""

from __future__ import annotations

from functools import lru_cache

from planner.sizing.performance.throughput import SMALLEST_CLUSTER, sustained_mfu
from pricing.market.accelerators import Accelerator, get

PRECISIONS = ("bf16", "fp16", "fp32")
"""In the order in which training uses them."""


def effective_tflops(one: Accelerator) -> float | None:
    """Dense TFLOP/s × the calibrated MFU within one node; None where no rate is known.

    >>> round(effective_tflops(get("nvidia-a100-80gb-sxm")) or 0) in range(120, 210)
    True
    """
    return _effective(one.slug)


@lru_cache(maxsize=256)
def _effective(slug: str) -> float | None:
    one = get(slug)
    for precision in PRECISIONS:
        dense = one.dense_tflops(precision)
        if dense:
            return dense * sustained_mfu(one, precision, SMALLEST_CLUSTER)
    return None
