"""Plans whose bills use up credits and minimum spends: the cheapest with all of it counted. PURE.

The model of a plan shares bills out among the pools as it likes, so that what it proves bounds all
plans; the plan that it finds is settled again, pool by pool in the order of their ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from planner.contract.copies import cached_property
from planner.costing.cost_model.spend_pools import bills_of, settle_pools
from planner.costing.cost_model.terms import PaidWhen
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.plan_model import Spending, plan_cost
from planner.costing.optimizer.problem import Floats, Plan, PlanProblem


@dataclass(frozen=True)
class PlansWithCredits:
    """Plans of one problem, with what its credits and minimum spends make of their costs."""

    inputs: ModelInputs
    problem: PlanProblem

    def settle(self, plan: Plan) -> Plan:
        """The plan at its cost with its bills settled, and a bound on all plans."""
        bound = plan.bound - sum(p.most_excess(self.inputs.calendar) for p in self.inputs.pools)
        if not plan.feasible:
            return replace(plan, bound=bound)
        calendar, bills = self.inputs.calendar, self._bills(plan)
        months, units = self.problem.hours.size, self.problem.units
        keys = [one.key for one in self.problem.rental_options] + [one.key for one in units]
        hours = {key: np.zeros(months) for key in keys} | plan.rented_hours | plan.used_hours
        started = {one.key: np.zeros(months, np.int64) for one in units} | plan.units_started
        cost = plan_cost(self.problem, started, hours) + sum(
            float(amounts @ calendar.discount_of(pool.paid)) * (1.0 - calendar.tax_rate)
            for pool, amounts in settle_pools(self.inputs.pools, bills)
        )
        return replace(plan, cost=cost, bound=min(bound, cost))

    def _bills(self, plan: Plan) -> Mapping[str, Floats]:
        spending, months = self.spending, self.inputs.calendar.months
        totals = {provider: fixed.copy() for provider, fixed in spending.fixed.items()}
        for key, hours in (*plan.rented_hours.items(), *plan.used_hours.items()):
            if key in spending.hour:
                billed = spending.hour[key][:months] * hours[:, None]
                totals[spending.provider_of[key]][:months] += billed
        for key, started in plan.units_started.items():
            if key in spending.unit:
                totals[spending.provider_of[key]] += np.tensordot(started, spending.unit[key], 1)
        return totals

    @cached_property
    def spending(self) -> Spending:
        """The pools and the bills that they count, as the model sees them: no bill is worth more
        than it costs."""
        inputs, calendar = self.inputs, self.inputs.calendar
        own = calendar.discount_of(PaidWhen.RUNNING) * (1.0 - calendar.tax_rate)
        worth = np.array([np.minimum(pool.worth(calendar), own[:, None]) for pool in inputs.pools])
        fixed = {pool.provider: np.zeros((calendar.length, 2)) for pool in inputs.pools}
        sources = [s for s in inputs.sources if s.provider in fixed]
        bills = {source.key: bills_of(source, calendar) for source in sources}
        for source in sources:
            fixed[source.provider] += bills[source.key].fixed
        return Spending(
            tuple(pool.provider for pool in inputs.pools),
            worth,
            np.array([pool.amount for pool in inputs.pools]),
            np.array([pool.is_credit for pool in inputs.pools], bool),
            {source.key: source.provider for source in sources},
            {key: one.hour for key, one in bills.items()},
            {key: one.unit for key, one in bills.items()},
            fixed,
            1.0 - calendar.tax_rate,
        )
