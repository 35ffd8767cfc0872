"""What a request says of some offers: quotas that count them, discounts on them. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pricing.market.offer_table import OfferTable

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class QuotaRule:
    """Which offers a quota counts."""

    group: str
    provider: str
    region: str | None
    accelerator: str


@dataclass(frozen=True)
class Adjustment:
    """A contract discount on the catalog prices that match all that is given."""

    multiplier: float
    provider: str | None = None
    family: str | None = None
    region: str | None = None
    purchase_option: str | None = None


def multipliers(table: OfferTable, rows: Rows, adjustments: Sequence[Adjustment]) -> Floats:
    """[row] product of the adjustments for it."""
    total = np.ones(len(rows))
    for rule in adjustments:
        total[match_adjustment(table, rows, rule)] *= rule.multiplier
    return total


def match_adjustment(table: OfferTable, rows: Rows, rule: Adjustment) -> NDArray[np.bool_]:
    """[row] whether an adjustment is for it."""
    hit = np.ones(len(rows), dtype=bool)
    for column, name in (
        (table.provider, rule.provider),
        (table.region, rule.region),
        (table.purchase_option, rule.purchase_option),
    ):
        if name is not None:
            hit &= column.match_names([name])[column.codes[rows]]
    if rule.family is not None:
        names = [n for n in table.instance_type.names if belongs_to_family(n, rule.family)]
        hit &= table.instance_type.match_names(names)[table.instance_type.codes[rows]]
    return hit


def belongs_to_family(instance_type: str, family: str) -> bool:
    """Whether a machine belongs to a family: its name begins with it, up to a mark or a digit
    where the family ends in a letter.

    >>> belongs_to_family("p5.48xlarge", "p5"), belongs_to_family("p5en.48xlarge", "p5")
    (True, False)
    >>> belongs_to_family("ND96isr_H100_v5", "ND"), belongs_to_family("a3-highgpu-8g", "a3")
    (True, True)
    """
    name = instance_type.lower().removeprefix("standard_")
    start = family.lower().removeprefix("standard_")
    if not name.startswith(start):
        return False
    rest = name[len(start) :]
    return not rest or not rest[0].isalnum() or (start[-1:].isalpha() and rest[0].isdigit())


def quota_bits(table: OfferTable, rows: Rows, quotas: Iterable[QuotaRule]) -> NDArray[np.int64]:
    """[row] bit i is set where quota i counts it."""
    bits = np.zeros(len(rows), dtype=np.int64)
    for i, rule in enumerate(quotas):
        bits[match_quota(table, rows, rule)] |= 1 << i
    return bits


def match_quota(table: OfferTable, rows: Rows, rule: QuotaRule) -> NDArray[np.bool_]:
    """[row] whether a quota counts it."""
    hit = table.provider.match_names([rule.provider])[table.provider.codes[rows]]
    hit &= table.accelerator.match_names([rule.accelerator])[table.accelerator.codes[rows]]
    if rule.region is not None:
        hit &= table.region.match_names([rule.region])[table.region.codes[rows]]
    return np.asarray(hit)
