"""The plan that holds up across simulated outcomes: searched over few, judged over all. PURE.

1. Of the samples that the risk is computed over, `MODEL_SAMPLES` represent the rest: all are sorted
   by what they cost the scenarios and cut into as many classes, the worst tenth into more, and each
   class is represented by the sample nearest to its mean. With their growth, slip, prices and
   interruptions they make one model (`optimizer.stochastic`), which gives a plan and a bound.
2. The best of that plan and the scenarios' plans is changed one unit at a time for as long as a
   change pays over up to `POLISH_SAMPLES` samples, evenly spaced from the cheapest to the most
   expensive and costed by `monte_carlo`: resale and the price of later commitments count too.
3. Every plan is costed over all samples by `monte_carlo`; the one with the least expected cost +
   cvar_weight · CVaR 90 wins. The scenarios' plans are among them, so none of them is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.plan_neighbours import UnitsStarted, neighbours, signature
from planner.costing.analysis.risk_result import calculate_cvar_90
from planner.costing.analysis.simulation import Simulation
from planner.costing.budgets_in_books import Budgets
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.presolve import prune
from planner.costing.optimizer.problem import Plan, PlanProblem
from planner.costing.optimizer.reduced_problem import ReducedProblem
from planner.costing.optimizer.solve import dispatch_units, restrict_sources
from planner.costing.optimizer.stochastic import (
    Sample,
    StochasticPlan,
    evaluate_over_samples,
    solve_over_samples,
)
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.ledger import settle_used_hours
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import build_scenario, scenario_options

Floats = NDArray[np.float64]

MODEL_SAMPLES, TAIL_SAMPLES = 16, 6
"""Samples in the model, and those of them that stand for the worst tenth."""
TAIL = 0.1
MODEL_SHARE, POLISH_SHARE = 0.5, 0.7
"""Share of the work left that the model may take, and then the changes of a unit."""
NODES = 100
"""Nodes of the model's search: a change of units mends what it leaves."""
POLISH_SAMPLES = 2_000
"""Samples over which a change of units is judged, at most."""
MAX_TRIALS = 400
"""Plans judged so at most."""
TIE = 1e-9
"""Relative difference under which two plans are equally good; the first one counts."""


@dataclass(frozen=True)
class RobustPlan:
    """The plan of least expected cost and tail risk over all samples."""

    scenario: Scenario
    """What it costs if all goes as expected."""
    same_as: ScenarioKey | None
    """The scenario whose plan it is, None where it is a plan of its own."""
    cvar_weight: float
    expected: float
    """Mean of its net present cost over all the samples, as the risk computes it."""
    cvar_90: float
    """Mean over the worst tenth of them."""
    samples: int
    seed: int
    model_samples: int
    """Samples in the model that gave the bound."""
    gap: float | None
    """Over those: (objective − bound) / objective; None where a limit forbids it in one."""


def find_robust_plan(
    simulation: Simulation,
    cvar_weight: float,
    scenarios: Iterable[Scenario],
    work: WorkMeter | None = None,
) -> RobustPlan | None:
    """The best plan on expected cost + `cvar_weight` · worst tenth; None where nothing is feasible.

    The limits hold where all goes as expected, as they do in the scenarios. Where the `work` that
    may be spent is over, the best plan so far stands. Raises `WorkSpentError` where it does not
    even allow for the samples.
    """
    work = WorkMeter() if work is None else work
    feasible = sorted(
        (s for s in scenarios if s.feasible), key=lambda s: s.key != ScenarioKey.HYBRID
    )
    if not feasible:
        return None
    return _RobustSearch(simulation, cvar_weight, tuple(feasible), work).best()


