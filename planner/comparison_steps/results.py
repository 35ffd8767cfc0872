"""What a comparison finds: scenarios, break-even, advice and analyses, each computed once. PURE."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

from planner.comparison_steps.hours_range import range_of_plan
from planner.comparison_steps.scenario_results import (
    ANALYSIS_SHARE,
    EXPLANATION_SHARE,
    SMALL_SHARE,
    ScenarioResults,
)
from planner.comparison_steps.server_break_even import (
    PAID_USED_OR_NOT_RULES,
    against_cheapest_rent,
    list_break_even,
    list_cost_lines,
    with_rent_by_the_hour,
)
from planner.contract.answer.common import ScenarioKey
from planner.contract.request.risk import Risk
from planner.costing.advice.data_prices import warn_of_data_prices
from planner.costing.advice.explanation import Explanation, explain, list_purchases
from planner.costing.advice.idle_instruments import warn_of_idle_instruments
from planner.costing.advice.split_runs import warn_of_split_runs
from planner.costing.advice.uneven_hours import warn_of_uneven_hours
from planner.costing.advice.verdict import Recommendation, choose, choose_widest, recommend
from planner.costing.advice.warnings import (
    collect_warnings,
    warn_of_purchases,
    warn_of_sizing,
    warn_without_deadline,
)
from planner.costing.analysis.break_even import BreakEven
from planner.costing.analysis.carbon import Energy, GridCarbon, calculate_energy
from planner.costing.analysis.default_effects import DefaultEffect, measure_default_effects
from planner.costing.analysis.fit_simulation import fit_simulation
from planner.costing.analysis.monte_carlo import RiskParameters, build_risk_parameters
from planner.costing.analysis.risk_result import RiskResult
from planner.costing.analysis.robust_plan import RobustPlan, find_robust_plan
from planner.costing.analysis.sensitivity import TornadoBar, one_way_sensitivity
from planner.costing.analysis.simulation import Simulation, assess_risk
from planner.costing.analysis.turning_points import (
    Payback,
    TurningPoint,
    find_turning_points,
)
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.paying_use import CostLine
from planner.costing.results.payments import capital
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import scenario_options
from pricing.market.offers import HOURS_PER_MONTH

T = TypeVar("T")
SPLIT_RUNS_RULES = 6
"""Edition of the rules from which a run in several places is told, 2026."""
HOURS_AS_ASKED_RULES = 6
"""Edition of the rules from which hours that would change the advice are those to ask for, 2026."""
MOST_SERVERS = 5
"""Servers whose break-even an answer gives unless all are asked for."""
SMALL_USD = Decimal(1000)
"""Cost of a plan below which owning is no question; advice of this project, 2026."""


class ComparisonResults(ScenarioResults):
    """The results of one comparison, before they become its answer."""

    def within(self, name: str, share: float, compute: Callable[[WorkMeter], T], otherwise: T) -> T:
        """What is computed with a share of the work left, `otherwise` where that is not enough."""
        part = self.parts[name] = self.work.share(share)
        with suppress(WorkSpentError):
            return compute(part)
        return otherwise

    @cached_property
    def all_break_even(self) -> tuple[BreakEven, ...]:
        """When each server pays for itself against each way of renting."""
        return tuple(list_break_even(self.preparation))

    @cached_property
    def break_even_of_rents(self) -> tuple[BreakEven, ...]:
        """Each server against the cheapest rent that a plan may use instead, the first to pay
        back first; those that never do last."""
        return against_cheapest_rent(self.all_break_even, self._rents_allowed())

    @cached_property
    def break_even(self) -> tuple[BreakEven, ...]:
        """When servers pay for themselves: the first of them, or every one if that is asked for;
        none where the work is too small to own anything for it."""
        if self.preparation.rules.all_break_even:
            return self.all_break_even
        if self.is_small:
            return ()
        first = self.break_even_of_rents[:MOST_SERVERS]
        if self.request.rules < PAID_USED_OR_NOT_RULES:
            return first
        return with_rent_by_the_hour(first, self.all_break_even, self._rents_allowed())

    def _rents_allowed(self) -> frozenset[str]:
        """Ids of the offers that the recommendation may use and whose term fits the horizon."""
        options = scenario_options(ScenarioKey.CLOUD_MIX, self.inputs.interruptible)
        months = self.calendar.months
        return frozenset(
            s.offer_id
            for s in self.inputs.sources
            if s.purchase_option in options and (s.term is None or s.term.duration_months <= months)
        )

    @cached_property
    def is_small(self) -> bool:
        """Whether nobody would own for it: below `SMALL_USD`, or less than a node-month."""
        plan = choose(self.allowed_scenarios)
        if plan is None or not self.preparation.rules.judges_size:
            return False
        nodes = [self.inputs.by_key[key].capacity for key in self.priced_keys(plan)]
        hours = float(plan.served_hours.sum())
        is_cheap = plan.total_cost < SMALL_USD * Decimal(str(self.preparation.units_per_usd))
        return is_cheap or hours < HOURS_PER_MONTH * min(nodes, default=0.0)

    def priced_keys(self, plan: Scenario) -> list[str]:
        """Keys of what a plan pays for, in the order of the sources."""
        used = set(plan.used_hours) | set(plan.units_started)
        return [source.key for source in self.inputs.sources if source.key in used]

    @cached_property
    def turning_points(self) -> list[TurningPoint]:
        """How far hours and prices may move before another plan is the cheaper one."""
        advised = self.recommendation.scenario
        if advised is None or not self.request.sensitivity or self.is_small:
            return []
        return self.within(
            "turning_points",
            SMALL_SHARE,
            lambda part: find_turning_points(
                self.inputs,
                self.allowed_scenarios,
                advised,
                part,
                self._payback_of(advised),
                as_asked=self.request.rules >= HOURS_AS_ASKED_RULES,
            ),
            [],
        )

    def _payback_of(self, advised: ScenarioKey) -> Payback | None:
        """What the purchases of the advised plan have to save, or of one that buys nothing those of
        the cheapest that does; None where there are none, or they need not."""
        plan, refused = self.scenarios[advised], None
        rents = [one for one in self.allowed_scenarios.values() if one.feasible and not one.buys]
        if not (rents and self.preparation.rules.limits_to_payback):
            return None
        if not plan.buys:
            barred = self.consented_scenarios.keys() - self.allowed_scenarios.keys()
            plans = [self.scenarios[key] for key in sorted(barred)]
            refused = min(plans, key=lambda one: one.net_present_cost, default=None)
            if refused is None:
                return None
        bought = capital(refused or plan)
        return Payback(rents, float(bought) * self.payback_margin, refused)

    @cached_property
    def curve_lines(self) -> tuple[CostLine, ...]:
        """Cost of a node against its hours of use."""
        return () if self.is_small else tuple(list_cost_lines(self.preparation, self.break_even))

    @cached_property
    def recommendation(self) -> Recommendation:
        """The cheapest scenario, and why."""
        rows, allowed = () if self.is_small else self.all_break_even, self.allowed_scenarios
        barred = [plan for key, plan in self.scenarios.items() if key not in allowed]
        return recommend(
            allowed,
            self.inputs,
            rows,
            self.request.currency,
            barred,
            is_laid_anew=self.sooner is not None,
        )

    @cached_property
    def hours_range(self) -> tuple[float, float]:
        """Factors on the hours at p10 and p90: of the accelerator that the advised plan uses."""
        advised = self.recommendation.scenario
        plan = self.scenarios[advised] if advised and self.request.rules > 1 else None
        return range_of_plan(plan, self.inputs, self.demand)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What to know of the answer, each once."""
        preparation, allowed = self.preparation, self.allowed_scenarios
        offers, advised = preparation.offers, choose(allowed)
        collected = (
            *warn_of_purchases(advised, self.inputs, self.request),
            *warn_of_sizing(advised, self.inputs, self.demand),
            *self._split_runs(advised),
            *warn_of_uneven_hours(advised, self.inputs, self.request),
            *warn_without_deadline(self.request.workload, self.demand, self.calendar),
            *offers.warnings(),
            *preparation.servers.warnings(self.calendar, preparation.assumptions),
            *warn_of_idle_instruments(self.request, self.inputs, self.scenarios, advised),
            *warn_of_data_prices(self.request, self.inputs, advised),
            *collect_warnings(self.inputs, self.scenarios, allowed, offers.catalog_offers, advised),
        )
        return tuple(dict.fromkeys(collected))

    def _split_runs(self, advised: Scenario | None) -> Iterator[str]:
        """That a run is in several places at once, from rules 6 on."""
        if self.request.rules >= SPLIT_RUNS_RULES:
            name_place = self.preparation.name_place
            yield from warn_of_split_runs(advised, self.inputs, self.demand, name_place)

    @cached_property
    def risk_parameters(self) -> RiskParameters | None:
        """How far things may go from plan: always under edition 2 of the rules, else where the
        request asks for the risk."""
        price_processes = self.preparation.rules.price_processes
        if self.request.risk is None and not price_processes:
            return None
        return build_risk_parameters(
            self.request.risk or Risk(),
            self.preparation.assumptions,
            self.hours_range,
            price_processes,
        )

    @cached_property
    def simulation(self) -> Simulation | None:
        """The samples over which plans are costed, as many as the work left allows for; None
        where the risk is not computed, or that is too few."""
        parameters, risk = self.risk_parameters, self.request.risk
        if parameters is None:
            return None
        searches = risk is not None and risk.cvar_weight is not None
        plans = tuple(self.allowed_scenarios.values())
        part = self.parts["risk"] = self.work.share(ANALYSIS_SHARE)
        return fit_simulation(self.inputs, parameters, plans, part, searches=searches)

    @cached_property
    def risk(self) -> RiskResult | None:
        """The scenarios over simulated outcomes; None where the risk is not computed."""
        if self.simulation is None:
            return None
        scenarios, part = self.allowed_scenarios, self.parts["risk"]
        with suppress(WorkSpentError):
            return assess_risk(scenarios, self.simulation, self.report, part)
        return None

    @cached_property
    def robust_plan(self) -> RobustPlan | None:
        """The plan that holds up across the outcomes, where the request asks for it."""
        weight = self.request.risk.cvar_weight if self.request.risk else None
        if weight is None or self.simulation is None or self.recommendation.scenario is None:
            return None
        simulation, plans = self.simulation, self.allowed_scenarios.values()
        return self.within(
            "robust_plan",
            ANALYSIS_SHARE,
            lambda part: find_robust_plan(simulation, weight, plans, part),
            None,
        )

    @cached_property
    def explained(self) -> Scenario | None:
        """The advised plan under the widest way that comes to it; under earlier editions of the
        rules that of all sources, advised or not."""
        if self.preparation.rules.limits_to_payback:
            return choose_widest(self.allowed_scenarios)
        widest = self.scenarios[ScenarioKey.HYBRID]
        return widest if widest.feasible else None

    @cached_property
    def explanation(self) -> Explanation | None:
        """What the advised plan buys; with `explain` also what limits cost and where the advice
        changes. None where nothing is feasible."""
        best = self.explained
        if best is None:
            return None
        purchases = Explanation(list_purchases(best, self.inputs))
        if not self.request.explain:
            return purchases
        solved = self.solved_scenarios[ScenarioKey.HYBRID]
        holds_servers = solved.feasible and solved.net_present_cost < best.net_present_cost
        return self.within(
            "explanation",
            EXPLANATION_SHARE,
            lambda part: explain(
                best, self.inputs.for_scenario(best.key), part, holds_servers=holds_servers
            ),
            purchases,
        )

    @cached_property
    def tornado(self) -> list[TornadoBar]:
        """What moves the advised plan, the furthest reaching figure first."""
        advised = self.recommendation.scenario
        if advised is None or not self.request.sensitivity:
            return []
        explicit = frozenset(self.request.on_prem.model_fields_set)
        return self.within(
            "sensitivity",
            1.0,
            lambda part: one_way_sensitivity(
                self.inputs, self.consented_scenarios, advised, self.hours_range, explicit, part
            ),
            [],
        )

    @cached_property
    def default_effects(self) -> list[DefaultEffect]:
        """What each default does to owning less renting, the strongest first."""
        if not self.request.sensitivity:
            return []
        return self.within(
            "default_effects",
            1.0,
            lambda part: measure_default_effects(
                self.inputs, self.scenarios, self.allowed_scenarios, part
            ),
            [],
        )

    @cached_property
    def grids(self) -> GridCarbon:
        """Carbon of the electricity of each place."""
        return GridCarbon(self.preparation.catalog, self.request.on_prem.g_co2e_per_kwh)

    def energy(self, scenario: Scenario) -> Energy:
        """Energy and carbon of a feasible scenario."""
        return calculate_energy(scenario, self.inputs, self.grids.intensity)
