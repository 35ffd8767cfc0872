"""A small comparison, for the tests that ask what an answer holds."""

from __future__ import annotations

from typing import Any

from planner.comparison import Comparison, compare
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import CATALOG, TODAY, request_of


def compared(prices: Catalog = CATALOG, hours: Any = 4000, **fields: Any) -> Comparison:
    return compare(request_of(hours, **fields), prices, today=TODAY)
