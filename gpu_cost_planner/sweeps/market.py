"""What all comparisons of a sweep are made with, and the row of each."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from gpu_cost_planner.sweeps.grid import Fields
from gpu_cost_planner.sweeps.summary import refuse, summarize
from gpu_cost_planner.version import read_version
from planner.comparison import compare
from planner.contract.answer.comparison import VERSION
from pricing.common.invalid_input import InvalidInput
from pricing.market.snapshot import Catalog

Row = dict[str, Any]


@dataclass(frozen=True)
class Market:
    """What all comparisons of a sweep are made with."""

    catalog: Catalog
    today: dt.date
    installed: ClassVar[list[Market]] = []
    """In a worker: that of its sweep."""

    def summarize(self, request: Fields) -> Row:
        """The row of a request, or of its refusal."""
        try:
            return summarize(compare(request, self.catalog, today=self.today))
        except InvalidInput as refusal:
            return refuse("; ".join(str(one) for one in refusal.all()))

    def install(self) -> None:
        """Make it the one of this process."""
        self.installed[:] = [self]

    def describe(self, request: Fields) -> str:
        """All that an answer depends on besides its request: prices, program, default start."""
        start = "" if request.get("start") else f"{self.today:%Y-%m}"
        return f"{VERSION} {read_version()} {start} {self._digest}"

    @cached_property
    def _digest(self) -> str:
        """SHA-256 of every price and of the rates that convert them."""
        offers = self.catalog.offers.offers
        prices = [(o.id, str(o.price_per_hour), str(o.upfront), o.sold_now) for o in offers]
        text = repr((prices, self.catalog.exchange_rates.latest))
        return hashlib.sha256(text.encode()).hexdigest()
