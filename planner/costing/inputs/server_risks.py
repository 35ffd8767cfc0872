"""How far prices and deliveries of the servers of a request may be from plan. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from planner.contract.months import number_month
from planner.contract.request.on_prem import Server
from planner.costing.assumptions import reference_servers as reference
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.assumptions.lead_time import LEAD_TIMES, lead_months
from planner.costing.cost_model.purchase_risk import (
    DatedPrice,
    DeliveryRisk,
    PriceRange,
    range_of_quotes,
)
from planner.costing.cost_model.server import ServerToBuy
from pricing.common.copies import replace

IN_THE_PLAN = 2
"""Edition from which the plan itself counts with a delay that is certain."""


@dataclass(frozen=True)
class ServerRisks:
    """The risks that a request states, and those that are assumed where it does not."""

    assumptions: Assumptions
    units_per_usd: float

    def add(self, server: ServerToBuy, requested: Server | None) -> ServerToBuy:
        """A server with the range of its price and of its delivery; `requested` is what the
        request says of it."""
        delivery = self._delivery(server, requested)
        server = replace(server, price_range=self._price_range(server, requested))
        months = 0 if delivery is None else delivery.certain_months
        if months and self.assumptions["delivery_edition"] >= IN_THE_PLAN:
            return self._wait_longer(server, months)
        return replace(server, delivery=delivery)

    def _wait_longer(self, server: ServerToBuy, months: int) -> ServerToBuy:
        """A server that certainly comes late: so much longer is its lead time, and nothing about
        its delivery is unsure."""
        own = server.assumptions(self.assumptions)
        lead = float(lead_months(own, comes_from_stock=server.comes_from_stock) + months)
        figures = dict(server.own_figures) | dict.fromkeys(LEAD_TIMES, lead)
        return replace(
            server, own_figures=tuple(figures.items()), certain_delay_months=months, delivery=None
        )

    def _price_range(self, server: ServerToBuy, requested: Server | None) -> PriceRange | None:
        if requested is not None and requested.quotes:
            own = [
                DatedPrice(one.unit_price, number_month(one.quoted.year, one.quoted.month))
                for one in requested.quotes
            ]
            return range_of_quotes(server.unit_price, own)
        spread = self.assumptions["server_price_spread"]
        if server.source == "request" or not spread:
            return None
        known = reference.get(server.reference).quotes if server.reference else ()
        seen = [DatedPrice(one.unit_price_usd * self.units_per_usd, one.months) for one in known]
        return range_of_quotes(server.unit_price, seen) or PriceRange(1.0 - spread, 1.0 + spread)

    def _delivery(self, server: ServerToBuy, requested: Server | None) -> DeliveryRisk | None:
        own = None if requested is None else requested.late_delivery
        if own is not None:
            if own.months is not None:
                return DeliveryRisk(own.months, own.probability)
            return DeliveryRisk(own.p90_months or 0.0, least_months=own.p10_months or 0.0)
        is_stated = self.assumptions.is_from_request
        is_agreed = is_stated("lead_time_months") or (
            requested is not None and requested.lead_time_months is not None
        )
        if not is_stated("late_delivery_probability") and (is_agreed or server.comes_from_stock):
            return None
        chance = self.assumptions["late_delivery_probability"]
        months = self.assumptions["late_delivery_months"]
        return DeliveryRisk(months, chance) if chance and months else None
