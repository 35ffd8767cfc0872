"""Plans whose bills use up credits and minimum spends: the cheapest with all of it counted. PURE.

With bills s of a provider in the months of a pool of amount A, each worth w when it pays one, a
plan x costs cost(x) − Σ w·c, where c ≤ s and Σ c ≤ A (of a minimum spend, + w·A besides). For any
price μ of the pool's money no plan costs less than

    min over x of [cost(x) − Σ max(0, w − μ) · s(x)] − μ · A

a plan problem with lower prices for the provider's bills. An hour that is paid for later than the
pool comes to less than nothing there, which a plan problem does not take: every hour of that month
is then dearer by as much, which adds the same to all plans. The μ tried next is the one at which
the plans found so far promise the highest bound (Kelley's cutting planes). As one price switches
all months at once, plans that use a pool in its first months alone are tried besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.costing.cost_model.provider_bills import bills_of
from planner.costing.cost_model.spend_pools import SpendPool, settle_pools
from planner.costing.few_providers import keep_few_providers
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import CommitmentOption, Plan, PlanProblem, RentalOption
from planner.costing.optimizer.solve import DEFAULT_GAP
from planner.costing.pools_in_one_model import WholeModel, read_spending

Floats = NDArray[np.float64]
Search = Callable[[PlanProblem, float], Plan]
"""Solves a problem with a share of the work left."""
Excess = Callable[[Plan], float]
"""By how much the lines of a plan are over a budget; 0 where they keep to all."""
EXACT_ROUNDS = 3
"""Times that one is solved, lines that are over a budget having lowered it."""
ROUNDS = 4
"""Prices of its money that are tried for each pool, beside 0 and the worth of money."""
SOLVES = 2 * ROUNDS + 4
GRID = 49
"""Prices of one pool's money among which the highest bound is looked for."""


def find_plan_with_pools(
    inputs: ModelInputs, problem: PlanProblem, search: Search, over: Excess,
    whole: WholeModel | None = None, total: float | None = None,
) -> Plan:  # fmt: skip
    """The best plan found, its cost with the pools counted, and a bound on all plans; where none
    keeps to the budgets, the one that is least `over` them. `whole` solves small markets with
    their pools, the most that a plan may pay in `total`."""
    return _Finder(inputs, problem, search, over, whole, total).find()


@dataclass(frozen=True)
class _Found:
    """A plan with what it costs without pools, and [P, L] the bills in the months of each."""

    cost: float
    bills: Floats