@dataclass(frozen=True)
class _RobustSearch:
    """The plans that come into question, and what they cost over the samples."""

    simulation: Simulation
    """All samples, those of the risk."""
    weight: float
    scenarios: tuple[Scenario, ...]
    """The feasible ones, that of every source first."""
    work: WorkMeter
    _scores: dict[tuple[tuple[str, bytes], ...], float] = field(default_factory=dict)

    @property
    def inputs(self) -> ModelInputs:
        return self.simulation.inputs

    @cached_property
    def budgets(self) -> Budgets:
        """Of plans from every source that is compared."""
        options = scenario_options(ScenarioKey.HYBRID, self.inputs.interruptible)
        problem = restrict_sources(self.inputs.problem, self.inputs.keys(options))
        return Budgets(self.inputs, problem)

    @cached_property
    def problem(self) -> PlanProblem:
        """With as much room in the budgets as lines may be less than what is counted."""
        return self.budgets.eased(self.budgets.most_room)

    @cached_property
    def reduced(self) -> ReducedProblem:
        return prune(self.problem)

    @cached_property
    def cost(self) -> Floats:
        """[scenario, N]"""
        return self.simulation.net_present_cost(self.scenarios, self.work)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """[N] the samples by rising cost, on average over the scenarios."""
        return np.argsort(self.cost.mean(axis=0), kind="stable")

    def best(self) -> RobustPlan:
        model_samples = self._select_model_samples()
        solution = self._solve_model(model_samples)
        plans, cost = list(self.scenarios), self.cost
        with suppress(WorkSpentError):
            new_plans = list(self._new_plans(solution))
            new_cost = self.simulation.net_present_cost(new_plans, self.work)
            plans, cost = plans + new_plans, np.concatenate([cost, new_cost])
        i = _argmin_with_ties([self._objective(row) for row in cost])
        return RobustPlan(
            scenario=plans[i],
            same_as=plans[i].key if i < len(self.scenarios) else None,
            cvar_weight=self.weight,
            expected=float(cost[i].mean()),
            cvar_90=calculate_cvar_90(cost[i]),
            samples=self.simulation.parameters.samples,
            seed=self.simulation.parameters.seed,
            model_samples=len(model_samples),
            gap=self._gap(plans[i], model_samples, solution),
        )

    def _solve_model(self, model_samples: Sequence[Sample]) -> StochasticPlan:
        """The model's plan and bound, none of both where it takes more work than there is."""
        try:
            return solve_over_samples(
                self.problem,
                model_samples,
                cvar_weight=self.weight,
                node_limit=NODES,
                work=self.work.share(MODEL_SHARE, stops=False),
            )
        except WorkSpentError:
            return StochasticPlan(False, np.inf, -np.inf)

    def _new_plans(self, solution: StochasticPlan) -> Iterator[Scenario]:
        """The model's plan and what unit by unit changes make of the best, booked; none that a
        scenario starts already."""
        units_started: list[UnitsStarted] = [scenario.units_started for scenario in self.scenarios]
        seen = {signature(starts_of_plan) for starts_of_plan in units_started}
        units_started += [solution.units_started] if solution.units_started is not None else []
        units_started.append(self._polish(units_started))
        for starts_of_plan in units_started[len(self.scenarios) :]:
            plan = (
                None
                if signature(starts_of_plan) in seen
                else dispatch_units(self.reduced, starts_of_plan, self.work)
            )
            seen.add(signature(starts_of_plan))
            if plan is not None and not self.budgets.is_over(plan):
                yield build_scenario(self.inputs, ScenarioKey.HYBRID, plan, self.scenarios[0].bound)

    def _polish(self, units_started: Sequence[UnitsStarted]) -> UnitsStarted:
        """The best of `units_started`, changed by the unit for as long as that pays."""
        keys = sorted(
            {
                key
                for starts_of_plan in units_started
                for key, units in starts_of_plan.items()
                if units.any()
            }
        )
        best = units_started[
            _argmin_with_ties([self._evaluate(starts_of_plan) for starts_of_plan in units_started])
        ]
        most = self.work.done + self.work.remaining * POLISH_SHARE
        while len(self._scores) < MAX_TRIALS:
            candidates = [best]
            values = [self._evaluate(best)]
            for candidate in neighbours(best, keys, self.inputs.calendar.months):
                if self.work.done > most:
                    break
                candidates.append(candidate)
                values.append(self._evaluate(candidate))
            i = _argmin_with_ties(values)
            if not i:
                break
            best = candidates[i]
        return best

    def _evaluate(self, units_started: UnitsStarted) -> float:
        """Objective over some of the samples; ∞ for what a limit forbids."""
        key = signature(units_started)
        if key not in self._scores:
            plan = dispatch_units(self.reduced, units_started, self.work)
            is_allowed = plan is not None and not self.budgets.is_over(plan)
            self._scores[key] = self._cost_on_samples(plan) if plan and is_allowed else np.inf
        return self._scores[key]

    def _cost_on_samples(self, plan: Plan) -> float:
        used = settle_used_hours(plan, self.inputs.by_key, self.inputs.hours)
        scenario = Scenario(
            ScenarioKey.HYBRID,
            feasible=True,
            served_hours=self.inputs.hours,
            units_started=plan.units_started,
            used_hours=used,
            cost=plan.cost,
        )
        return self._objective(self._polish_samples.net_present_cost([scenario], self.work)[0])

    @cached_property
    def _polish_samples(self) -> Simulation:
        """Samples evenly spaced from the cheapest to the most expensive."""
        step = -(-len(self.order) // POLISH_SAMPLES)
        return self.simulation.select(np.sort(self.order[step // 2 :: step]))

    def _objective(self, cost: Floats) -> float:
        return float(cost.mean()) + self.weight * calculate_cvar_90(cost)

    def _select_model_samples(self) -> list[Sample]:
        """The samples that stand for all, with the share that each stands for."""
        n = len(self.order)
        tail_start = round(n * (1 - TAIL))
        cuts = [
            *np.linspace(0, tail_start, MODEL_SAMPLES - TAIL_SAMPLES + 1)[:-1],
            *np.linspace(tail_start, n, TAIL_SAMPLES + 1),
        ]
        at = np.unique(np.round(cuts).astype(np.int64))
        classes = [self.order[a:b] for a, b in pairwise(at)]
        return [
            self.simulation.sample(self._pick_representative(rows), len(rows) / n)
            for rows in classes
        ]

    def _pick_representative(self, rows: NDArray[np.intp]) -> int:
        """The sample that costs the scenarios most nearly what the class does on average."""
        cost = self.cost[:, rows] / np.maximum(np.abs(self.cost).mean(axis=1), 1e-12)[:, None]
        distance = ((cost - cost.mean(axis=1)[:, None]) ** 2).sum(axis=0)
        return int(rows[distance.argmin()])

    def _gap(
        self, scenario: Scenario, model_samples: Sequence[Sample], solution: StochasticPlan
    ) -> float | None:
        """How far a plan is from the model's bound."""
        if not solution.feasible:
            return None
        try:
            evaluation = evaluate_over_samples(
                self.problem,
                model_samples,
                scenario.units_started,
                cvar_weight=self.weight,
                bound=solution.bound,
                work=self.work,
            )
        except WorkSpentError:
            return None
        return evaluation.gap if evaluation.feasible else None


def _argmin_with_ties(values: Sequence[float]) -> int:
    """Index of the first figure within a hair of the least.

    >>> _argmin_with_ties([2.0, 1.0 + 1e-12, 1.0])
    1
    """
    lowest = min(values)
    threshold = lowest + TIE * abs(lowest) if np.isfinite(lowest) else lowest
    return next(i for i, value in enumerate(values) if value <= threshold)
