"""What a larger cluster costs: the same code measured on few and on many accelerators. PURE."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("cluster_scaling.csv")
ONE_NODE = 8
"""Accelerators up to which a job stays in one node (HGX and DGX, NVIDIA, 2017-2025)."""


@cache
def cluster_slope() -> float:
    """Change of ln rate of one accelerator with ln of their number: mean of the table, where the
    same code ran on 8 and on 128.

    >>> -0.02 < cluster_slope() < 0
    True
    """
    with _TABLE.open(newline="", encoding="utf-8") as lines:
        slopes = [
            math.log(float(row["speed_of_one"])) / math.log(int(row["large"]) / int(row["small"]))
            for row in csv.DictReader(lines)
        ]
    return sum(slopes) / len(slopes)


def cluster_share(accelerators: float) -> float:
    """Rate of one accelerator among n over its rate in one node.

    >>> cluster_share(8), 0.97 < cluster_share(128) < 1
    (1.0, True)
    """
    return math.exp(cluster_slope() * math.log(max(accelerators, ONE_NODE) / ONE_NODE))
