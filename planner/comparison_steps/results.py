"""What a comparison finds: scenarios, break-even, advice and analyses, each computed once. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from planner.comparison_steps.preparation import Preparation
from planner.contract.answer.common import ScenarioKey
from planner.contract.purchase_options import OWNED, SPOT
from planner.contract.request.comparison import ComparisonRequest
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
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import Calendar
from planner.costing.inputs.exclusions import explain_exclusions
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import is_allowed, scenario_options, solve_scenarios
from planner.sizing.demand import Demand
from pricing.market.offers import PurchaseOption


@dataclass(frozen=True)
class ComparisonResults:
    """The results of one comparison, before they become its answer."""

    preparation: Preparation

    @property
    def request(self) -> ComparisonRequest:
        """What is compared."""
        return self.preparation.request

    @property
    def demand(self) -> Demand:
        """Hours and peak of each month."""
        return self.preparation.demand

    @property
    def inputs(self) -> ModelInputs:
        """Everything that the plans are made from."""
        return self.preparation.inputs

    @property
    def calendar(self) -> Calendar:
        """Months of the plan."""
        return self.preparation.calendar

    @cached_property
    def scenarios(self) -> dict[ScenarioKey, Scenario]:
        """Each way to buy, with what it owes later or the reasons why there is none."""
        return self._explained(solve_scenarios(self.inputs))

    @cached_property
    def allowed_scenarios(self) -> dict[ScenarioKey, Scenario]:
        """Scenarios that may be recommended."""
        interruptible = self.preparation.rules.interruptible
        return {k: s for k, s in self.scenarios.items() if is_allowed(k, interruptible)}

    @cached_property
    def break_even(self) -> tuple[BreakEven, ...]:
        """When each server pays for itself."""
        return tuple(self._break_even())

    @cached_property
    def curve_lines(self) -> tuple[CostLine, ...]:
        """Cost of a node against its hours of use."""
        return tuple(self._cost_lines(self.break_even))

    @cached_property
    def recommendation(self) -> Recommendation:
        """The cheapest scenario, and why."""
        currency = self.request.currency
        return recommend(self.allowed_scenarios, self.inputs, self.break_even, currency)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to know of the answer, each once."""
        preparation = self.preparation
        useful_life = int(preparation.assumptions["useful_life_months"])
        collected = (
            *self.demand.warnings,
            *warn_without_deadline(self.request.workload, self.demand, self.calendar),
            *preparation.offers.warnings(),
            *preparation.servers.warn_worn_out(self.calendar, useful_life),
            *collect_warnings(self.inputs, self.scenarios, preparation.offers.catalog_offers),
        )
        return tuple(dict.fromkeys(collected))

    @cached_property
    def risk_parameters(self) -> RiskParameters | None:
        """How far things may go from plan, where the request asks for the risk."""
        if self.request.risk is None:
            return None
        assumptions = self.preparation.assumptions
        return build_risk_parameters(self.request.risk, assumptions, self.demand.range_p10_p90)

    @cached_property
    def risk(self) -> RiskResult | None:
        """The scenarios over simulated outcomes, where the request asks for it."""
        if self.risk_parameters is None:
            return None
        return assess_risk(self.allowed_scenarios, self.inputs, self.risk_parameters)

    @cached_property
    def robust_plan(self) -> RobustPlan | None:
        """The plan that holds up across the outcomes, where the request asks for it."""
        weight = self.request.risk.cvar_weight if self.request.risk else None
        if weight is None or self.risk_parameters is None or self.recommendation.scenario is None:
            return None
        return find_robust_plan(
            self.inputs, self.risk_parameters, weight, self.allowed_scenarios.values()
        )

    @cached_property
    def explanation(self) -> Explanation | None:
        """What the cheapest plan buys; with `explain` also what limits cost and where the
        advice changes. None where nothing is feasible."""
        best = self.scenarios[ScenarioKey.HYBRID]
        if not best.feasible:
            return None
        if self.request.explain:
            return explain(best, self.inputs)
        return Explanation(list_purchases(best, self.inputs))

    @cached_property
    def tornado(self) -> list[TornadoBar]:
        """What moves the advised plan, the furthest reaching figure first."""
        advised = self.recommendation.scenario
        if advised is None or not self.request.sensitivity:
            return []
        explicit_fields = frozenset(self.request.on_prem.model_fields_set)
        return one_way_sensitivity(
            self.inputs, self.scenarios, advised, self.demand.range_p10_p90, explicit_fields
        )

    @cached_property
    def grids(self) -> GridCarbon:
        """Carbon of the electricity of each place."""
        return GridCarbon(self.preparation.catalog, self.request.on_prem.g_co2e_per_kwh)

    def energy(self, scenario: Scenario) -> Energy:
        """Energy and carbon of a feasible scenario."""
        return calculate_energy(scenario, self.inputs, self.grids.intensity)

    @cached_property
    def used_sources(self) -> tuple[CapacitySource, ...]:
        """Sources that a scenario or a break-even speaks of, in the order of their keys."""
        used = {row.against for row in self.break_even}
        for scenario in self.scenarios.values():
            used |= set(scenario.used_hours) | set(scenario.units_started)
        return tuple(s for key, s in sorted(self.inputs.by_key.items()) if key in used)

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
            return (
                ()
                if self.preparation.servers.to_buy
                else self.preparation.servers.summarize_exclusions()
            )
        options = scenario_options(key, self.inputs.interruptible)
        wanted = SPOT if key is ScenarioKey.SPOT else options - {OWNED}
        if wanted & offered:
            return ()
        missing = [option for option in PurchaseOption if option.value in wanted]
        return (
            explain_exclusions(self.preparation.offers, missing) if self.request.use_catalog else ()
        )

    def _break_even(self) -> Iterator[BreakEven]:
        rents = find_best_rents(self.inputs.sources, self.calendar)
        explicit_fields = frozenset(self.request.on_prem.model_fields_set)
        for server in self.preparation.servers.to_buy:
            r = self.preparation.offers.throughput[server.accelerator]
            yield from compute_break_even(
                server, r, rents, self.preparation.assumptions, self.calendar, explicit_fields
            )

    def _cost_lines(self, break_even: tuple[BreakEven, ...]) -> list[CostLine]:
        """For the server that pays back first; without servers, of one accelerator."""
        rents = find_best_rents(self.inputs.sources, self.calendar)
        reached = [row for row in break_even if row.hours is not None]
        first = min(reached, key=lambda row: (row.hours, row.server), default=None)
        server = self.inputs.by_key.get(f"server:{first.server}") if first else None
        return build_cost_lines(server, rents, self.calendar)
