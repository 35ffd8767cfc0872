"""What a joint plan costs in simulated outcomes. PURE.

Plans of projects apart are those of their comparisons. Of a joint one, what projects share costs
what it does in a comparison; it is started later by the demand of all that use it, as late as the
first of them needs it. Who then works on it is settled by `hand_over`, and each project pays for
the rest as in a comparison of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.costing.analysis.in_samples.samples import Market, Samples
from planner.costing.analysis.in_samples.units import add_units, hold_units
from planner.costing.analysis.monte_carlo import RiskParameters, chunks_of_one_slip
from planner.costing.analysis.outcomes import Outcomes
from planner.costing.analysis.plan_costs import list_priced_sources
from planner.costing.analysis.price_drivers import PriceDrivers, find_drivers
from planner.costing.analysis.recourse import pay_work, plan_units
from planner.costing.analysis.simulation import PriceProcessSimulation
from planner.costing.analysis.simulation_work import (
    drawing_units,
    fit_memory,
    fit_samples,
    measuring_units,
)
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.books import Books
from planner.portfolio.risk.draws import (
    ProjectDraws,
    draw_all,
    draw_as_planned,
    share_drivers,
)
from planner.portfolio.risk.hand_over import Work, find_window, hand_over, start_work
from planner.portfolio.risk.views import ProjectView, SharedView, risk_parameters
from pricing.market.offers import HOURS_PER_MONTH

TWICE = 2
"""Times that a project is gone through: for its work, and for what it pays."""


@dataclass(frozen=True)
class PortfolioSimulation:
    """The plan of some projects, as outcomes see it."""

    books: Books

    @cached_property
    def _leaves(self) -> tuple[Books, ...]:
        return self.books.apart or (self.books,)

    @cached_property
    def _views(self) -> tuple[tuple[ProjectView, ...], ...]:
        """The projects of each joint plan; none of the plan of one comparison."""
        return tuple(
            ()
            if leaf.shared is None
            else tuple(ProjectView.of(leaf, i) for i in range(len(leaf.members)))
            for leaf in self._leaves
        )

    @cached_property
    def parameters(self) -> list[RiskParameters]:
        """Of each project."""
        return [
            parameters
            for leaf, views in zip(self._leaves, self._views, strict=True)
            for parameters in (
                [one.parameters for one in views]
                or [risk_parameters(leaf.members[0], leaf.inputs[0], leaf.own[0][0])]
            )
        ]

    @cached_property
    def drivers(self) -> list[PriceDrivers]:
        drivers = []
        for leaf, views in zip(self._leaves, self._views, strict=True):
            drivers += [one.drivers for one in views]
            if not views:
                inputs = leaf.inputs[0]
                drivers.append(find_drivers(inputs, list_priced_sources(leaf.own[0], inputs)))
        return share_drivers(drivers)

    @property
    def _months(self) -> int:
        return self.books.inputs[0].calendar.months

    def fit(self, work: WorkMeter) -> int:
        """As many outcomes as the work left and memory allow for; 0 where that is too few."""
        months, count = self._months, len(self.drivers)
        prices = len(self.drivers[0].processes)
        costing = drawing_units(1_000, prices + count, months)
        for leaf, views in zip(self._leaves, self._views, strict=True):
            plans = [one.costs for one in views] + (
                [SharedView(leaf, views).costs] if views else []
            )
            costing += sum(TWICE * plan_units(1_000, plan, months) for plan in plans)
            if not views:
                costing += TWICE * plan_units(1_000, self._alone(leaf, 0).measure(leaf.own[0])[0],
                                              months)  # fmt: skip
        wanted = fit_memory(self.parameters[0].samples, prices + 6 * count, months)
        left = work.remaining - measuring_units(count, len(self.books.inputs[0].sources))
        samples = fit_samples(wanted, costing, left * 0.9)
        work.charge(costing * samples / 1_000)
        return samples

    def draw(self, samples: int) -> list[ProjectDraws]:
        """So many outcomes of every project."""
        fitted = [replace(one, samples=samples) for one in self.parameters]
        return draw_all(fitted, self.drivers, self._months)

    def as_planned(self) -> list[ProjectDraws]:
        """The one outcome in which all goes as planned."""
        return draw_as_planned(self.drivers, self._months)

    def cost(self, draws: Sequence[ProjectDraws]) -> Floats:
        """[2, N] net present and nominal cost of the plan."""
        total, place = np.zeros((2, len(draws[0].outcomes.slip))), 0
        for leaf, views in zip(self._leaves, self._views, strict=True):
            own = draws[place : place + len(leaf.members)]
            if views:
                total += _Joint(SharedView(leaf, views), own, self.parameters[place:]).cost()
            else:
                order = own[0].by_slip
                simulation = self._alone(leaf, place, own[0])
                simulation = replace(simulation, outcomes=own[0].outcomes.select(order))
                total[:, order] += simulation.cost(leaf.own[0])[:, 0]
            place += len(leaf.members)
        return total

    def _alone(
        self, leaf: Books, place: int, draws: ProjectDraws | None = None
    ) -> PriceProcessSimulation:
        """The outcomes of the comparison of one project."""
        drawn = self.as_planned()[place] if draws is None else draws
        own = self.parameters[place], drawn.drivers, drawn.outcomes
        return PriceProcessSimulation(leaf.inputs[0], *own)


@dataclass(frozen=True)
class _Joint:
    """Projects on machines that they share, in the outcomes of each."""

    shared: SharedView
    draws: Sequence[ProjectDraws]
    parameters: Sequence[RiskParameters]

    def cost(self) -> Floats:
        """[2, N]"""
        cost, nodes = self._hold(self._outcomes_of_all(self.draws))
        planned_draws = draw_as_planned([one.drivers for one in self.draws], self._months)
        planned = self._hold(self._outcomes_of_all(planned_draws))[1]
        planned = {key: row[0] for key, row in planned.items()}
        as_planned = self._works(planned_draws)
        spare = start_work(as_planned, {k: row[None] for k, row in planned.items()}, planned)
        works = self._works(self.draws)
        idle = start_work(works, nodes, planned)
        hand_over(works, idle, {key: row[0] for key, row in spare.items()})
        for place, (work, draws) in enumerate(zip(works, self.draws, strict=True)):
            cost += self._pay(work, draws, place)
        return cost

    @property
    def _months(self) -> int:
        return self.shared.books.inputs[0].calendar.months

    def _outcomes_of_all(self, draws: Sequence[ProjectDraws]) -> Outcomes:
        """The outcomes of what is shared: the demand of all that use it from a month on, and the
        delay of the first of them."""
        first = draws[0].outcomes
        weighed, weights = np.zeros(first.growth.shape), np.zeros(self._months)
        slips = []
        for project, one in zip(self.shared.projects, draws, strict=True):
            rows = [n * project.source(k).accelerators
                    for k, n in project.allotment.nodes.items()]  # fmt: skip
            weight = np.cumsum(sum(rows, np.zeros(self._months))[::-1])[::-1]
            weighed += weight * one.outcomes.demand(slice(None))
            weights += weight
            slips += [one.outcomes.slip] if weight.any() else []
        growth = np.divide(weighed, weights, out=np.ones_like(weighed), where=weights > 0)
        slip = np.min(slips, axis=0) if slips else np.zeros_like(first.slip)
        return replace(first, growth=growth, level=None, slip=slip)

    def _hold(self, outcomes: Outcomes) -> tuple[Floats, dict[str, Floats]]:
        """[2, N] what shared units cost, and [N, T] the nodes of each in service."""
        shared, count = self.shared, len(outcomes.slip)
        cost = np.zeros((2, count))
        nodes = {key: np.zeros((count, self._months)) for key in shared.sources}
        drivers = shared.drivers([one.drivers for one in self.draws])
        for order, some in _chunks(replace(shared.market, drivers=drivers), outcomes):
            held = hold_units(shared.costs, some)
            cost[:, order] = held.cost.T
            there = add_units(shared.costs, some, held.started, shared.first_nodes)
            for key, row in there.items():
                nodes[key][order] = row
        return cost, nodes

    def _market(self, place: int) -> Market:
        project = self.shared.projects[place]
        return Market(
            hours=project.inputs.hours,
            peak=project.inputs.peak,
            drivers=self.draws[place].drivers.of_source,
            max_spot_share=project.inputs.max_spot_share,
            spot_patience_hours=self.parameters[place].spot_patience_hours,
        )

    def _works(self, draws: Sequence[ProjectDraws]) -> list[Work]:
        works = []
        for place, (project, own) in enumerate(zip(self.shared.projects, draws, strict=True)):
            shape = own.outcomes.growth.shape
            demand, reserved, at_peak = np.zeros(shape), np.zeros(shape), np.zeros(shape)
            for order, some in _chunks(self._market(place), own.outcomes):
                demand[order], at_peak[order] = some.demand, some.at_peak
                for one in project.costs.reserved:
                    reserved[order] += one.move(one.held, some.slip)
            none, slip = np.zeros(shape), own.outcomes.slip.astype(float)
            if project.member.movable is not None:
                inside = find_window(project.member.movable, slip, self._months)
                at_peak = np.where(inside, HOURS_PER_MONTH, at_peak)
            works.append(Work(project, project.costs, demand, reserved, at_peak, slip, none, none))
        return works

    def _pay(self, work: Work, draws: ProjectDraws, place: int) -> Floats:
        """[2, N] what a project pays for itself."""
        cost = np.zeros((2, len(draws.outcomes.slip)))
        for order, some in _chunks(self._market(place), draws.outcomes):
            there = replace(some, demand=work.demand[order], at_peak=work.at_peak[order])
            own = np.tile(work.costs.fixed, (len(order), 1))
            cost[:, order] = pay_work(work.costs, there, work.served[order], own).T
        return cost


def _chunks(market: Market, outcomes: Outcomes) -> Iterator[tuple[NDArray[np.intp], Samples]]:
    """Rows of the outcomes, and these as samples of one slip."""
    order = np.argsort(outcomes.slip, kind="stable")
    ascending = outcomes.select(order)
    for rows, slip in chunks_of_one_slip(ascending.slip):
        yield order[rows], Samples.of(market, ascending, rows, slip)
