"""The only way to an answer: `compare(request, catalog)`, the same behind every door.

No figure depends on the day it is asked, the order of offers or the number of cores; only the
ages of prices are counted from `today`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from planner.contract.request.comparison import ComparisonRequest, read_request
from planner.costing.advice.explanation import Explanation, explain, list_purchases
from planner.costing.advice.verdict import Recommendation, recommend
from planner.costing.advice.warnings import (
    collect_warnings,
    warn_beyond_horizon,
    warn_without_deadline,
)
from planner.costing.analysis.break_even import (
    BreakEven,
    CostLine,
    build_cost_lines,
    compute_break_even,
    find_best_rents,
)
from planner.costing.analysis.carbon import Energy, GridCarbon, calculate_energy
from planner.costing.analysis.monte_carlo import (
    RiskParameters,
    RiskResult,
    assess_risk,
    build_risk_parameters,
)
from planner.costing.analysis.robust_plan import RobustPlan, find_robust_plan
from planner.costing.analysis.sensitivity import TornadoBar, one_way_sensitivity
from planner.costing.assumptions.assumptions import (
    Assumptions,
    PreviousAssumptions,
    read_previous_assumptions,
)
from planner.costing.cost_model.capacity_source import OWNED, CapacitySource
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
from planner.costing.results.scenario_result import Scenario, ScenarioKey
from planner.costing.scenarios import OPTIONS, SPOT, solve_scenarios
from planner.sizing.demand import Demand, compute_demand
from planner.sizing.equivalents import with_equivalents
from pricing.market.accelerators import resolve
from pricing.market.offers import PurchaseOption
from pricing.market.snapshot import Catalog


@dataclass(frozen=True)
class Comparison:
    """A request with its answer; `as_dict` is what every door gives."""

    request: ComparisonRequest
    catalog: Catalog
    today: dt.date
    terms: Assumptions
    demand: Demand
    inputs: ModelInputs
    fleet: ServerSelection
    scenarios: Mapping[ScenarioKey, Scenario]
    break_even: tuple[BreakEven, ...]
    cost_lines: tuple[CostLine, ...]
    recommendation: Recommendation
    warnings: tuple[str, ...] = ()
    units_per_usd: float = 1.0

    @property
    def calendar(self) -> Calendar:
        """Months of the plan."""
        return self.inputs.calendar

    @cached_property
    def spread(self) -> RiskParameters | None:
        """How far things may go from plan, where the request asks for the risk."""
        if self.request.risk is None:
            return None
        return build_risk_parameters(self.request.risk, self.terms, self.demand.range_p10_p90)

    @cached_property
    def risk(self) -> RiskResult | None:
        """The scenarios over many futures, where the request asks for it."""
        return (
            None if self.spread is None else assess_risk(self.scenarios, self.inputs, self.spread)
        )

    @cached_property
    def robust(self) -> RobustPlan | None:
        """The plan that is best over the futures, where the request asks for it."""
        weight = self.request.risk.tail_weight if self.request.risk else None
        if weight is None or self.spread is None or self.recommendation.scenario is None:
            return None
        return find_robust_plan(self.inputs, self.spread, weight, self.scenarios.values())

    @cached_property
    def explanation(self) -> Explanation | None:
        """What the cheapest plan begins; with `explain` also what limits cost and where the
        advice turns. None where nothing is feasible."""
        best = self.scenarios[ScenarioKey.HYBRID]
        if not best.feasible:
            return None
        if self.request.explain:
            return explain(best, self.inputs)
        return Explanation(list_purchases(best, self.inputs))

    @cached_property
    def swings(self) -> list[TornadoBar]:
        """What moves the advised plan, the furthest reaching figure first."""
        advised = self.recommendation.scenario
        if advised is None or not self.request.sensitivity:
            return []
        given = frozenset(self.request.on_prem.model_fields_set)
        return one_way_sensitivity(
            self.inputs, self.scenarios, advised, self.demand.range_p10_p90, given
        )

    @cached_property
    def energy(self) -> dict[ScenarioKey, Energy]:
        """Energy and carbon of the feasible scenarios."""
        grids = GridCarbon(self.catalog, self.request.on_prem.g_co2e_per_kwh)
        return {
            key: calculate_energy(scenario, self.inputs, grids.intensity)
            for key, scenario in self.scenarios.items()
            if scenario.feasible
        }

    @cached_property
    def used_sources(self) -> tuple[CapacitySource, ...]:
        """Sources that a scenario or a break-even speaks of, in the order of their keys."""
        used = {row.against for row in self.break_even}
        for scenario in self.scenarios.values():
            used |= set(scenario.used_hours) | set(scenario.units_started)
        return tuple(s for key, s in sorted(self.inputs.by_key.items()) if key in used)

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values: money as decimal strings, shares as fractions."""
        from planner.answer import answer_of

        return answer_of(self)


def compare(
    request: Mapping[str, Any],
    catalog: Catalog,
    *,
    today: dt.date | None = None,
    kept: Iterable[Mapping[str, Any]] = (),
) -> Comparison:
    """What renting, owning and mixing cost for `request` at the prices of `catalog`.

    Raises `InvalidInput` with every field refused. `today` dates ages and the default start. The
    assumptions `kept` of an earlier answer stand in for defaults that have changed since.
    """
    asked = read_request(request)
    day = today or dt.datetime.now(dt.UTC).date()
    return _Comparing(asked, catalog, day, read_previous_assumptions(kept)).result()


