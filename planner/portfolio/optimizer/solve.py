"""The cheapest joint plan, with a certified bound. PURE."""

from __future__ import annotations

import numpy as np

from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.optimizer.model import JointModel
from planner.portfolio.optimizer.problem import JointPlan, JointProblem

DEFAULT_GAP = 0.005
NODE_LIMIT = 2_000


def solve_joint(
    joint: JointProblem,
    *,
    gap: float = DEFAULT_GAP,
    node_limit: int = NODE_LIMIT,
    work: WorkMeter | None = None,
) -> JointPlan:
    """The cheapest plan for all projects; infinite cost where limits leave none, or none was found
    within the work (then its bound is finite).

    >>> from planner.costing.optimizer.problem import PlanProblem, RentalOption
    >>> from planner.portfolio.optimizer.problem import ProjectProblem
    >>> one = np.ones(1)
    >>> rent = RentalOption("rent", 8.0, 8.0, 20 * one, 20 * one)
    >>> needs = PlanProblem(800 * one, 16 * one, (rent,), ())
    >>> both = JointProblem((ProjectProblem("a", needs), ProjectProblem("b", needs)))
    >>> solve_joint(both).cost
    4000.0
    """
    work = WorkMeter() if work is None else work
    model = JointModel(joint)
    if not model.matrix.column_count:  # nothing to rent, buy or use, and hours to serve
        return JointPlan(np.inf, np.inf)
    program = model.matrix.program(work)
    scale = model.matrix.scale
    if not model.matrix.whole.size:
        if not program.run():
            return JointPlan(np.inf, np.inf)
        return model.plan(program.values(), program.objective * scale)
    outcome = program.solve_milp(model.matrix.whole, gap=gap, node_limit=node_limit)
    if outcome.values is None:
        return JointPlan(np.inf, outcome.bound * scale)
    return model.plan(outcome.values, outcome.bound * scale)


class GroupBounds:
    """What no plan of a group of projects costs less than, for one group after another: the plan
    that may start and rent fractions of machines.

    One programme stands for all groups: who is not in a group asks for nothing, and each search
    goes on from where the last one ended.
    """

    def __init__(self, joint: JointProblem, work: WorkMeter) -> None:
        self._model = JointModel(joint)
        self._program = self._model.matrix.program(work)
        self._lower, self._upper = self._model.matrix.sides()
        self._scale = self._model.matrix.scale
        self._places = {project.name: i for i, project in enumerate(joint.projects)}
        self._members = set(self._places)

    def least_cost(self, group: frozenset[str]) -> float:
        """Infinite where a limit leaves the group no plan."""
        for name in sorted(self._members ^ group):
            self._switch(name, is_member=name in group)
        self._members = set(group)
        if not self._program.run():
            return np.inf
        return self._program.objective * self._scale

    def _switch(self, name: str, is_member: bool) -> None:
        rows = self._model.project_rows[self._places[name]]
        lower = self._lower[rows]
        asks = lower if is_member else np.minimum(lower, 0.0)
        self._program.set_row_bounds(rows, asks, np.maximum(self._upper[rows], asks))
