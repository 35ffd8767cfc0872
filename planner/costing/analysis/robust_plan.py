"""The plan to begin with all futures in mind: found over a few of them, judged over all. PURE.

1. Of the futures that the risk is reckoned over, `FUTURES` stand for the rest: all are put in
   the order of what they cost the scenarios and cut into as many classes, the dearest tenth into
   more, and each class speaks through the future nearest to its mean. With their growth, slip,
   prices and interruptions they make one model (`plan_stochastic`), which gives a plan and a bound.
2. The best of that plan and the scenarios' is changed unit by unit for as long as a change pays
   over up to `POLISHED_OVER` futures, evenly spaced from the cheapest to the dearest and costed as
   the risk costs them: there resale and the price of a later commitment count too.
3. Every plan is costed over all the futures by the code of `risk`; the least of expected cost +
   weight · worst tenth is the one. The scenarios' plans are among them, so none of them is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.monte_carlo import (
    Futures,
    Spread,
    asked_in,
    draw,
    mean_of_dearest,
    simulate,
)
from planner.costing.analysis.plan_exposure import exposure_of
from planner.costing.analysis.progress import listening
from planner.costing.optimizer.presolve import prune
from planner.costing.optimizer.problem import Plan, PlanProblem
from planner.costing.optimizer.reduced_problem import Market
from planner.costing.optimizer.solve import narrowed, with_best_hours
from planner.costing.optimizer.stochastic import (
    Future,
    RobustPlan,
    priced_over_futures,
    solve_over_futures,
)
from planner.costing.results.ledger import hours_used
from planner.costing.results.scenario_result import Scenario, ScenarioKey
from planner.costing.scenarios import OPTIONS, Project, booked

Floats = NDArray[np.float64]
Begun = Mapping[str, NDArray[np.int64]]

FUTURES, IN_TAIL = 16, 6
"""Futures in the model, and those of them that stand for the dearest tenth."""
TAIL = 0.1
NODES = 100
"""Nodes of the model's search: a change of units mends what it leaves."""
POLISHED_OVER = 2_000
"""Futures over which a change of units is judged, at most."""
TRIES = 400
"""Plans judged so at most."""
ADDED_AT = 12
"""Months over the horizon in which one more unit is tried."""
SHIFTS = (-6, -3, -2, -1, 1, 2, 3, 6)
"""Months by which a unit is begun earlier or later."""
HAIR = 1e-9
"""Relative difference under which two plans are equally good; the first one counts."""


@dataclass(frozen=True)
class Robust:
    """The plan begun with all futures in mind."""

    scenario: Scenario
    """What it costs if all goes as expected."""
    same_as: ScenarioKey | None
    """The scenario whose plan it is, None where it is a plan of its own."""
    tail_weight: float
    expected: float
    """Mean of its net present cost over all the futures, as the risk reckons it."""
    worst_tenth: float
    """Mean over the dearest tenth of them."""
    samples: int
    seed: int
    futures: int
    """Futures in the model that gave the bound."""
    gap: float | None
    """Over those: (objective − bound) / objective; None where a limit forbids it in one."""


def robust(
    project: Project, spread: Spread, tail_weight: float, scenarios: Iterable[Scenario]
) -> Robust | None:
    """The best plan on expected cost + `tail_weight` · worst tenth; None where nothing is feasible.

    The limits hold where all goes as expected, as they do in the scenarios.
    """
    kept = sorted((s for s in scenarios if s.feasible), key=lambda s: s.key != ScenarioKey.HYBRID)
    if not kept:
        return None
    with listening(lambda _done, _total: None):  # the bar has been through the futures already
        return _Choice(project, spread, tail_weight, tuple(kept)).best()


