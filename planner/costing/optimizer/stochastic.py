"""The plan that is cheapest over many samples: started before it is known which one comes. PURE.

Units are started in the first stage, the same in every scenario; hours are rented and used in the
second, scenario by scenario. The aim is Σ p·cost, plus `cvar_weight` times the mean cost of the
worst tenth (its conditional value at risk, written as a linear programme after Rockafellar and
Uryasev, Optimization of conditional value-at-risk, 2000). All scenarios' months stand side by
side in one model, and the search of `diving` runs on it with its certified bound.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.by_month.dispatch import dispatch
from planner.costing.optimizer.constraints import ABSENT, Rows, build_rows
from planner.costing.optimizer.diving import Search
from planner.costing.optimizer.master_lp import Master
from planner.costing.optimizer.presolve import prune
from planner.costing.optimizer.presolve_rentals import prune_rentals
from planner.costing.optimizer.problem import Floats, Plan, PlanProblem, RentalOption
from planner.costing.optimizer.reduced_problem import ReducedProblem, UnitTypes
from planner.costing.optimizer.solve import (
    DEFAULT_GAP,
    DEFAULT_NODE_LIMIT,
    count_units_started,
    presolve_units,
    restrict_sources,
)
from planner.costing.optimizer.variables import (
    Continuous,
    Entries,
    StartColumns,
    continuous_columns,
)
from planner.costing.optimizer.work import WorkMeter

TAIL = 0.1
"""Share of the scenarios, by probability, that counts as the worst."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Sample:
    """One scenario: what will be asked, and what renting will cost."""

    hours: Floats
    """[T] reference accelerator-hours."""
    peak: Floats
    """[T]"""
    rent_factor: float | Floats = 1.0
    """Rentals cost this many times what the problem says, always or by month [T]."""
    probability: float = 1.0
    """Relative to the other scenarios."""
    spot_factor: float = 1.0
    """What is rented spot, this many times that again."""

    def factor(self, source: RentalOption) -> float | Floats:
        """What a rental costs here, of what the problem says."""
        return self.rent_factor * (self.spot_factor if source.is_spot else 1.0)


@dataclass(frozen=True)
class StochasticPlan:
    """What to start, and what it costs in each scenario."""

    feasible: bool
    objective: float
    """Expected cost + tail_weight · worst tenth."""
    bound: float
    """No plan has a lower objective."""
    expected: float = np.inf
    cvar_90: float = np.inf
    units_started: dict[str, NDArray[np.int64]] | None = None
    plans: tuple[Plan, ...] = ()
    """By scenario: the same units started, the hours that are best there."""

    @property
    def gap(self) -> float:
        """(objective − bound) / objective, 0 for a plan that costs nothing."""
        return 0.0 if self.objective <= 0 else max(0.0, 1 - self.bound / self.objective)


def solve_over_samples(
    problem: PlanProblem,
    samples: Sequence[Sample],
    allowed: Collection[str] | None = None,
    *,
    cvar_weight: float = 0.0,
    gap: float = DEFAULT_GAP,
    node_limit: int = DEFAULT_NODE_LIMIT,
    work: WorkMeter | None = None,
) -> StochasticPlan:
    """Start what is best on average over `samples`, or with a weight on their worst tenth.

    The limits of the problem hold in every scenario. The same samples give the same plan: draw
    them from a seeded generator.

    >>> one = np.ones(1)
    >>> rent = RentalOption("rent", 8.0, 8.0, 20 * one, 20 * one)
    >>> calm = PlanProblem(730 * 8 * one, 8 * one, (rent,), ())
    >>> busy = [Sample(730 * n * one, n * one) for n in (8.0, 24.0)]
    >>> plan = solve_over_samples(calm, busy, cvar_weight=1.0)
    >>> plan.expected, plan.cvar_90, plan.objective
    (29200.0, 43800.0, 73000.0)
    """
    work = WorkMeter() if work is None else work
    problem = restrict_sources(problem, allowed)
    rentals, units = len(problem.rental_options), len(problem.units)
    work.charge(presolve_units(problem, rentals, units, copies=len(samples)))
    probabilities = _probabilities(samples)
    reduced = _side_by_side(problem, samples, probabilities)
    rows = build_rows(reduced, work)
    columns = continuous_columns(rows)
    if cvar_weight > 0:
        rows, columns = _with_tail(rows, columns, probabilities, cvar_weight)
    start_columns = StartColumns(rows, copies=len(samples), cost_weight=1 + cvar_weight)
    search = Search(Master(rows, columns, start_columns, work=work), gap=gap, node_limit=node_limit)
    chosen_starts = search.run()
    bound = search.bound * rows.cost_scale + (1 + cvar_weight) * problem.base_cost
    if chosen_starts is None:
        return StochasticPlan(False, np.inf, np.inf)
    return evaluate_over_samples(
        problem,
        samples,
        count_units_started(reduced, chosen_starts),
        cvar_weight=cvar_weight,
        bound=bound,
        work=work,
    )


def _probabilities(samples: Sequence[Sample]) -> Floats:
    probabilities = np.array([sample.probability for sample in samples])
    return np.asarray(probabilities / probabilities.sum(), np.float64)


