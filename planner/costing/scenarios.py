"""The scenarios: each the cheapest plan from the sources allowed to it. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.contract.labels import COMMITTED, FLEXIBLE, ON_DEMAND, OWNED, SPOT
from planner.costing.budgets_in_books import Budgets
from planner.costing.cost_model.ownership import first_arrival_month
from planner.costing.cost_model.spend_pools import select_costs
from planner.costing.inputs.exclusions import describe_missing, find_missing
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.problem import ConflictingConstraint, Plan, PlanProblem
from planner.costing.optimizer.solve import UNDECIDED, solve
from planner.costing.optimizer.work import MAX_MODEL_CELLS, WorkMeter
from planner.costing.plan_with_credits import PlansWithCredits
from planner.costing.results.ledger import build_ledger, capacity_rows, settle_used_hours
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import group_by_run
from planner.costing.solve_by_kind import solve_by_kind
from pricing.common.copies import replace
from pricing.common.pluralize import pluralize
from pricing.market.coverage import PriceState

OPTIONS: Mapping[ScenarioKey, frozenset[str]] = {
    ScenarioKey.ON_DEMAND: ON_DEMAND,
    ScenarioKey.SPOT: SPOT | ON_DEMAND,
    ScenarioKey.COMMITTED: COMMITTED | ON_DEMAND,
    ScenarioKey.CLOUD_MIX: COMMITTED | ON_DEMAND | SPOT | FLEXIBLE,
    ScenarioKey.ON_PREM: ON_DEMAND | {OWNED},
    ScenarioKey.HYBRID: COMMITTED | ON_DEMAND | SPOT | FLEXIBLE | {OWNED},
}
"""Purchase options that a scenario may use."""
CONTAINS: Mapping[ScenarioKey, tuple[ScenarioKey, ...]] = {
    ScenarioKey.COMMITTED: (ScenarioKey.ON_DEMAND,),
    ScenarioKey.CLOUD_MIX: (ScenarioKey.ON_DEMAND, ScenarioKey.SPOT, ScenarioKey.COMMITTED),
    ScenarioKey.HYBRID: tuple(key for key in ScenarioKey if key is not ScenarioKey.HYBRID),
}
"""Scenarios whose plans are open to another one too."""
_NOT_WIDENED = "machines larger than their quota were not tried: they do not fit into the memory"
LINE_UNITS = 20
"""Units of work for a line of the books."""


def scenario_options(key: ScenarioKey, interruptible: bool) -> frozenset[str]:
    """Purchase options that a scenario may use: none that can be interrupted, but for the spot
    scenario, where the work does not allow it."""
    options = OPTIONS[key]
    return options if interruptible or key is ScenarioKey.SPOT else options - SPOT - FLEXIBLE


def contained_scenarios(interruptible: bool) -> Mapping[ScenarioKey, tuple[ScenarioKey, ...]]:
    """Scenarios whose plans are open to another one too."""
    if interruptible:
        return CONTAINS
    return {
        key: tuple(other for other in others if other is not ScenarioKey.SPOT)
        for key, others in CONTAINS.items()
    }


def is_allowed(key: ScenarioKey, interruptible: bool) -> bool:
    """Whether a scenario may be recommended."""
    return interruptible or key is not ScenarioKey.SPOT


def solve_scenarios(
    inputs: ModelInputs, work: WorkMeter | None = None
) -> dict[ScenarioKey, Scenario]:
    """Every scenario, in the order of `ScenarioKey`.

    A plan that one scenario finds is open to every scenario that contains it and has the same
    other costs, so that none is more expensive than one it contains, whatever gap the optimiser
    stopped at. Each scenario may search with its share of the `work`, and what those before it
    left of theirs.
    """
    work = WorkMeter() if work is None else work
    common = _ScenarioSolver(inputs)
    contains = contained_scenarios(inputs.interruptible)
    scenarios: dict[ScenarioKey, Scenario] = {}
    for i, key in enumerate(ScenarioKey):
        own_inputs = inputs.for_scenario(key)
        solver = common if own_inputs is inputs else _ScenarioSolver(own_inputs)
        others = [
            other
            for other in contains.get(key, ())
            if scenarios[other].feasible and _cost_alike(inputs, key, other)
        ]
        part = work.share(1 / (len(ScenarioKey) - i), stops=False)
        own = solver.scenario(key, part, solver.cheapest_of(others))
        scenarios[key] = _cheapest(own, [scenarios[other] for other in others])
    return scenarios


def solve_scenario(
    inputs: ModelInputs,
    key: ScenarioKey,
    work: WorkMeter,
    ceiling: float = np.inf,
    excluded: frozenset[str] = frozenset(),
) -> Scenario:
    """One scenario by itself, without the sources of some keys; infeasible where no plan of it
    costs less than `ceiling`."""
    return _ScenarioSolver(inputs.for_scenario(key), ceiling, excluded).scenario(key, work)


def _cost_alike(inputs: ModelInputs, one: ScenarioKey, other: ScenarioKey) -> bool:
    costs = inputs.other_costs
    return select_costs(costs, one) == select_costs(costs, other)


def _cheapest(own: Scenario, others: Iterable[Scenario]) -> Scenario:
    best = own
    for other in others:
        if not best.feasible or other.net_present_cost < best.net_present_cost:
            best = other
    if best is own:
        return own
    is_bounded = own.feasible or UNDECIDED in own.why_not
    bound = min(own.bound, best.cost) if is_bounded else best.bound
    return replace(best, key=own.key, bound=bound, warnings=own.warnings)


class _ScenarioSolver:
    def __init__(
        self,
        inputs: ModelInputs,
        ceiling: float = np.inf,
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        self.inputs, self.ceiling, self.excluded = inputs, ceiling, excluded
        self.plans: dict[tuple[str, frozenset[str]], Plan] = {}
        self.plan_of: dict[ScenarioKey, Plan] = {}

    def cheapest_of(self, keys: Iterable[ScenarioKey]) -> Plan | None:
        plans = (self.plan_of[key] for key in keys if key in self.plan_of)
        return min((plan for plan in plans if plan.feasible), key=lambda p: p.cost, default=None)

    def scenario(self, key: ScenarioKey, work: WorkMeter, known: Plan | None = None) -> Scenario:
        missing = missing_option(self.inputs, key)
        if missing:
            by_key = {ScenarioKey.ON_DEMAND: ON_DEMAND, ScenarioKey.SPOT: SPOT}
            options = by_key.get(key, frozenset())
            is_sold = options & {s.purchase_option for s in self.inputs.sources}
            unknown = () if is_sold else find_missing(self.inputs.coverage, options)
            why_not = (missing, *describe_missing(unknown))
            limits = self._quotas_in_the_way(key, work)
            return Scenario(key, feasible=False, why_not=why_not, conflicts=limits)
        plan = self.plan_of[key] = self._find_plan(key, work, known)
        if plan.feasible:
            warnings = tuple(self._warnings(key, plan))
            scenario = build_scenario(self.inputs, key, plan, plan.bound, warnings)
        else:
            valued = self._quotas_in_the_way(key, work) or _with_values(plan.conflicts)
            why_not = tuple(reason for reason in plan.why_not if reason not in map(str, valued))
            if self.inputs.beyond_quotas and self._is_too_large_to_widen:
                why_not = (*why_not, _NOT_WIDENED)
            scenario = Scenario(key, False, why_not, conflicts=valued, bound=plan.bound)
        work.charge(LINE_UNITS * len(scenario.lines))
        return scenario

    def _find_plan(self, key: ScenarioKey, work: WorkMeter, known: Plan | None) -> Plan:
        keys = self.inputs.keys(scenario_options(key, self.inputs.interruptible)) - self.excluded
        problem, months = self.inputs.problem, self.inputs.calendar.months
        if key is ScenarioKey.ON_PREM:
            servers = [s for s in self.inputs.sources if s.is_owned]
            is_before = np.arange(months) < first_arrival_month(servers, months)
            rental_options = tuple(
                replace(s, available=is_before if s.available is None else s.available & is_before)
                for s in problem.rental_options
            )
            problem = replace(problem, rental_options=rental_options)
            return self._solve(keys, problem, work, "on_prem")
        if key is ScenarioKey.SPOT:
            spot_only = self._solve(self.inputs.keys(SPOT) - self.excluded, problem, work)
            if spot_only.feasible:
                return spot_only
        return self._solve(keys, problem, work, known=known)

    def _solve(
        self,
        keys: frozenset[str],
        problem: PlanProblem,
        work: WorkMeter,
        name: str = "",
        known: Plan | None = None,
    ) -> Plan:
        cache_key = (name, keys)
        if cache_key not in self.plans:
            budgets = Budgets(self.inputs, problem)
            steps = budgets.search()
            step = next(steps)
            while isinstance(step, PlanProblem):
                step = steps.send(self._solve_step(keys, step, work, known, budgets))
            self.plans[cache_key] = step
        return self.plans[cache_key]

    def _solve_step(
        self, keys: frozenset[str], step: PlanProblem, work: WorkMeter, known: Plan | None,
        budgets: Budgets,
    ) -> Plan:  # fmt: skip
        if not self.inputs.pools:
            return self._search(keys, step, work, self.ceiling, known)

        def search(one: PlanProblem, credits: PlansWithCredits) -> Plan:
            return self._search(keys, one, work, credits=credits)

        plans = PlansWithCredits(self.inputs, step, budgets.most_over, budgets.most_in_total)
        return plans.find(search)

    def _search(
        self,
        keys: frozenset[str],
        problem: PlanProblem,
        work: WorkMeter,
        ceiling: float = np.inf,
        known: Plan | None = None,
        credits: PlansWithCredits | None = None,
    ) -> Plan:
        if self.inputs.one_accelerator or self.inputs.fills_machines:
            groups = list(group_by_run(keys, self.inputs))
            plan = solve_by_kind(
                problem,
                [one.keys for one in groups],
                work,
                ceiling,
                known,
                [one.peak for one in groups],
                [one.is_level for one in groups],
                credits=credits,
            )
            return plan if self.inputs.fills_machines else replace(plan, peak=None)
        if credits is None:
            return solve(problem, keys, work=work, ceiling=ceiling)
        return credits.settle(solve(problem, keys, work=work, spending=credits.spending))

    def _quotas_in_the_way(
        self, key: ScenarioKey, work: WorkMeter
    ) -> tuple[ConflictingConstraint, ...]:
        inputs = self.inputs
        if not inputs.beyond_quotas or np.isfinite(self.ceiling) or self._is_too_large_to_widen:
            return ()
        rentals = (*inputs.rentals, *inputs.beyond_quotas)
        wider = _ScenarioSolver(replace(inputs, rentals=rentals, beyond_quotas=()))
        if missing_option(wider.inputs, key):
            return ()
        return _with_values(wider._find_plan(key, work, None).conflicts)

    @property
    def _is_too_large_to_widen(self) -> bool:
        calendar = self.inputs.calendar
        committed = sum(rental.is_committed for rental in self.inputs.beyond_quotas)
        units = 2 * len(self.inputs.units) + committed
        return units * calendar.months * calendar.length > MAX_MODEL_CELLS

    def _warnings(self, key: ScenarioKey, plan: Plan) -> Iterator[str]:
        inputs = self.inputs
        owned = {s.key for s in inputs.sources if s.is_owned}
        units_started = {k for k, units in plan.units_started.items() if units.any()}
        if (
            key is ScenarioKey.ON_PREM
            and not units_started & owned
            and not has_existing_servers(inputs)
        ):
            yield "No server is bought: the work is over before the first one could arrive."
        if key is ScenarioKey.COMMITTED and not has_commitments(inputs, plan, units_started):
            is_known = not find_missing(inputs.coverage, COMMITTED)
            reason = "fits" if is_known else "has a known price here"
            if any(s.purchase_option in COMMITTED for s in inputs.sources):
                reason = "saves money" if is_known else "with a known price saves money"
            yield f"No commitment {reason}: this is renting on demand alone."
        yield from self._missing_prices(key, plan)

    def _missing_prices(self, key: ScenarioKey, plan: Plan) -> Iterator[str]:
        inputs = self.inputs
        options = scenario_options(key, inputs.interruptible) & COMMITTED
        used = {k for k, hours in plan.rented_hours.items() if hours.any()}
        used |= {k for k, units in plan.units_started.items() if units.any()}
        rented = {s.accelerator for s in map(inputs.by_key.__getitem__, used) if not s.is_owned}
        missing = [
            row
            for row in (find_missing(inputs.coverage, options, rented) if rented else ())
            if row.state is PriceState.SOLD_PRICE_UNKNOWN
        ]
        if missing:
            yield "Proven for the prices known here; some of what is sold has no known price."
            yield from describe_missing(missing)


def _with_values(limits: Sequence[ConflictingConstraint]) -> tuple[ConflictingConstraint, ...]:
    return tuple(one for one in limits if one.required_value is not None)


def build_scenario(
    inputs: ModelInputs, key: ScenarioKey, plan: Plan, bound: float, warnings: tuple[str, ...] = ()
) -> Scenario:
    """A feasible plan with its books; none of the scenario's sources gives one below `bound`."""
    used = settle_used_hours(plan, inputs.by_key, inputs.hours)
    ledger = build_ledger(plan, inputs.by_key, used, inputs.calendar, inputs.pools)
    return Scenario(
        key,
        feasible=True,
        lines=ledger.lines,
        accrued=ledger.accrued,
        entries=ledger.entries,
        present=ledger.present,
        pool_entries=ledger.pool_entries,
        write_off=ledger.write_off,
        peak=plan.peak,
        is_level=plan.is_level,
        capacity=capacity_rows(
            plan, inputs.by_key, used, lambda kind: inputs.runs.hours_in(plan.peak, kind)
        ),
        calendar=inputs.calendar,
        served_hours=inputs.hours,
        units_started={k: units for k, units in plan.units_started.items() if units.any()},
        used_hours=used,
        cost=plan.cost,
        bound=min(bound, plan.cost),
        warnings=warnings,
    )


