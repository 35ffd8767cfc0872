"""What an offer of another cloud has to be, and how a test writes it down."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.pricing.servers.base import Request

Answer = Callable[[Request], Any]
H100, A100 = "nvidia-h100-80gb-sxm", "nvidia-a100-80gb-sxm"


@dataclass(frozen=True)
class Truth:
    """One offer that has to come, its price for the whole machine and hour."""

    region: str
    machine: str
    accelerator: str
    count: Fraction
    price: str
    option: str = "on_demand"
    currency: str = "USD"
    sold_now: bool = True


def truth_of(*rows: tuple[Any, ...], **fields: Any) -> tuple[Truth, ...]:
    return tuple(Truth(r[0], r[1], r[2], Fraction(r[3]), r[4], *r[5:], **fields) for r in rows)
