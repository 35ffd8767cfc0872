"""Orders of joining, walked in two lanes: what each project adds to those that joined before. PURE.

Pair `i` of orders belongs to lane `i` mod 2. A lane has a model of its own and goes through its
pairs in their order, so that its figures are the same wherever it is walked: both lanes in one
process, one after the other's pair, or each in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.portfolio.optimizer.problem import JointProblem
from planner.portfolio.optimizer.solve import GroupBounds
from planner.portfolio.shares import Game, walk_orders

LANES = 2


@dataclass(frozen=True)
class GroupCosts:
    """What no plan of a group costs less than, of projects that hold no machines yet: fractions
    of machines are allowed, and one model serves all groups."""

    joint: JointProblem
    base_costs: Mapping[str, float]
    """What is due of each project whatever the plan, net present."""

    def game(self, work: WorkMeter) -> Game:
        """The cost of each group, in cents; each worked out once, from where the last one ended."""
        bounds = GroupBounds(self.joint, work)
        known: dict[frozenset[str], float] = {frozenset(): 0.0}

        def least_cost(group: frozenset[str]) -> float:
            if group not in known:
                base = sum(self.base_costs[name] for name in sorted(group))
                known[group] = (bounds.least_cost(group) + base) * 100
            return known[group]

        return least_cost


class Step(NamedTuple):
    """One pair of orders."""

    work: int
    """Units that it took."""
    added: NDArray[np.float64] | None
    """[n] cents that each project adds, the mean of both orders; None where the work is spent."""


@dataclass(frozen=True)
class Sampling:
    """The pairs of orders to walk."""

    costs: GroupCosts
    names: Sequence[str]
    pairs: int
    seed: int = 0
    most_work: float = field(default=float("inf"))
    """Units beyond which a lane goes no further."""

    def lane(self, number: int) -> Iterator[Step]:
        """The steps of one lane."""
        work = WorkMeter(self.most_work)
        before = 0
        try:
            game = self.costs.game(work)
            walks = walk_orders(self.names, game, self.pairs, self.seed, number, LANES)
            for added in walks:
                yield Step(work.done - before, added)
                before = work.done
        except WorkSpentError:
            yield Step(work.done - before, None)


Lane = Iterator[Step]
OpenLanes = Callable[[Sampling], Sequence[Lane]]
"""Opens every lane of a sampling; who has read enough closes those that can be closed."""


def open_here(sampling: Sampling) -> list[Lane]:
    """Lanes that are walked in this process, as they are read."""
    return [sampling.lane(number) for number in range(LANES)]


def read_in_turn(lanes: Sequence[Lane], work: WorkMeter) -> Iterator[NDArray[np.float64]]:
    """What projects add, pair by pair in their order, with the work of each counted."""
    turn = 0
    while True:
        step = next(lanes[turn % len(lanes)], None)
        if step is None:
            return
        work.charge(step.work)
        if step.added is None:
            raise work.leave_out("orders of joining take more work than is left")
        yield step.added
        turn += 1


def close(lanes: Sequence[Lane]) -> None:
    """Ends lanes that nobody reads any more."""
    for lane in lanes:
        end = getattr(lane, "close", None)
        if end is not None:
            end()