@dataclass(frozen=True)
class _Comparing:
    """The steps of a comparison, each computed once."""

    request: ComparisonRequest
    catalog: Catalog
    today: dt.date
    kept: PreviousAssumptions

    def result(self) -> Comparison:
        check_names(self.request, self.catalog)
        check_server_life(self.terms)
        check_minimum_duration(self.request, self.demand)
        scenarios = self._explained(solve_scenarios(self.inputs))
        break_even = tuple(self._break_even())
        return Comparison(
            request=self.request,
            catalog=self.catalog,
            today=self.today,
            terms=self.terms,
            demand=self.demand,
            inputs=self.inputs,
            fleet=self.fleet,
            scenarios=scenarios,
            break_even=break_even,
            cost_lines=tuple(self._cost_lines(break_even)),
            recommendation=recommend(scenarios, self.inputs, break_even, self.request.currency),
            warnings=(
                *self.demand.warnings,
                *warn_without_deadline(self.request.workload, self.demand, self.calendar),
                *self.market.warnings(),
                *self.fleet.warn_worn_out(self.calendar, int(self.terms["useful_life_months"])),
                *collect_warnings(self.inputs, scenarios, self.market.catalog_offers),
            ),
            units_per_usd=self.units_per_usd,
        )

    @cached_property
    def units_per_usd(self) -> float:
        """Units of the request's currency in a US dollar."""
        given = self.request.exchange_rates.get(self.request.currency)
        if given is not None:
            return given.units_per_usd
        rate = self.catalog.exchange_rates.find(self.request.currency, field="currency")
        return float(rate.units_per_usd)

    @cached_property
    def terms(self) -> Assumptions:
        return Assumptions.from_request(self.request, self.units_per_usd, self.kept)

    @cached_property
    def calendar(self) -> Calendar:
        return Calendar(
            start=self.request.start or _next_month(self.today),
            months=self.request.horizon_months,
            discount_rate_per_year=self.terms["discount_rate_per_year"],
            beyond_months=self._longest_term() if self.request.term_end == "full" else 0,
            tax_rate=self.terms["tax_rate"],
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
        kept = tuple(c for c in demand.candidates if c.accelerator in limits)
        return replace(demand, candidates=kept)

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
    def market(self) -> OfferSelection:
        return OfferSelection(
            request=self.request,
            catalog=self.catalog,
            demand=self.demand,
            assumptions=self.terms,
            calendar=self.calendar,
            units_per_usd=self.units_per_usd,
            custom=self.custom,
        )

    @cached_property
    def fleet(self) -> ServerSelection:
        return self.all_servers.filter_fitting(
            self.market.min_node_accelerators, self.request.constraints
        )

    @cached_property
    def inputs(self) -> ModelInputs:
        limits = self.request.constraints
        share = limits.max_spot_share
        return ModelInputs(
            rentals=tuple(self.market.rentals()),
            servers=self.fleet,
            throughput=self.market.throughput,
            assumptions=self.terms,
            calendar=self.calendar,
            hours=self.demand.hours_per_month,
            peak=self.demand.peak_accelerators,
            data=self.market.data,
            term_end=self.request.term_end,
            quotas=self.market.quotas,
            max_spot_share=1.0 if share is None else share,
            capex_budget=limits.capex_budget,
            monthly_budget=limits.monthly_budget,
        )

    def _explained(self, scenarios: Mapping[ScenarioKey, Scenario]) -> dict[ScenarioKey, Scenario]:
        """Scenarios with what they owe later, or with the reasons for what is not there."""
        currency = self.request.currency
        return {
            key: replace(s, warnings=(*s.warnings, *warn_beyond_horizon(s, self.inputs, currency)))
            if s.feasible
            else replace(s, why_not=(*s.why_not, *self._why_not(key)))
            for key, s in scenarios.items()
        }

    def _why_not(self, key: ScenarioKey) -> tuple[str, ...]:
        offered = {s.purchase_option for s in self.inputs.sources}
        if key is ScenarioKey.ON_PREM:
            if self.request.on_prem.servers == ():
                return ("on_prem.servers is empty: none may be bought",)
            return () if self.fleet.to_buy else self.fleet.summarize_exclusions()
        wanted = SPOT if key is ScenarioKey.SPOT else OPTIONS[key] - {OWNED}
        if wanted & offered:
            return ()
        options = [option for option in PurchaseOption if option.value in wanted]
        return self.market.exclusions(options) if self.request.use_catalog else ()

    def _break_even(self) -> Iterator[BreakEven]:
        rents = find_best_rents(self.inputs.sources, self.calendar)
        given = frozenset(self.request.on_prem.model_fields_set)
        for server in self.fleet.to_buy:
            r = self.market.throughput[server.accelerator]
            yield from compute_break_even(server, r, rents, self.terms, self.calendar, given)

    def _cost_lines(self, break_even: tuple[BreakEven, ...]) -> list[CostLine]:
        """For the server that pays back first; without servers, of one accelerator."""
        rents = find_best_rents(self.inputs.sources, self.calendar)
        reached = [row for row in break_even if row.hours is not None]
        first = min(reached, key=lambda row: (row.hours, row.server), default=None)
        server = self.inputs.by_key.get(f"server:{first.server}") if first else None
        return build_cost_lines(server, rents, self.calendar)


def _next_month(day: dt.date) -> dt.date:
    return dt.date(day.year + day.month // 12, day.month % 12 + 1, 1)
