"""Which precisions an accelerator trains at. PURE."""

from __future__ import annotations

from functools import cache

from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get

TRAINING_PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8")
"""Precisions that a request may ask for (`workload.Precision`), 2026."""


def supported_precisions(one: Accelerator) -> tuple[str, ...]:
    """Precisions whose dense rate is known.

    >>> supported_precisions(get("nvidia-t4"))
    ('fp32', 'fp16')
    """
    return _precisions(one.slug)


def check_precision(precision: str, one: Accelerator) -> None:
    """Refuses, on `precision`, one that the accelerator lacks."""
    if precision not in supported_precisions(one):
        allowed = ", ".join(supported_precisions(one)) or "none, no rate is known"
        raise InvalidInput(
            "precision", f"{one.slug} has no {precision}; allowed there are {allowed}"
        )


@cache
def _precisions(slug: str) -> tuple[str, ...]:
    """By slug, which hashes faster than the whole datasheet."""
    one = get(slug)
    return tuple(p for p in TRAINING_PRECISIONS if one.dense_tflops(p))