def rank_feasible(scenarios: Mapping[ScenarioKey, Scenario]) -> Sequence[Scenario]:
    """Scenarios that have a plan, the cheapest net present cost first; ties in their order."""
    return sorted((s for s in scenarios.values() if s.feasible), key=lambda s: s.net_present_cost)


def missing_option(inputs: ModelInputs, key: ScenarioKey) -> str:
    """What a scenario lacks to be one at all, "" if nothing."""
    options = {s.purchase_option for s in inputs.sources if s.existing is None}
    if key is ScenarioKey.ON_DEMAND and not options & ON_DEMAND:
        return "no offer on demand fits"
    if key is ScenarioKey.SPOT and not options & SPOT:
        return "no spot offer fits"
    if key is ScenarioKey.SPOT and inputs.max_spot_share == 0:
        return "the most spot is 0%"
    if key is ScenarioKey.ON_PREM:
        owned = [s for s in inputs.sources if s.is_owned]
        if not owned:
            return "no server fits"
        months = inputs.calendar.months
        offered = [s for s in owned if s.existing is None]
        to_buy = [s for s in offered if s.max_units != 0]
        if offered and not to_buy and not has_existing_servers(inputs):
            return "no server may be bought: the most units of each is 0"
        if to_buy and first_arrival_month(to_buy, months) >= months:
            return f"a server bought now arrives after the horizon of {pluralize(months, 'month')}"
        return ""
    return "" if inputs.sources else "nothing fits"


def has_existing_servers(inputs: ModelInputs) -> bool:
    return any(s.existing is not None and s.existing.any() for s in inputs.sources)


def has_commitments(inputs: ModelInputs, plan: Plan, units_started: Collection[str]) -> bool:
    """Whether a plan pays for anything before it is used."""
    used = {key for key, hours in plan.rented_hours.items() if hours.any()} | set(units_started)
    return any(inputs.by_key[key].purchase_option in COMMITTED for key in used)