def conditional_value_at_risk(costs: Floats, probabilities: Floats, share: float = TAIL) -> float:
    """Mean of the most expensive `share` of the scenarios by probability.

    >>> conditional_value_at_risk(np.array([1.0, 5.0, 3.0, 7.0]), np.full(4, 0.25), 0.5)
    6.0
    """
    order = np.argsort(-costs, kind="stable")
    before = probabilities[order].cumsum() - probabilities[order]
    weight = np.clip(share - before, 0.0, probabilities[order])
    return float(weight @ costs[order] / share)


def evaluate_over_samples(
    problem: PlanProblem,
    samples: Sequence[Sample],
    units_started: Mapping[str, NDArray[np.int64]],
    *,
    cvar_weight: float = 0.0,
    bound: float = -np.inf,
    work: WorkMeter | None = None,
) -> StochasticPlan:
    """What starting these units costs over `samples`; not feasible where a limit forbids it in one.

    `problem` holds none but the sources allowed, in the order of their keys.
    """
    work = WorkMeter() if work is None else work
    probabilities, plans = _probabilities(samples), []
    for sample in samples:
        sample_problem = _build_sample_problem(problem, sample)
        rentals = prune_rentals(sample_problem, problem.quotas)
        plan = dispatch(sample_problem, problem.quotas, rentals, units_started, work)
        if plan is None:
            return StochasticPlan(False, np.inf, bound)
        plans.append(plan)
    costs = np.array([plan.cost for plan in plans])
    expected, cvar = float(probabilities @ costs), conditional_value_at_risk(costs, probabilities)
    objective = expected + cvar_weight * cvar
    if objective - bound <= _ROUNDING * abs(objective):
        bound = objective
    return StochasticPlan(True, objective, bound, expected, cvar, dict(units_started), tuple(plans))


def _build_sample_problem(problem: PlanProblem, sample: Sample) -> PlanProblem:
    rental_options = tuple(_rented(source, [sample], [1.0]) for source in problem.rental_options)
    return replace(problem, hours=sample.hours, peak=sample.peak, rental_options=rental_options)


def _rented(
    source: RentalOption, samples: Sequence[Sample], probabilities: Sequence[float]
) -> RentalOption:
    """A rental over scenarios side by side: cost by probability, cash as it falls."""
    available, factors = source.available, [sample.factor(source) for sample in samples]
    return replace(
        source,
        hour_cost=np.concatenate(
            [source.hour_cost * f * p for f, p in zip(factors, probabilities, strict=True)]
        ),
        hour_cash=np.concatenate([source.hour_cash * f for f in factors]),
        available=None if available is None else np.tile(available, len(factors)),
    )


def _side_by_side(
    problem: PlanProblem, samples: Sequence[Sample], probabilities: Floats
) -> ReducedProblem:
    """The problem whose months are those of every scenario, one scenario after another."""
    widest = replace(
        problem,
        hours=np.max([sample.hours for sample in samples], axis=0),
        peak=np.max([sample.peak for sample in samples], axis=0),
    )
    pruned = prune(widest)
    copies, base = len(samples), problem.base_cash
    combined = replace(
        problem,
        hours=np.concatenate([sample.hours for sample in samples]),
        peak=np.concatenate([sample.peak for sample in samples]),
        rental_options=tuple(
            _rented(s, samples, probabilities.tolist()) for s in problem.rental_options
        ),
        base_cash=None if base is None else np.tile(base, copies),
        total_budget=None if problem.total_budget is None else problem.total_budget * copies,
        base_payments=problem.base_payments * copies,
    )
    rentals = prune_rentals(combined, pruned.quotas)
    return ReducedProblem(
        combined,
        pruned.quotas,
        rentals,
        _tiled(pruned.unit_types, probabilities),
        pruned.start_candidates,
    )


def _tiled(unit_types: UnitTypes, probabilities: Floats) -> UnitTypes:
    copies = probabilities.size
    by_odds = np.repeat(probabilities, unit_types.existing.shape[1])
    return replace(
        unit_types,
        hour_cost=np.tile(unit_types.hour_cost, copies) * by_odds,
        hour_cash=np.tile(unit_types.hour_cash, copies),
        existing=np.tile(unit_types.existing, copies),
    )


def _with_tail(
    rows: Rows, columns: Continuous, probabilities: Floats, weight: float
) -> tuple[Rows, Continuous]:
    """Rows and columns for the mean of the worst tenth: threshold + excess ≥ cost, by scenario."""
    count, months = probabilities.size, rows.required_width.size // probabilities.size
    sample = columns.month // months
    cost = columns.cost / probabilities[sample]
    upper_bound = np.bincount(sample, cost * columns.upper_bound, minlength=count).astype(
        np.float64
    )
    row = rows.count + np.arange(count)
    pieces = [
        (columns.entries.row, columns.entries.column, columns.entries.value),
        (row[sample], np.arange(columns.count), -cost),
        (row, np.full(count, columns.count), np.ones(count)),
        (row, columns.count + 1 + np.arange(count), np.ones(count)),
    ]
    wider = replace(
        rows,
        lower=np.concatenate([rows.lower, np.zeros(count)]),
        upper=np.concatenate([rows.upper, np.full(count, np.inf)]),
    )
    return wider, replace(
        columns,
        month=np.concatenate([columns.month, np.full(1 + count, ABSENT)]),
        cost=np.concatenate([columns.cost, [weight], weight * probabilities / TAIL]),
        upper_bound=np.concatenate(
            [columns.upper_bound, [upper_bound.max(initial=0.0)], upper_bound]
        ),
        entries=Entries.ordered(pieces, columns.count + 1 + count),
    )
