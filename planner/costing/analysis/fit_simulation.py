"""A simulation of as many samples as the work that may be spent allows for. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.costing.analysis.monte_carlo import RiskParameters
from planner.costing.analysis.recourse import plan_units
from planner.costing.analysis.simulation import Simulation, planned_simulation, simulation_of
from planner.costing.analysis.simulation_work import (
    drawing_units,
    fit_memory,
    fit_samples,
    measuring_units,
    simulation_units,
)
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter
from planner.costing.results.scenario_result import Scenario

COSTED_SHARE = 0.9
"""Share of the work left that samples may take; the rest is for what each chunk of them takes."""


def fit_simulation(
    inputs: ModelInputs,
    parameters: RiskParameters,
    plans: Sequence[Scenario],
    work: WorkMeter,
    *,
    searches: bool,
) -> Simulation | None:
    """The samples of a comparison, as many as the `work` allows for and memory holds; None where
    that is too few.

    Where it `searches` for other plans, every price is drawn, else those that `plans` pay.
    """
    feasible = [plan for plan in plans if plan.feasible]
    wanted, months = parameters.samples, inputs.calendar.months
    if parameters.price_processes:
        one = planned_simulation(inputs, parameters, None if searches else plans)
        prices = len(one.drivers.processes)
        drawing = drawing_units(1_000, prices, months)
        costing = sum(plan_units(1_000, plan, months) for plan in one.measure(feasible))
        wanted = fit_memory(wanted, prices, months)
    else:  # each plan twice: discounted and not
        drawing, costing = 0.0, simulation_units(1_000, 2 * len(feasible), months)
    left = work.remaining - measuring_units(2 * len(feasible), len(inputs.sources))
    samples = fit_samples(wanted, drawing + costing, left * COSTED_SHARE)
    if samples == wanted < parameters.samples:
        work.note_too_large()
    if not samples:
        return None
    work.charge(drawing * samples / 1_000)
    fitted = replace(parameters, samples=samples)
    return simulation_of(inputs, fitted, None if searches else plans)
