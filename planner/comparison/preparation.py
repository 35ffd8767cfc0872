"""From a request and a catalog to what the optimiser needs, each step computed once. PURE."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from planner.contract.amounts import FiscalYears, next_month
from planner.contract.copies import cached_property, replace
from planner.contract.labels import cloud_title, join_place, name_region
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.rules import NOWHERE, PlanRules, limit_places, resolve_rules
from planner.costing.assumptions import cloud_support
from planner.costing.assumptions.assumptions import Assumptions, lead_months
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.rental import list_on_demand
from planner.costing.cost_model.spend_pools import read_pools
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.checks import (
    check_contract,
    check_fiscal_years,
    check_minimum_duration,
    check_names,
    check_providers,
    check_quotes,
    check_server_life,
)
from planner.costing.inputs.eligible_offers import OfferSelection, build_custom_offer_table
from planner.costing.inputs.exclusions import cover_request
from planner.costing.inputs.existing import ExistingContracts, SupplyLimits
from planner.costing.inputs.job_nodes import JobNodes
from planner.costing.inputs.servers import ServerSelection, select_servers
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import CapitalBudget
from planner.sizing.demand import Demand, compute_demand, with_equivalents
from planner.sizing.runs.run_size import hours_kept_in
from pricing.market.accelerators import resolve_all
from pricing.market.coverage import CoverageRow
from pricing.market.offer_table import OfferTable
from pricing.market.snapshot import Catalog


@dataclass(frozen=True)
class Preparation:
    """Assumptions, calendar, demand, offers and servers of one comparison."""

    request: ComparisonRequest
    catalog: Catalog
    today: dt.date
    is_on_average: bool = False
    """Whether machines are enough for deadlines on average, not with the certainty asked for."""
    shares_quotas: ClassVar[bool] = False
    """Whether other work uses its quotas."""

    def check(self) -> None:
        """Raises `InvalidInput` where the fields of a request do not go together."""
        check_names(self.request, self.catalog)
        check_providers(self.request, self.catalog)
        check_quotes(self.request, self.today)
        check_server_life(self.request, self.assumptions)
        check_contract(self.request, self.assumptions)
        check_fiscal_years(self.request)
        check_minimum_duration(self.demand)

    @cached_property
    def units_per_usd(self) -> float:
        """Units of the request's currency in a US dollar."""
        if (own := self.request.exchange_rates.get(self.request.currency)) is not None:
            return own.units_per_usd
        rate = self.catalog.exchange_rates.find(self.request.currency, field="currency")
        return float(rate.units_per_usd)

    def name_place(self, provider: str, region: str) -> str:
        """What people call a place: "AWS Europe (Spain)"."""
        names = [provider, self.name_region(provider, region)]
        named = [name for name in names if name != NOWHERE]
        return join_place(*named) if len(named) > 1 else "".join(map(cloud_title, named))

    def name_region(self, provider: str, region: str) -> str:
        """What people call a region: "Europe (Spain)"."""
        place = self.catalog.regions.get((provider, region))
        return name_region(region, place.name, place.city) if place else name_region(region)

    @cached_property
    def rules(self) -> PlanRules:
        """What plans may choose from, and what a commitment costs."""
        return resolve_rules(self.request)

    @cached_property
    def assumptions(self) -> Assumptions:
        return Assumptions.from_request(self.request, self.units_per_usd)

    @cached_property
    def calendar(self) -> Calendar:
        return Calendar(
            start=self.start,
            months=self.request.horizon_months,
            discount_rate_per_year=self.assumptions["discount_rate_per_year"],
            beyond_months=self._longest_term() if self.rules.term_end == "full" else 0,
            tax_rate=self.assumptions["tax_rate"],
            cash_timing=self.request.finance.cash_timing,
            payment_terms_days=self.request.finance.payment_terms_days,
            upfront_deduction_spread=self.assumptions["upfront_deduction_spread"],
            smallest_cents=self.rules.smallest_cents,
        )

    def _longest_term(self) -> int:
        listed = self.catalog.offers.term_months if self.request.use_catalog else np.zeros(0)
        own = [offer.term_months or 0 for offer in self.request.custom_offers]
        ends = self.existing.last_month(self.start) - self.request.horizon_months
        on_prem = self.request.on_prem
        contracts = [on_prem.financing, *(s.financing for s in on_prem.servers or ())]
        longest = max(contract.months or 0 for contract in contracts if contract)
        signed = longest + self._longest_wait() if longest else 0
        return int(max([int(listed.max(initial=0)), *own, signed, ends]))

    @property
    def start(self) -> dt.date:
        return self.request.start or next_month(self.today)

    def _longest_wait(self) -> int:
        of_all = [lead_months(self.assumptions, comes_from_stock=b) for b in (False, True)]
        servers = self.request.on_prem.servers or ()
        delays = [s.late_delivery.certain_months for s in servers if s.late_delivery]
        delay = max(delays, default=0.0)
        if self.request.on_prem.late_delivery_probability == 1.0:
            delay = max(delay, self.assumptions["late_delivery_months"])
        return max(*of_all, *(s.lead_time_months or 0 for s in servers)) + round(delay)

    @cached_property
    def contracts(self) -> ExistingContracts:
        """What is signed already, with the servers that are on lease."""
        return replace(self.existing, leases=self.all_servers.leased)

    @property
    def existing(self) -> ExistingContracts:
        """The same without their servers, which depend on the calendar."""
        signed = self.request.existing
        return ExistingContracts(
            signed.commitments,
            term_end=self.rules.term_end,
            places=limit_places(self.request, self.catalog.regions),
            ends=(*(c.ends for c in signed.commitments), *(s.ends for s in signed.leased_servers)),
        )

    @cached_property
    def all_servers(self) -> ServerSelection:
        return select_servers(self.request, self.calendar, self.units_per_usd, self.assumptions)

    @cached_property
    def demand(self) -> Demand:
        """Demand of the work on the accelerators that the rules admit."""
        demand = self.laid_out
        nodes = JobNodes(self.rules, demand.candidates, demand.run_width)
        reasons = {c.accelerator: nodes.lacks_link(c) for c in demand.candidates}
        reasons = {slug: reason for slug, reason in reasons.items() if reason}
        if not reasons:
            return demand
        return replace(
            demand,
            candidates=tuple(c for c in demand.candidates if c.accelerator not in reasons),
            excluded={**demand.excluded, **reasons},
        )

    @cached_property
    def laid_out(self) -> Demand:
        """Demand of the work on the accelerators that the request admits."""
        wanted, limit = self._wanted(), self._limit()
        demand = self.size_work(wanted)
        if wanted is not None and self.request.workload.accelerator is not None:
            demand = with_equivalents(demand, wanted)
        if limit is None:
            return demand
        admitted = tuple(c for c in demand.candidates if c.accelerator in limit)
        return replace(demand, candidates=admitted)

    def size_work(self, wanted: Sequence[str] | None) -> Demand:
        """Demand of the work in the months of the plan."""
        calendar = self.calendar
        work, months = self.request.workload, calendar.months
        return compute_demand(work, calendar.start, months, wanted, self.certainty)

    @property
    def certainty(self) -> float | None:
        """Share of outcomes in which the machines asked for keep deadlines; None: on average."""
        return None if self.is_on_average else self.assumptions["certainty"]

    def _limit(self) -> frozenset[str] | None:
        names = self.request.constraints.accelerators
        if names is None:
            return None
        return frozenset(
            one.slug
            for i, name in enumerate(names)
            for one in resolve_all(name, f"constraints.accelerators.{i}")
        )

    def _wanted(self) -> list[str] | None:
        limit = self._limit()
        if self.request.workload.accelerator is None:
            return None if limit is None else sorted(limit)
        members = resolve_all(self.request.workload.accelerator, "workload.accelerator")
        named = {self.custom.offer(i).accelerator for i in range(len(self.custom))}
        if self.request.on_prem.servers is not None:
            named |= self.all_servers.accelerators
        named |= {server.accelerator for server, _ in self.all_servers.owned}
        named |= self.contracts.accelerators
        return sorted({one.slug for one in members} | (limit if limit is not None else named))

    @cached_property
    def custom(self) -> OfferTable:
        """The request's own prices, in its order."""
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
            shares_quotas=self.shares_quotas,
        )

    @cached_property
    def servers(self) -> ServerSelection:
        return self.all_servers.filter_fitting(
            self.offers.job_nodes, self.request.constraints, self.rules.consumer_in_datacentre
        ).without_long_leases(self.calendar, self.assumptions)

    @cached_property
    def coverage(self) -> tuple[CoverageRow, ...]:
        """What is known of the prices that the request asks for."""
        return cover_request(self.offers)

    @cached_property
    def rentals(self) -> tuple[CapacitySource, ...]:
        """Offers that matter, before their charges."""
        return tuple(self.offers.rentals())

    @cached_property
    def priced_assumptions(self) -> Assumptions:
        """The assumptions, with what a named support plan takes of the bill."""
        finance = self.request.finance
        if finance.cloud_support_plan is None or finance.cloud_support_rate is not None:
            return self.assumptions
        plan = cloud_support.get(finance.cloud_support_plan)
        hourly = list_on_demand(self.rentals)
        price = min((r.price_per_hour / r.capacity for r in hourly), default=0.0)
        bill = price * float(np.mean(self.demand.hours_per_month)) / self.units_per_usd
        source = f"request: {plan.label} at a bill of {bill:,.0f} USD a month; {plan.source}"
        return self.assumptions.with_support_rate(plan.rate(bill), source)

    def _capital_budgets(self) -> Iterator[CapitalBudget]:
        years = FiscalYears(self.calendar.start, self.request.finance.fiscal_year_start_month)
        for budget in self.request.constraints.capex_by_fiscal_year:
            first, last = years.months_of(budget.fiscal_year)
            first, last = max(first, 0), min(last, self.calendar.months)
            if first < last:
                name = f"capex_by_fiscal_year {budget.fiscal_year}"
                yield CapitalBudget(name, budget.amount, first, last)

    @cached_property
    def windows(self) -> tuple[tuple[slice, dt.date, bool], ...]:
        """Months in which work has to be done, the last of them, and whether it is a deadline."""
        calendar, busy = self.calendar, np.flatnonzero(self.demand.hours_per_month)
        dated = tuple(
            (slice(calendar.index(run.start), calendar.index(run.deadline) + 1), run.deadline, True)
            for run in self.demand.runs
            if run.deadline is not None
        )
        if dated or not busy.size:
            return dated
        spans = [(int(busy[0]), int(busy[-1]))]
        if self.request.workload.kind == "serving":  # requests do not wait
            spans = [(month, month) for month in busy.tolist()]
        return tuple((slice(first, last + 1), calendar.month(last), False) for first, last in spans)

    def _least_peaks(self) -> dict[str, tuple[float, ...]]:
        runs, peak = np.array(self.demand.runs_at_once), self.demand.peak_accelerators
        sizes, throughput = self.offers.job_nodes.job_sizes, self.offers.throughput
        least = {kind: runs * sizes.get(kind, 1) * r for kind, r in throughput.items()}
        return {
            kind: tuple(row.tolist()) for kind, row in least.items() if (row > peak + 1e-9).any()
        }

    def _spare_hours(self) -> dict[str, tuple[float, ...]]:
        share, calendar = self.certainty, self.calendar
        due = [run for run in self.demand.runs if run.deadline is not None]
        if share is None or not due:
            return {}
        is_due = np.zeros(calendar.months, dtype=bool)
        for run in due:
            is_due[calendar.index(run.start) : calendar.index(run.deadline or run.start) + 1] = True
        spare = {
            kind: max(hours_kept_in(size.range_p10_p90, share) for size in sizes)
            for kind, sizes in self.demand.sizes.items()
        }
        return {k: tuple(np.where(is_due, f, 1.0).tolist()) for k, f in spare.items()}

    @cached_property
    def inputs(self) -> ModelInputs:
        """What every plan is made from."""
        limits = self.request.constraints
        return ModelInputs(
            rentals=self.rentals,
            servers=self.servers,
            throughput=self.offers.throughput,
            assumptions=self.priced_assumptions,
            calendar=self.calendar,
            hours=self.demand.hours_per_month,
            peak=self.demand.peak_accelerators,
            data=self.offers.data,
            term_end=self.rules.term_end,
            whole_nodes=self.rules.whole_nodes,
            is_level=self.demand.is_level,
            replica=self.demand.replica,
            interruptible=self.rules.interruptible,
            one_accelerator=self.rules.one_accelerator,
            one_machine=self.rules.one_machine,
            least_peaks=(
                self._least_peaks() if self.rules.is_sized and self.rules.one_accelerator else None
            ),
            beyond_peak={
                kind: max(size.beyond_peak for size in sizes)
                for kind, sizes in self.demand.sizes.items()
            },
            fills_machines=self.offers.job_nodes.fills_machines,
            spare_hours=self._spare_hours(),
            coverage=self.coverage,
            job_sizes=self.offers.job_nodes.job_sizes,
            packed_sizes=self.offers.job_nodes.packed_sizes,
            quotas=self.offers.stated_quotas.quotas,
            supply=SupplyLimits.read(limits),
            max_spot_share=1.0 if limits.max_spot_share is None else limits.max_spot_share,
            existing=self.contracts,
            pools=read_pools(self.request.existing, self.calendar),
            other_costs=self.request.other_costs,
            capex_budget=limits.capex_budget,
            capex_by_period=tuple(self._capital_budgets()),
            monthly_budget=limits.monthly_budget,
            total_budget=limits.total_budget,
            windows=tuple(months for months, _, _ in self.windows),
        )
