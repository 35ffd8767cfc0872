"""How often spot machines are taken back: bands by machine and region. PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pricing.common.tables import read_table

TABLE = Path(__file__).parents[1] / "data" / "interruptions.csv"


@dataclass(frozen=True)
class InterruptionBand:
    """Between `low` and `high` of the machines are interrupted within a month."""

    provider: str
    region: str
    instance_type: str
    low: float
    high: float
    """1 where the provider gives no upper end ("above 20 %")."""
    source: str

    @property
    def interruptions_per_month(self) -> float:
        """λ = −ln(1 − f) at the middle f of the band; at its low end where it is open.

        >>> band = InterruptionBand("aws", "us-east-1", "p5.48xlarge", 0.1, 0.2, "")
        >>> round(band.interruptions_per_month, 4)
        0.1625
        """
        middle = self.low if self.high >= 1 else (self.low + self.high) / 2
        return -math.log1p(-middle)


def find_interruption_band(
    provider: str, region: str, instance_type: str
) -> InterruptionBand | None:
    return _bands_by_machine().get((provider, region, instance_type))


@cache
def _bands_by_machine() -> dict[tuple[str, str, str], InterruptionBand]:
    rows = read_table(TABLE, InterruptionBand)
    return {(one.provider, one.region, one.instance_type): one for one in rows}
