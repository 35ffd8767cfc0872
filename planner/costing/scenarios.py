"""The scenarios: each the cheapest plan from the sources allowed to it. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

import numpy as np

from planner.contract.answer.common import ScenarioKey
from planner.contract.copies import replace
from planner.contract.labels import COMMITTED, FLEXIBLE, ON_DEMAND, OWNED, SPOT
from planner.costing.budgets_in_books import Budgets
from planner.costing.cost_model.ownership import first_arrival_month
from planner.costing.cost_model.spend_pools import select_costs
from planner.costing.inputs.exclusions import describe_missing, find_missing
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.model import Effort
from planner.costing.optimizer.problem import Plan, PlanProblem
from planner.costing.optimizer.solve import BESIDE, FULL, UNDECIDED, solve
from planner.costing.optimizer.work import WorkMeter
from planner.costing.plan_with_credits import PlansWithCredits
from planner.costing.results.ledger import build_ledger, capacity_rows, settle_used_hours
from planner.costing.results.scenario_result import Scenario
from planner.costing.run_machines import group_by_machine, group_by_run
from planner.costing.solve_by_kind import solve_by_kind
from pricing.common.words import pluralize

OPTIONS: Mapping[ScenarioKey, frozenset[str]] = {
    ScenarioKey.ON_DEMAND: ON_DEMAND,
    ScenarioKey.CLOUD: COMMITTED | ON_DEMAND | SPOT | FLEXIBLE,
    ScenarioKey.ON_PREM: ON_DEMAND | {OWNED},
    ScenarioKey.HYBRID: COMMITTED | ON_DEMAND | SPOT | FLEXIBLE | {OWNED},
}
"""Purchase options that a scenario may use."""
CONTAINS: Mapping[ScenarioKey, tuple[ScenarioKey, ...]] = {
    ScenarioKey.CLOUD: (ScenarioKey.ON_DEMAND,),
    ScenarioKey.HYBRID: (ScenarioKey.ON_DEMAND, ScenarioKey.CLOUD, ScenarioKey.ON_PREM),
}
"""Scenarios whose plans are open to another one too."""
NO_SERVER = "no server fits"
"""Why nothing can be owned; the reasons of each server stand elsewhere."""
LINE_UNITS = 20
"""Units of work for a line of the books."""


def scenario_options(key: ScenarioKey, interruptible: bool) -> frozenset[str]:
    """Purchase options that a scenario may use: none that can be interrupted where the work may
    not be."""
    return OPTIONS[key] if interruptible else OPTIONS[key] - SPOT - FLEXIBLE


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
    scenarios: dict[ScenarioKey, Scenario] = {}
    for i, key in enumerate(ScenarioKey):
        own_inputs = inputs.for_scenario(key)
        solver = common if own_inputs is inputs else _ScenarioSolver(own_inputs)
        others = [
            other
            for other in CONTAINS.get(key, ())
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
    units: Mapping[str, int] | None = None,
) -> Scenario:
    """One scenario by itself, to be held against others: without the sources of some keys and with
    just so many `units` of others; infeasible where no plan of it costs less than `ceiling`."""
    own = inputs.for_scenario(key)
    own = own.with_units(units) if units else own
    return _ScenarioSolver(own, ceiling, excluded, BESIDE).scenario(key, work)


def may_hold(inputs: ModelInputs, key: ScenarioKey, used: Set[str]) -> bool:
    """Whether a plan of all sources that pays for those `used` is one of this scenario too."""
    keys = inputs.keys(scenario_options(key, inputs.interruptible))
    return used <= keys and _cost_alike(inputs, key, ScenarioKey.HYBRID)


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
        effort: Effort = FULL,
    ) -> None:
        self.inputs, self.ceiling, self.excluded, self.effort = inputs, ceiling, excluded, effort
        self.plans: dict[tuple[str, frozenset[str]], Plan] = {}
        self.plan_of: dict[ScenarioKey, Plan] = {}

    def cheapest_of(self, keys: Iterable[ScenarioKey]) -> Plan | None:
        plans = (self.plan_of[key] for key in keys if key in self.plan_of)
        return min((plan for plan in plans if plan.feasible), key=lambda p: p.cost, default=None)

    def scenario(self, key: ScenarioKey, work: WorkMeter, known: Plan | None = None) -> Scenario:
        missing = missing_option(self.inputs, key)
        if missing:
            options = ON_DEMAND if key is ScenarioKey.ON_DEMAND else frozenset()
            is_sold = options & {s.purchase_option for s in self.inputs.sources}
            unknown = () if is_sold else find_missing(self.inputs.coverage, options)
            why_not = (missing, *describe_missing(unknown))
            return Scenario(key, feasible=False, why_not=why_not)
        plan = self.plan_of[key] = self._find_plan(key, work, known)
        if plan.feasible:
            warnings = tuple(self._warnings(key, plan))
            scenario = build_scenario(self.inputs, key, plan, plan.bound, warnings)
        else:
            valued = tuple(one for one in plan.conflicts if one.required_value is not None)
            why_not = tuple(reason for reason in plan.why_not if reason not in map(str, valued))
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
            credits = PlansWithCredits(self.inputs, problem) if self.inputs.pools else None
            ceiling, known = (self.ceiling, known) if credits is None else (np.inf, None)
            self.plans[cache_key] = Budgets(self.inputs, problem).solve_within(
                lambda step: self._search(keys, step, work, ceiling, known, credits)
            )
        return self.plans[cache_key]

    def _search(
        self,
        keys: frozenset[str],
        problem: PlanProblem,
        work: WorkMeter,
        ceiling: float,
        known: Plan | None,
        credits: PlansWithCredits | None,
    ) -> Plan:
        by_run = self.inputs.one_accelerator or self.inputs.fills_machines
        if by_run or self.inputs.one_machine:
            groups = list((group_by_run if by_run else group_by_machine)(keys, self.inputs))
            plan = solve_by_kind(problem, groups, work, ceiling, known, credits, self.effort)
            return plan if self.inputs.fills_machines else replace(plan, peak=None)
        if credits is None:
            return solve(problem, keys, effort=self.effort, work=work, ceiling=ceiling)
        plan = solve(problem, keys, effort=self.effort, work=work, spending=credits.spending)
        return credits.settle(plan)

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
    if key is ScenarioKey.ON_PREM:
        owned = [s for s in inputs.sources if s.is_owned]
        if not owned:
            return NO_SERVER
        months = inputs.calendar.months
        offered = [s for s in owned if s.existing is None]
        to_buy = [s for s in offered if s.max_units != 0]
        if offered and not to_buy and not has_existing_servers(inputs):
            return "no server may be bought: the most units of each is 0"
        to_buy = [s for s in to_buy if s.is_on_sale]
        if offered and not to_buy and not has_existing_servers(inputs):
            return "no server may be ordered in any month of the plan"
        if to_buy and first_arrival_month(to_buy, months) >= months:
            return f"a server bought now arrives after the horizon of {pluralize(months, 'month')}"
        return ""
    return "" if inputs.sources else "nothing fits"


def has_existing_servers(inputs: ModelInputs) -> bool:
    return any(s.existing is not None and s.existing.any() for s in inputs.sources)
