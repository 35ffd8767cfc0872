"""Plans over the samples of a comparison, of either edition of the rules. PURE.

Under edition 1 all rents move together and what is started stays as planned (`monte_carlo`); under
edition 2 each price has its own process and later starts follow each sample (`recourse`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.in_samples.planned_units import UnitCosts, measure_units
from planner.costing.analysis.in_samples.samples import Market, stretch_peaks
from planner.costing.analysis.monte_carlo import (
    RiskParameters,
    RiskSamples,
    demand_in_sample,
    draw_samples,
    shift_months,
    simulate,
)
from planner.costing.analysis.outcomes import Outcomes, draw_outcomes, planned_outcomes
from planner.costing.analysis.plan_costs import PlanCosts, list_priced_sources, measure_plan
from planner.costing.analysis.plan_exposure import measure_exposures
from planner.costing.analysis.price_drivers import PriceDrivers, find_drivers
from planner.costing.analysis.progress import Report, nobody_waits
from planner.costing.analysis.recourse import cost_plans
from planner.costing.analysis.rent_mix import hours_at_peak
from planner.costing.analysis.risk_result import RiskResult, reach_plans, summarize_risk
from planner.costing.analysis.simulation_work import measuring_units
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.stochastic import Sample
from planner.costing.optimizer.work import WorkMeter
from planner.costing.price_processes.process import PriceKind
from planner.costing.results.scenario_result import Scenario

Floats = NDArray[np.float64]


class Simulation(Protocol):
    """Samples of a comparison, and what plans cost in them."""

    @property
    def inputs(self) -> ModelInputs: ...

    @property
    def parameters(self) -> RiskParameters: ...

    @property
    def hours_factors(self) -> Floats | None:
        """[N] factor on all hours as they were estimated; None where they are known."""

    def cost(
        self,
        plans: Sequence[Scenario],
        report: Report = nobody_waits,
        work: WorkMeter | None = None,
    ) -> Floats:
        """[2, plan, N] net present and nominal cost."""

    def net_present_cost(self, plans: Sequence[Scenario], work: WorkMeter | None = None) -> Floats:
        """[plan, N]"""

    def select(self, rows: NDArray[np.intp]) -> Simulation:
        """The samples of these rows, which ascend."""

    def sample(self, n: int, share: float) -> Sample:
        """Sample `n` as the optimiser sees it, standing for a share of all."""


def simulation_of(
    inputs: ModelInputs, parameters: RiskParameters, plans: Sequence[Scenario] | None = None
) -> Simulation:
    """The samples of a comparison, under its edition of the rules.

    With `plans` no others can be costed: only the prices that these pay are drawn.
    """
    if not parameters.price_processes:
        return CommonPriceSimulation(inputs, parameters, draw_samples(parameters))
    drivers = find_drivers(inputs, None if plans is None else list_priced_sources(plans, inputs))
    outcomes = draw_outcomes(parameters, drivers, inputs.calendar.months)
    return PriceProcessSimulation(inputs, parameters, drivers, outcomes)


def planned_simulation(
    inputs: ModelInputs, parameters: RiskParameters, plans: Sequence[Scenario] | None = None
) -> PriceProcessSimulation:
    """One sample in which all goes as expected, with prices of their own."""
    drivers = find_drivers(inputs, None if plans is None else list_priced_sources(plans, inputs))
    outcomes = planned_outcomes(drivers, inputs.calendar.months)
    return PriceProcessSimulation(inputs, parameters, drivers, outcomes)


def cost_of_late_servers(plan: Scenario, inputs: ModelInputs, parameters: RiskParameters) -> float:
    """What a plan costs more, undiscounted, where its servers come as late as they may and all
    else is as planned."""
    simulation = planned_simulation(inputs, parameters, [plan])
    costs = simulation.measure([plan])
    certain = {
        key: replace(server, delivery=server.delivery and server.delivery.is_certain)
        for key, server in simulation.market.servers.items()
    }
    late = replace(simulation.outcomes, delivery=np.zeros(1))
    as_planned = cost_plans(costs, simulation.market, simulation.outcomes)
    when_late = cost_plans(costs, replace(simulation.market, servers=certain), late)
    return float(when_late[1, 0, 0] - as_planned[1, 0, 0])


def assess_risk(
    scenarios: Mapping[ScenarioKey, Scenario],
    simulation: Simulation,
    report: Report = nobody_waits,
    work: WorkMeter | None = None,
) -> RiskResult:
    """Percentiles, probability of being cheapest and regret of every feasible scenario.

    Raises `WorkSpentError` where the samples take more work than there is.
    """
    feasible = [s for s in scenarios.values() if s.feasible]
    present, total = simulation.cost(feasible, report, work)
    result = summarize_risk([s.key for s in feasible], present, total, simulation.parameters)
    present_value = {s.key: (float(s.net_present_cost), len(s.lines)) for s in feasible}
    nominal = {s.key: (float(s.total_cost), len(s.lines)) for s in feasible}
    return replace(
        result,
        percentiles=reach_plans(result.percentiles, present_value),
        total_percentiles=reach_plans(result.total_percentiles, nominal),
    )


@dataclass(frozen=True)
class CommonPriceSimulation:
    """Edition 1: one shock to all rents, every start as planned."""

    inputs: ModelInputs
    parameters: RiskParameters
    samples: RiskSamples

    @property
    def hours_factors(self) -> Floats | None:
        """[N] factor on all hours as they were estimated; None where they are known."""
        return self.samples.level if self.parameters.hours_sd else None

    def cost(
        self,
        plans: Sequence[Scenario],
        report: Report = nobody_waits,
        work: WorkMeter | None = None,
    ) -> Floats:
        """[2, plan, N] net present and nominal cost."""
        inputs = self.inputs
        nominal = replace(inputs.calendar, discount_rate_per_year=0.0)
        calendars = (inputs.calendar, nominal)
        exposures = [e for c in calendars for e in measure_exposures(plans, inputs, c)]
        cost = simulate(
            exposures, inputs.hours, inputs.peak, self.parameters, self.samples, report, work
        )
        return cost.reshape(2, len(plans), len(self.samples.slip))

    def net_present_cost(self, plans: Sequence[Scenario], work: WorkMeter | None = None) -> Floats:
        """[plan, N]"""
        inputs = self.inputs
        exposures = measure_exposures(plans, inputs)
        return simulate(
            exposures, inputs.hours, inputs.peak, self.parameters, self.samples, meter=work
        )

    def select(self, rows: NDArray[np.intp]) -> CommonPriceSimulation:
        """The samples of these rows, which ascend."""
        return replace(self, samples=self.samples.select(rows))

    def sample(self, n: int, share: float) -> Sample:
        """Sample `n` as the optimiser sees it, standing for a share of all."""
        inputs = self.inputs
        hours, peak, prices = demand_in_sample(
            inputs.hours, inputs.peak, self.parameters, self.samples, n
        )
        return Sample(hours, peak, prices, share, float(self.samples.spot[n]))


@dataclass(frozen=True)
class PriceProcessSimulation:
    """Edition 2: a process for each price, and later starts that follow the sample."""

    inputs: ModelInputs
    parameters: RiskParameters
    drivers: PriceDrivers
    outcomes: Outcomes
    _units: dict[str, UnitCosts] = field(default_factory=dict)

    @property
    def hours_factors(self) -> Floats | None:
        """[N] factor on all hours as they were estimated; None where they are known."""
        return self.outcomes.level

    @cached_property
    def market(self) -> Market:
        """What moves the costs of plans."""
        inputs = self.inputs
        return Market(
            hours=inputs.hours,
            peak=inputs.peak,
            drivers=self.drivers.of_source,
            max_spot_share=inputs.max_spot_share,
            spot_patience_hours=self.parameters.spot_patience_hours,
            servers=inputs.servers.unsure,
        )

    def cost(
        self,
        plans: Sequence[Scenario],
        report: Report = nobody_waits,
        work: WorkMeter | None = None,
    ) -> Floats:
        """[2, plan, N] net present and nominal cost."""
        if work is not None:
            work.charge(measuring_units(len(plans), len(self.inputs.sources)))
        return cost_plans(self.measure(plans), self.market, self.outcomes, report, work)

    def net_present_cost(self, plans: Sequence[Scenario], work: WorkMeter | None = None) -> Floats:
        """[plan, N]"""
        return np.asarray(self.cost(plans, work=work)[0])

    def select(self, rows: NDArray[np.intp]) -> PriceProcessSimulation:
        """The samples of these rows, which ascend."""
        return replace(self, outcomes=self.outcomes.select(rows))

    def sample(self, n: int, share: float) -> Sample:
        """Sample `n` as the optimiser sees it: all rents at their mean factor on demand."""
        inputs, outcomes, slip = self.inputs, self.outcomes, int(self.outcomes.slip[n])
        work = shift_months(inputs.hours, slip)
        hours = outcomes.demand(slice(n, n + 1)).ravel() * work
        at_peak = hours_at_peak(inputs.hours, inputs.peak)
        at_peak = stretch_peaks(
            shift_months(at_peak, slip, keep_total=False), work, outcomes, slice(n, n + 1)
        ).ravel()
        peak = np.divide(hours, at_peak, out=np.zeros_like(hours), where=at_peak > 0)
        rents, spots = self._mean_factors(n, is_spot=False), self._mean_factors(n, is_spot=True)
        of_spot = float(outcomes.lost[n] * (spots / rents).mean())
        return Sample(hours, peak, rents, share, of_spot)

    def _mean_factors(self, n: int, is_spot: bool) -> Floats:
        """[T] mean factor of the prices of spot, or of all other rents; 1 without any."""
        rows = [
            i
            for i, process in enumerate(self.drivers.processes)
            if process.kind is not PriceKind.HARDWARE
            and (process.kind is PriceKind.SPOT) == is_spot
        ]
        months = self.inputs.calendar.months
        if not rows:
            return np.ones(months)
        return np.asarray(self.outcomes.prices[rows, n, :months].mean(axis=0))

    def measure(self, plans: Sequence[Scenario]) -> list[PlanCosts]:
        """The plans as samples see them."""
        return [self._measure(plan) for plan in plans]

    def _measure(self, plan: Scenario) -> PlanCosts:
        inputs = self.inputs
        for key, source in inputs.by_key.items():
            is_needed = key in plan.units_started or source.existing is not None
            if is_needed and source.term is not None and key not in self._units:
                self._units[key] = measure_units(source, inputs.calendar)
        return measure_plan(plan, inputs, self._units)
