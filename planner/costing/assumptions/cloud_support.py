"""Support plans of the clouds: what each takes of a month's bill. PURE.

The bands of `cloud_support.csv` are cumulative, as those of an income tax; money is in USD a month.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from pricing.common.tables import group, read_rows

_TABLE = Path(__file__).with_name("cloud_support.csv")


@dataclass(frozen=True)
class SupportPlan:
    """One plan: what is due at least, and the share taken of each band of the bill."""

    label: str
    minimum_usd: float
    bands: tuple[tuple[float, float], ...]
    """Bill from which a band begins, USD a month, and its share."""
    source: str

    def charge(self, bill_usd: float) -> float:
        """max(minimum, Σ share · part of the bill in its band), USD a month.

        >>> get("aws_enterprise").charge(2_000_000)
        94500.0
        >>> get("gcp_premium").charge(50_000)
        15000.0
        """
        ends = [start for start, _ in self.bands[1:]] + [float("inf")]
        shares = zip(self.bands, ends, strict=True)
        by_band = [share * max(0.0, min(bill_usd, end) - start) for (start, share), end in shares]
        return max(self.minimum_usd, sum(by_band))

    def rate(self, bill_usd: float) -> float:
        """Charge over bill; 0 without a bill."""
        return self.charge(bill_usd) / bill_usd if bill_usd > 0 else 0.0


def get(plan: str) -> SupportPlan:
    """The plan of this key; `KeyError` if there is none."""
    return _table()[plan]


@cache
def _table() -> MappingProxyType[str, SupportPlan]:
    plans = {}
    for plan, rows in group([(row["plan"], row) for row in read_rows(_TABLE)]).items():
        bands = tuple((float(row["from_usd"]), float(row["rate"])) for row in rows)
        source = f"{rows[0]['source']} ({rows[0]['date']})"
        plans[plan] = SupportPlan(rows[0]["label"], float(rows[0]["minimum_usd"]), bands, source)
    return MappingProxyType(plans)