@dataclass(frozen=True)
class _Choice:
    """The plans that come into question, and what they cost over the futures."""

    project: Project
    spread: Spread
    weight: float
    scenarios: tuple[Scenario, ...]
    """The feasible ones, that of every source first."""
    _judged: dict[tuple[tuple[str, bytes], ...], float] = field(default_factory=dict)

    @cached_property
    def problem(self) -> PlanProblem:
        """With every source that is compared."""
        return narrowed(self.project.problem, self.project.keys(OPTIONS[ScenarioKey.HYBRID]))

    @cached_property
    def market(self) -> Market:
        return prune(self.problem)

    @cached_property
    def drawn(self) -> Futures:
        """All futures, those of the risk."""
        return draw(self.spread)

    @cached_property
    def cost(self) -> Floats:
        """[scenario, N]"""
        return self._cost(self.scenarios, self.drawn)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """[N] the futures from the cheapest to the dearest, on average over the scenarios."""
        return np.argsort(self.cost.mean(axis=0), kind="stable")

    def best(self) -> Robust:
        few = self._few()
        found = solve_over_futures(self.problem, few, tail_weight=self.weight, node_limit=NODES)
        plans = [*self.scenarios, *self._own_plans(found)]
        own = self._cost(plans[len(self.scenarios) :], self.drawn)
        cost = np.concatenate([self.cost, own])
        i = _first_least([self._objective(row) for row in cost])
        return Robust(
            scenario=plans[i],
            same_as=plans[i].key if i < len(self.scenarios) else None,
            tail_weight=self.weight,
            expected=float(cost[i].mean()),
            worst_tenth=mean_of_dearest(cost[i]),
            samples=self.spread.samples,
            seed=self.spread.seed,
            futures=len(few),
            gap=self._gap(plans[i], few, found),
        )

    def _own_plans(self, found: RobustPlan) -> Iterator[Scenario]:
        """The model's plan and what unit by unit changes make of the best, booked; none that a
        scenario begins already."""
        begun: list[Begun] = [scenario.begun for scenario in self.scenarios]
        known = {_name(one) for one in begun}
        begun += [found.begun] if found.begun is not None else []
        begun.append(self._polished(begun))
        for one in begun[len(self.scenarios) :]:
            plan = None if _name(one) in known else with_best_hours(self.market, one)
            known.add(_name(one))
            if plan is not None:
                yield booked(self.project, ScenarioKey.HYBRID, plan, self.scenarios[0].bound)

    def _polished(self, begun: Sequence[Begun]) -> Begun:
        """The best of `begun`, changed by the unit for as long as that pays."""
        keys = sorted({key for one in begun for key, units in one.items() if units.any()})
        best = begun[_first_least([self._judge(one) for one in begun])]
        while len(self._judged) < TRIES:
            tried = [best, *_changes(best, keys, self.project.calendar.months)]
            i = _first_least([self._judge(one) for one in tried])
            if not i:
                break
            best = tried[i]
        return best

    def _judge(self, begun: Begun) -> float:
        """Objective over some of the futures; ∞ for what a limit forbids."""
        name = _name(begun)
        if name not in self._judged:
            plan = with_best_hours(self.market, begun)
            self._judged[name] = np.inf if plan is None else self._over_some(plan)
        return self._judged[name]

    def _over_some(self, plan: Plan) -> float:
        used = hours_used(plan, self.project.by_key, self.project.hours)
        bare = Scenario(
            ScenarioKey.HYBRID,
            feasible=True,
            served_hours=self.project.hours,
            begun=plan.begun,
            used_hours=used,
            cost=plan.cost,
        )
        return self._objective(self._cost([bare], self._some)[0])

    @cached_property
    def _some(self) -> Futures:
        """Futures evenly spaced from the cheapest to the dearest."""
        step = -(-len(self.order) // POLISHED_OVER)
        return self.drawn.only(np.sort(self.order[step // 2 :: step]))

    def _cost(self, plans: Sequence[Scenario], futures: Futures) -> Floats:
        """[plan, N] net present cost, as `risk_of` reckons it."""
        project = self.project
        exposures = [exposure_of(plan, project) for plan in plans]
        return simulate(exposures, project.hours, project.peak, self.spread, futures)

    def _objective(self, cost: Floats) -> float:
        return float(cost.mean()) + self.weight * mean_of_dearest(cost)

    def _few(self) -> list[Future]:
        """The futures that stand for all, with the share that each stands for."""
        n = len(self.order)
        dear = round(n * (1 - TAIL))
        cuts = [
            *np.linspace(0, dear, FUTURES - IN_TAIL + 1)[:-1],
            *np.linspace(dear, n, IN_TAIL + 1),
        ]
        at = np.unique(np.round(cuts).astype(np.int64))
        classes = [self.order[a:b] for a, b in pairwise(at)]
        return [self._future(self._middle(rows), len(rows) / n) for rows in classes]

    def _middle(self, rows: NDArray[np.intp]) -> int:
        """The future that costs the scenarios most nearly what the class does on average."""
        cost = self.cost[:, rows] / np.maximum(np.abs(self.cost).mean(axis=1), 1e-12)[:, None]
        away = ((cost - cost.mean(axis=1)[:, None]) ** 2).sum(axis=0)
        return int(rows[away.argmin()])

    def _future(self, n: int, share: float) -> Future:
        project, drawn = self.project, self.drawn
        hours, peak, prices = asked_in(project.hours, project.peak, self.spread, drawn, n)
        return Future(hours, peak, prices, share, float(drawn.spot[n]))

    def _gap(self, scenario: Scenario, few: Sequence[Future], found: RobustPlan) -> float | None:
        """How far a plan is from the model's bound."""
        if not found.feasible:
            return None
        own = priced_over_futures(
            self.problem, few, scenario.begun, tail_weight=self.weight, bound=found.bound
        )
        return own.gap if own.feasible else None


def _first_least(figures: Sequence[float]) -> int:
    """Index of the first figure within a hair of the least.

    >>> _first_least([2.0, 1.0 + 1e-12, 1.0])
    1
    """
    least = min(figures)
    edge = least + HAIR * abs(least) if np.isfinite(least) else least
    return next(i for i, figure in enumerate(figures) if figure <= edge)


def _name(begun: Begun) -> tuple[tuple[str, bytes], ...]:
    """What tells plans apart: the units begun of each source by month."""
    return tuple(
        (key, units.astype(np.int64).tobytes())
        for key, units in sorted(begun.items())
        if units.any()
    )


def _changes(begun: Begun, keys: Sequence[str], months: int) -> Iterator[Begun]:
    """Plans with one unit more, fewer, earlier, later or of another source."""
    for key in keys:
        for month in range(0, months, max(1, months // ADDED_AT)):
            yield _changed(begun, months, (key, month, 1))
    for key, units in sorted(begun.items()):
        for month in np.flatnonzero(units).tolist():
            yield _changed(begun, months, (key, month, -1))
            for to in (month + shift for shift in SHIFTS):
                if 0 <= to < months:
                    yield _changed(begun, months, (key, month, -1), (key, to, 1))
            for other in keys:
                if other != key:
                    yield _changed(begun, months, (key, month, -1), (other, month, 1))


def _changed(begun: Begun, months: int, *changes: tuple[str, int, int]) -> Begun:
    """`begun` with (key, month, units) added.

    >>> _changed({"a": np.array([1, 0])}, 2, ("a", 0, -1), ("b", 1, 1))
    {'a': array([0, 0]), 'b': array([0, 1])}
    """
    new = {key: units.copy() for key, units in begun.items()}
    for key, month, units in changes:
        new.setdefault(key, np.zeros(months, np.int64))[month] += units
    return new