@dataclass
class _Finder:
    inputs: ModelInputs
    problem: PlanProblem
    search: Search
    over: Excess
    whole: WholeModel | None = None
    total: float | None = None

    def __post_init__(self) -> None:
        calendar = self.inputs.calendar
        self.pools: Sequence[SpendPool] = self.inputs.pools
        self.worth = np.array([pool.worth(calendar) for pool in self.pools])
        self.amounts = np.array([pool.amount for pool in self.pools])
        self.bills = {s.key: bills_of(s, calendar) for s in self.inputs.sources if s.provider}
        self.tried: list[_Found] = []
        self.best: Plan | None = None
        self.least_over = np.inf
        self.bound = -np.inf

    def find(self) -> Plan:
        nothing = np.zeros(len(self.pools))
        first = self._try(nothing)
        if not first.feasible:
            return first
        if self.whole is not None and self._needs_whole():
            self._try_whole(self.whole)
        is_open = self.whole is None or self._gap() > DEFAULT_GAP or self.least_over > 0
        if is_open and (self.tried[0].bills.sum(axis=1) > self.amounts + 1e-6).any():
            highest = self.worth.max(axis=1)
            self._try(highest)
            alone = self._bills_alone(highest)
            for is_late in (False, True):
                self._try(nothing, self._months_in_turn(alone, is_late=is_late))
            for _ in range(ROUNDS * len(self.pools)):
                if self._gap() <= DEFAULT_GAP:
                    break
                self._try(self._most_promising())
        assert self.best is not None
        if self.inputs.keeps_books:
            self.bound -= sum(pool.most_excess(self.inputs.calendar) for pool in self.pools)
        best = keep_few_providers(self.best, self.inputs, self._price)
        return replace(best, bound=min(self.bound, best.cost))

    def _needs_whole(self) -> bool:
        return self._gap() > 0 or self.least_over > 0

    def _try_whole(self, whole: WholeModel) -> None:
        """The plan of one model with the pools in it."""
        problem, is_held = self.problem, self.total is not None
        if is_held:
            problem = replace(problem, total_budget=self.total)
        taxed = (1.0 - self.inputs.calendar.tax_rate) * is_held
        spending = read_spending(self.inputs, self.bills, self.worth, self._fixed_bills(), taxed)
        for turn in range(EXACT_ROUNDS):
            plan = whole(problem, spending)
            if plan is None:
                return
            if not turn and not np.isnan(plan.bound):
                self.bound = max(self.bound, plan.bound)
            over = self._weigh(plan) if plan.feasible else 0.0
            if not over or problem.total_budget is None or not is_held:
                return
            problem = replace(problem, total_budget=problem.total_budget - over)

    def _weigh(self, plan: Plan) -> float:
        """By how much a plan is over budgets; the best so far follows it."""
        cost, over = self._price(plan)
        if self.best is None or (over, cost) < (self.least_over, self.best.cost):
            self.best, self.least_over = replace(plan, cost=cost), over
        return over

    def _price(self, plan: Plan) -> tuple[float, float]:
        cost = self._cost_without_pools(plan) + self._cost_of_pools(self._bills(plan))
        return cost, self.over(plan)

    def _bills_alone(self, highest: Floats) -> Floats:
        """[P, L] the bills in the months of each pool where it alone is used."""
        if len(self.pools) == 1:
            return self.tried[0].bills
        rows = []
        for p in range(len(self.pools)):
            price = highest.copy()
            price[p] = 0.0
            self._try(price)
            rows.append(self.tried[-1].bills[p])
        return np.array(rows)

    def _months_in_turn(self, alone: Floats, *, is_late: bool) -> NDArray[np.bool_]:
        """[P, L] months in which each pool is used up, those that end first before the others; the
        month in which one runs out is its own where `is_late`."""
        months, taken = np.zeros(alone.shape, dtype=bool), np.zeros(alone.shape[1], dtype=bool)
        for p in sorted(range(len(self.pools)), key=lambda p: self.pools[p].last):
            bills = np.where(taken, 0.0, alone[p])
            before = np.cumsum(bills) - bills
            over = before + (0.0 if is_late else bills) > self.amounts[p] - 1e-6 * is_late
            months[p] = (bills > 0) & ~over
            taken |= months[p]
        return months

    def _most_promising(self) -> Floats:
        """The prices of the pools' money at which the plans found allow the highest bound: of all
        on a grid where there are one or two pools, else one pool at a time."""
        highest = self.worth.max(axis=1)
        if len(self.pools) <= 2:
            sides = [np.linspace(0.0, most, GRID) for most in highest]
            pairs = np.stack(np.meshgrid(*sides), axis=-1)
            return self._best_of(np.asarray(pairs.reshape(-1, len(sides)), dtype=np.float64))
        price = highest / 2
        for p in (*range(len(self.pools)), *range(len(self.pools))):
            tried = np.tile(price, (GRID, 1))
            tried[:, p] = np.linspace(0.0, highest[p], GRID)
            price = self._best_of(tried)
        return np.asarray(price, dtype=np.float64)

    def _best_of(self, prices: Floats) -> Floats:
        """Of `prices` [N, P] those at which the plans found allow the highest bound."""
        allowed = np.full(len(prices), np.inf)
        for one in self.tried:
            allowed = np.minimum(allowed, one.cost - self._paid_at(prices, one.bills))
        best: Floats = prices[int(np.argmax(allowed - prices @ self.amounts))]
        return best

    def _paid_at(self, prices: Floats, bills: Floats) -> Floats:
        """[N] what the pools take off `bills` [P, L] at `prices` [N, P]: a bill counts for one pool
        of its provider; up to rules 5 for each of them, which led to prices of little use."""
        worth = self.worth[:, None, :] - prices.T[:, :, None]
        paid = np.maximum(worth, 0.0) * bills[:, None, :]
        if not self.inputs.keeps_books:
            return np.asarray(paid.sum(axis=(0, 2)))
        providers = [pool.provider for pool in self.pools]
        rows = (
            [p for p, name in enumerate(providers) if name == one]
            for one in dict.fromkeys(providers)
        )
        return sum((paid[each].max(axis=0).sum(axis=-1) for each in rows), np.zeros(len(prices)))

    def _gap(self) -> float:
        best = self.best
        if best is None or best.cost <= 0:
            return 0.0
        return (best.cost - self.bound) / best.cost

    def _try(self, price: Floats, months: NDArray[np.bool_] | None = None) -> Plan:
        """The plan at one price of each pool's money, in `months` [P, L] alone where they are
        given; the best so far and the bound follow it."""
        lower = self._reductions(price, months)
        plan = self.search(self._with_lower_prices(lower), 1.0 / SOLVES)
        if not plan.feasible:
            return plan
        bills, fixed = self._bills(plan), self._fixed_bills()
        if months is None:
            owed = sum(
                float(self.worth[p].max()) * pool.amount
                for p, pool in enumerate(self.pools)
                if not pool.is_credit
            )
            free = sum(float(lower[name] @ fixed[name]) for name in lower)
            least = plan.bound + owed - free - float(price @ self.amounts)
            self.bound = max(self.bound, least - self._added(lower))
        without = self._cost_without_pools(plan)
        within = [bills[pool.provider] * (self.worth[p] > 0) for p, pool in enumerate(self.pools)]
        self.tried.append(_Found(without, np.array(within)))
        self._weigh(plan)
        return plan

    def _reductions(
        self, price: Floats, months: NDArray[np.bool_] | None = None
    ) -> Mapping[str, Floats]:
        """Provider → [L] what a bill of 1 costs less."""
        names = {pool.provider for pool in self.pools}
        worth = self.worth if months is None else np.where(months, self.worth, 0.0)
        return {
            name: np.max(
                [
                    np.maximum(worth[p] - price[p], 0.0)
                    for p, pool in enumerate(self.pools)
                    if pool.provider == name
                ],
                axis=0,
            )
            for name in names
        }

    def _with_lower_prices(self, lower: Mapping[str, Floats]) -> PlanProblem:
        added = self._added_per_hour(lower)
        rentals = tuple(
            replace(rental, hour_cost=self._lower_hour(rental, lower, added))
            for rental in self.problem.rental_options
        )
        units = tuple(
            replace(
                unit,
                start_cost=unit.start_cost - self._lower_start(unit.key, lower),
                hour_cost=self._lower_hour(unit, lower, added),
            )
            for unit in self.problem.units
        )
        return replace(self.problem, rental_options=rentals, units=units)

    def _lower_hour(
        self, option: RentalOption | CommitmentOption, lower: Mapping[str, Floats], added: Floats
    ) -> Floats:
        """[T] cost of a node-hour less what the pools pay of it, with what each hour of work has
        `added`; rounding aside not below 0."""
        return np.maximum(self._rest_of_hour(option, lower) + added * option.capacity, 0.0)

    def _rest_of_hour(
        self, option: RentalOption | CommitmentOption, lower: Mapping[str, Floats]
    ) -> Floats:
        """[T] cost of a node-hour less what the pools pay of it, below 0 where that is more."""
        reduction = lower.get(self.inputs.by_key[option.key].provider)
        if reduction is None:
            return option.hour_cost
        months = option.hour_cost.size
        return option.hour_cost - reduction[:months] * self.bills[option.key].hour[:months]

    def _added_per_hour(self, lower: Mapping[str, Floats]) -> Floats:
        """[T] what a reference accelerator-hour is made dearer by, so that none is below 0; up to
        rules 5 such hours counted as free, and the bound could lie above a plan."""
        added = np.zeros(self.problem.hours.size)
        if not self.inputs.keeps_books:
            return added
        options: list[RentalOption | CommitmentOption] = [
            *self.problem.rental_options,
            *self.problem.units,
        ]
        for option in options:
            added = np.maximum(added, -self._rest_of_hour(option, lower) / option.capacity)
        return added

    def _added(self, lower: Mapping[str, Floats]) -> float:
        """The most that this adds to the cost of a plan: on the hours of work, and on machines that
        rent whole for a node of each size more."""
        problem, served = self.problem, self.problem.hours
        if problem.whole_nodes:
            at_peak = np.divide(served, problem.peak, np.zeros_like(served), where=problem.peak > 0)
            served = served + sum({one.capacity for one in problem.rental_options}) * at_peak
        return float(served @ self._added_per_hour(lower))

    def _lower_start(self, key: str, lower: Mapping[str, Floats]) -> Floats | float:
        """[T] what the pools pay of a unit started in month m."""
        reduction = lower.get(self.inputs.by_key[key].provider)
        return 0.0 if reduction is None else np.asarray(self.bills[key].unit @ reduction)

    def _fixed_bills(self) -> dict[str, Floats]:
        """Provider → [L] what it bills whatever the plan."""
        totals = {pool.provider: np.zeros(self.inputs.calendar.length) for pool in self.pools}
        for source in self.inputs.sources:
            if source.provider in totals:
                totals[source.provider] += self.bills[source.key].fixed
        return totals

    def _bills(self, plan: Plan) -> dict[str, Floats]:
        """Provider → [L] what it bills under a plan."""
        totals, months = self._fixed_bills(), self.inputs.calendar.months
        for hours in (plan.rented_hours, plan.used_hours):
            for key, used in hours.items():
                provider = self.inputs.by_key[key].provider
                if provider in totals:
                    totals[provider][:months] += used * self.bills[key].hour[:months]
        for key, started in plan.units_started.items():
            provider = self.inputs.by_key[key].provider
            if provider in totals:
                totals[provider] += started @ self.bills[key].unit
        return totals

    def _cost_without_pools(self, plan: Plan) -> float:
        """Net present cost of a plan at the prices of its sources."""
        units = {unit.key: unit for unit in self.problem.units}
        rentals = {rental.key: rental for rental in self.problem.rental_options}
        cost = self.problem.base_cost
        for key, started in plan.units_started.items():
            cost += float(started[started > 0] @ units[key].start_cost[started > 0])
        for key, hours in plan.used_hours.items():
            cost += float(hours @ units[key].hour_cost)
        for key, hours in plan.rented_hours.items():
            cost += float(hours @ rentals[key].hour_cost)
        return cost

    def _cost_of_pools(self, bills: Mapping[str, Floats]) -> float:
        """What credits and shortfalls add, net present."""
        calendar = self.inputs.calendar
        return sum(
            float(amounts @ calendar.discount_of(pool.paid)) * (1.0 - calendar.tax_rate)
            for pool, amounts in settle_pools(self.pools, bills)
        )
