"""Which precisions an accelerator trains at. PURE."""

from __future__ import annotations

from functools import cache

from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import Accelerator, get

TRAINING_PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8")
"""Precisions that a request may ask for (`workload.Precision`), 2026."""
CONSUMER_FP8_RULES = 6
"""Edition of the rules from which consumer cards compute in 8 bits (GeForce RTX 40 and 50, twice
the rate of 16 bits); no rate of theirs was known before, 2026."""


def supported_precisions(one: Accelerator, rules: int = CONSUMER_FP8_RULES) -> tuple[str, ...]:
    """Precisions whose dense rate is known under an edition of the rules.

    >>> supported_precisions(get("nvidia-t4"))
    ('fp32', 'fp16')
    >>> [supported_precisions(get("nvidia-rtx-4090"), rules)[-1] for rules in (5, 6)]
    ['fp16', 'fp8']
    """
    known = _precisions(one.slug)
    return known if knows_fp8(one, rules) else tuple(p for p in known if p != "fp8")


def knows_fp8(one: Accelerator, rules: int) -> bool:
    """Whether a rate in 8 bits counts under an edition of the rules, where the card has one."""
    return rules >= CONSUMER_FP8_RULES or one.accelerator_class != "consumer"


def dense_tflops(one: Accelerator, precision: str, rules: int) -> float | None:
    """Dense TFLOP/s of an accelerator as an edition of the rules knows it.

    >>> [dense_tflops(get("nvidia-rtx-4090"), "fp8", rules) for rules in (5, 6)]
    [None, 330.3]
    """
    return one.dense_tflops(precision) if precision != "fp8" or knows_fp8(one, rules) else None


def check_precision(precision: str, one: Accelerator, rules: int = CONSUMER_FP8_RULES) -> None:
    """Refuses, on `precision`, one that the accelerator lacks."""
    known = supported_precisions(one, rules)
    if precision not in known:
        allowed = ", ".join(known) or "none, no rate is known"
        raise InvalidInput(
            "precision", f"{one.name} has no {precision}; allowed there are {allowed}"
        )


@cache
def _precisions(slug: str) -> tuple[str, ...]:
    """By slug, which hashes faster than the whole datasheet."""
    one = get(slug)
    return tuple(p for p in TRAINING_PRECISIONS if one.dense_tflops(p))
