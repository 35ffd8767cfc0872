"""From a request and a catalog to what the optimiser needs, each step computed once. PURE."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from planner.contract.months import next_month
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import PlanRules, resolve_rules
from planner.costing.assumptions.assumptions import (
    Assumptions,
    PreviousAssumptions,
)
from planner.costing.cost_model.charges import Calendar
from planner.costing.inputs.checks import (
    check_minimum_duration,
    check_names,
    check_server_life,
)
from planner.costing.inputs.custom_offers import build_custom_offer_table
from planner.costing.inputs.eligible_offers import OfferSelection
from planner.costing.inputs.servers import ServerSelection, select_servers
from planner.costing.model_inputs import ModelInputs
from planner.sizing.demand import Demand, compute_demand
from planner.sizing.equivalents import with_equivalents
from pricing.market.accelerators import resolve
from pricing.market.snapshot import Catalog


@dataclass(frozen=True)
class Preparation:
    """Assumptions, calendar, demand, offers and servers of one comparison."""

    request: ComparisonRequest
    catalog: Catalog
    today: dt.date
    previous_assumptions: PreviousAssumptions

    def check(self) -> None:
        """Raises `InvalidInput` where the fields of a request do not go together."""
        check_names(self.request, self.catalog)
        check_server_life(self.assumptions)
        check_minimum_duration(self.request, self.demand)

    @cached_property
    def units_per_usd(self) -> float:
        """Units of the request's currency in a US dollar."""
        request_rate = self.request.exchange_rates.get(self.request.currency)
        if request_rate is not None:
            return request_rate.units_per_usd
        rate = self.catalog.exchange_rates.find(self.request.currency, field="currency")
        return float(rate.units_per_usd)

    @cached_property
    def rules(self) -> PlanRules:
        """What plans may choose from, and what a commitment costs."""
        return resolve_rules(self.request)

    @cached_property
    def assumptions(self) -> Assumptions:
        return Assumptions.from_request(self.request, self.units_per_usd, self.previous_assumptions)

    @cached_property
    def calendar(self) -> Calendar:
        return Calendar(
            start=self.request.start or next_month(self.today),
            months=self.request.horizon_months,
            discount_rate_per_year=self.assumptions["discount_rate_per_year"],
            beyond_months=self._longest_term() if self.rules.term_end == "full" else 0,
            tax_rate=self.assumptions["tax_rate"],
        )

    def _longest_term(self) -> int:
        listed = self.catalog.offers.term_months if self.request.use_catalog else np.zeros(0)
        own = [offer.term_months or 0 for offer in self.request.custom_offers]
        return int(max([int(listed.max(initial=0)), *own]))

    @cached_property
    def all_servers(self) -> ServerSelection:
        return select_servers(self.request, self.calendar, self.units_per_usd)

    @cached_property
    def demand(self) -> Demand:
        wanted = self._wanted()
        demand = compute_demand(
            self.request.workload, self.calendar.start, self.calendar.months, wanted
        )
        if wanted is not None and self._own_accelerator is not None:
            demand = with_equivalents(demand, wanted)
        limits = self._limit()
        if limits is None:
            return demand
        candidates = tuple(c for c in demand.candidates if c.accelerator in limits)
        return replace(demand, candidates=candidates)

    def _limit(self) -> frozenset[str] | None:
        """Accelerators that the request admits, None if it admits all."""
        names = self.request.constraints.accelerators
        if names is None:
            return None
        return frozenset(
            resolve(name, f"constraints.accelerators.{i}").slug for i, name in enumerate(names)
        )

    @property
    def _own_accelerator(self) -> str | None:
        """The accelerator that the workload itself names."""
        return self.request.workload.accelerator

    def _wanted(self) -> list[str] | None:
        """Accelerators to size for: the request's own, and those of servers and offers that it
        names; None for every one that fits."""
        limit = self._limit()
        if self._own_accelerator is None:
            return None if limit is None else sorted(limit)
        reference = resolve(self._own_accelerator, "workload.accelerator").slug
        named = {self.custom.offer(i).accelerator for i in range(len(self.custom))}
        if self.request.on_prem.servers is not None:
            named |= self.all_servers.accelerators
        named |= {server.accelerator for server, _ in self.all_servers.owned}
        return sorted({reference} | (limit if limit is not None else named))

    @cached_property
    def custom(self) -> Any:
        return build_custom_offer_table(self.request.custom_offers)

    @cached_property
    def offers(self) -> OfferSelection:
        return OfferSelection(
            request=self.request,
            catalog=self.catalog,
            demand=self.demand,
            assumptions=self.assumptions,
            calendar=self.calendar,
            units_per_usd=self.units_per_usd,
            custom=self.custom,
            rules=self.rules,
        )

    @cached_property
    def servers(self) -> ServerSelection:
        return self.all_servers.filter_fitting(
            self.offers.min_node_accelerators, self.request.constraints
        )

    @cached_property
    def inputs(self) -> ModelInputs:
        """What every plan is made from."""
        limits = self.request.constraints
        share = limits.max_spot_share
        return ModelInputs(
            rentals=tuple(self.offers.rentals()),
            servers=self.servers,
            throughput=self.offers.throughput,
            assumptions=self.assumptions,
            calendar=self.calendar,
            hours=self.demand.hours_per_month,
            peak=self.demand.peak_accelerators,
            data=self.offers.data,
            term_end=self.rules.term_end,
            whole_nodes=self.rules.whole_nodes,
            interruptible=self.rules.interruptible,
            job_sizes=self.offers.job_sizes,
            quotas=self.offers.quotas,
            max_spot_share=1.0 if share is None else share,
            capex_budget=limits.capex_budget,
            monthly_budget=limits.monthly_budget,
        )
