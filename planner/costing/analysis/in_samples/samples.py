"""Some samples of one slip, and what moves the costs of plans in them. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.in_samples.planned_units import Cohort
from planner.costing.analysis.monte_carlo import shift_months
from planner.costing.analysis.outcomes import Outcomes
from planner.costing.analysis.rent_mix import RentPart, hours_at_peak
from planner.costing.cost_model.server import ServerToBuy
from pricing.market.offers import HOURS_PER_MONTH

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Market:
    """What moves the costs of plans in the samples of one comparison."""

    hours: Floats
    """[T] reference accelerator-hours asked if all goes as expected."""
    peak: Floats
    drivers: Mapping[str, int]
    """source key → row of the prices of `Outcomes`."""
    max_spot_share: float
    spot_patience_hours: float
    servers: Mapping[str, ServerToBuy] = field(default_factory=dict)
    """Those whose price or delivery may be another than planned, by source key."""


@dataclass(frozen=True)
class Samples:
    """Some samples of one slip."""

    market: Market
    outcomes: Outcomes
    rows: slice
    slip: int
    demand: Floats
    """[n, T] hours asked."""
    at_peak: Floats
    """[T] or [n, T] hours at the peak."""

    @classmethod
    def of(cls, market: Market, outcomes: Outcomes, rows: slice, slip: int) -> Samples:
        """Those of some rows, which have one slip."""
        moved = shift_months(market.hours, slip)
        at_peak = shift_months(hours_at_peak(market.hours, market.peak), slip, keep_total=False)
        return cls(
            market=market,
            outcomes=outcomes,
            rows=rows,
            slip=slip,
            demand=outcomes.demand(rows) * moved,
            at_peak=stretch_peaks(at_peak, moved, outcomes, rows),
        )

    def at(self, peak: Floats) -> Samples:
        """The same with another peak."""
        moved = shift_months(self.market.hours, self.slip)
        at_peak = shift_months(hours_at_peak(self.market.hours, peak), self.slip, keep_total=False)
        return replace(self, at_peak=stretch_peaks(at_peak, moved, self.outcomes, self.rows))

    def price(self, key: str) -> Floats | None:
        """[n, T + 1] factor on the price of a source; None for one that nothing moves."""
        return self.outcomes.prices[self.market.drivers[key], self.rows] if key else None

    def quoted_price(self, key: str) -> Floats | None:
        """[n] factor on the price of a server for what sellers ask; None: 1."""
        server, normal = self.market.servers.get(key), self.outcomes.server_price
        if server is None or server.price_range is None or normal is None:
            return None
        return server.price_range.factors(normal[self.rows])

    def missing(self, cohort: Cohort, month: int) -> Floats | None:
        """[n, T] 1 in the months in which units ordered in `month` should serve and are not there
        yet; None where they come on time."""
        server, normal = self.market.servers.get(cohort.source.key), self.outcomes.delivery
        if server is None or server.delivery is None or normal is None:
            return None
        delays = server.delivery.delays(normal[self.rows])
        if not delays.any():
            return None
        assert cohort.source.term is not None
        first = month + cohort.source.term.lead_months
        at = np.arange(self.demand.shape[1])
        return np.where(at < first + delays[:, None], cohort.service(month), 0.0)

    def availability_factor(self, part: RentPart) -> Floats | None:
        """[n] factor on a price of a spot machine for what interruptions change; None: 1."""
        source, rows = part.source, self.rows
        if not source.is_spot:
            return None
        lost = self.outcomes.lost[rows]
        if source.availability is None:
            return lost
        patience = self.market.spot_patience_hours
        planned = source.availability.on_demand_share(patience)
        share = source.availability.on_demand_shares(
            self.outcomes.interruptions[rows], self.outcomes.waiting[rows], patience
        )
        if part.is_fallback:
            return share / planned
        return np.asarray(lost * (1.0 - share) / (1.0 - planned))


def stretch_peaks(at_peak: Floats, work: Floats, outcomes: Outcomes, rows: slice) -> Floats:
    """[T] hours that the peak lasts in samples; [n, T] where estimates of hours are unsure."""
    at_peak = np.where((work > 0) & (at_peak <= 0), float(HOURS_PER_MONTH), at_peak)
    if outcomes.level is None:
        return at_peak
    longest = np.maximum(at_peak, HOURS_PER_MONTH * (work > 0))
    stretched = outcomes.level[rows, None] * at_peak
    return np.asarray(np.minimum(stretched, longest))
