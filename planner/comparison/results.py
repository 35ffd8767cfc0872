"""The results of a comparison: plans, which of them may be advised, and the analyses. PURE.

Each is computed once, when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import inf
from typing import TypeVar

from planner.comparison.preparation import Preparation
from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.risk import Cause
from planner.contract.copies import cached_property, replace
from planner.contract.labels import COMMITTED, OWNED
from planner.contract.request.comparison import ComparisonRequest
from planner.contract.request.finance import Risk
from planner.contract.request.rules import LARGEST_NODE
from planner.contract.request.workload import Run
from planner.costing.advice.verdict import (
    Recommendation,
    describe_refusal,
    describe_uncertainty,
    list_relaxations,
    recommend,
)
from planner.costing.analysis.break_even import BreakEven, compute_break_even, find_best_rents
from planner.costing.analysis.outcomes import RiskParameters, build_risk_parameters
from planner.costing.analysis.plan_costs import may_rent
from planner.costing.analysis.plan_exposure import is_by_hour
from planner.costing.analysis.simulation import (
    Report,
    RiskResult,
    Simulation,
    fit_simulation,
    nobody_waits,
)
from planner.costing.choice import Choice, Terms, judge, judge_risk
from planner.costing.cost_model.ownership import first_arrival_month
from planner.costing.cost_model.terms import Calendar
from planner.costing.inputs.exclusions import explain_exclusions
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.policy.policy import PolicyResult, find_policy
from planner.costing.results.scenario_result import Scenario, cents
from planner.costing.scenarios import (
    NO_SERVER,
    may_hold,
    rank_feasible,
    scenario_options,
    solve_scenario,
    solve_scenarios,
)
from planner.sizing.demand import Demand
from planner.sizing.runs.run_size import RunSize
from pricing.common.words import as_sentence, pluralize
from pricing.market.offers import HOURS_PER_MONTH, PurchaseOption

T = TypeVar("T")
PREPARATION_UNITS, SOURCE_MONTH_UNITS = 10_000, 2.0
"""Units of work for what every comparison does, and for a month of a source."""
SCENARIO_SHARE, ANALYSIS_SHARE, SMALL_SHARE, POLICY_SHARE = 0.6, 0.7, 0.2, 0.5
"""Share of the work left that the scenarios may search with, then each of the analyses."""
FEW_OUTCOMES = 500
"""Outcomes in which alternatives are judged: the standard error of a saving is twice that of the
answer's own."""
MOST_SERVERS = 5
"""Servers whose break-even an answer gives unless all are asked for."""
SMALL_USD = Decimal(1000)
"""Cost of a plan below which owning is no question; advice of this project, 2026."""


@dataclass(frozen=True)
class EarlyFinish:
    """Runs that are finished before their deadlines."""

    preparation: Preparation
    """The question as it was asked."""
    total: Decimal | None
    """What the plan costs that spreads them over the months to their deadlines; None without one
    that keeps to the limits."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs as they were asked for."""
        return self.preparation.demand.runs


@dataclass(frozen=True)
class ComparisonResults:
    """The results of one comparison, before they become its answer."""

    preparation: Preparation
    work: WorkMeter = field(default_factory=WorkMeter)
    """What may be spent, on the scenarios first."""
    parts: dict[str, WorkMeter] = field(default_factory=dict)
    """Shares of it by what they are for."""
    report: Report = nobody_waits
    """Told how many of the simulated outcomes are costed."""
    early_finish: EarlyFinish | None = None
    """Where runs are finished before their deadlines; None where they are laid out as asked."""

    @property
    def request(self) -> ComparisonRequest:
        return self.preparation.request

    @property
    def demand(self) -> Demand:
        return self.preparation.demand

    @property
    def inputs(self) -> ModelInputs:
        return self.preparation.inputs

    @property
    def calendar(self) -> Calendar:
        return self.preparation.calendar

    def within(self, name: str, share: float, compute: Callable[[WorkMeter], T], otherwise: T) -> T:
        """What is computed with a share of the work left, `otherwise` where that is not enough."""
        part = self.parts[name] = self.work.share(share)
        with suppress(WorkSpentError):
            return compute(part)
        return otherwise

    # Plans ------------------------------------------------------------------------------------

    @cached_property
    def solved_scenarios(self) -> dict[ScenarioKey, Scenario]:
        """The cheapest plan of each way to buy, with what it owes later or why there is none."""
        self.charge_preparation()
        part = self.parts["scenarios"] = self.work.share(SCENARIO_SHARE, stops=False)
        return explain_scenarios(solve_scenarios(self.inputs, part), self.preparation)

    def charge_preparation(self) -> None:
        """Charges what every comparison does before its scenarios."""
        sources, months = len(self.inputs.sources), self.calendar.length
        self.work.charge(PREPARATION_UNITS + sources * months * SOURCE_MONTH_UNITS)
        if self.inputs.monthly_budget is not None:  # which holds the cash of every start by month
            starts = sum(source.term is not None for source in self.inputs.sources)
            self.work.charge_model(starts * self.calendar.months**2)

    @cached_property
    def terms(self) -> Terms:
        """What is asked of a plan before it is advised."""
        return Terms.of(self.preparation.assumptions)

    @cached_property
    def choice(self) -> Choice | None:
        """The plans in the same outcomes, and which of them is advised; None where none keeps to
        the limits. Where the work left allows for no outcomes, as if all went as stated."""
        plans = [plan for plan in self.solved_scenarios.values() if plan.feasible]
        if not plans:
            return None
        parameters, part = self.risk_parameters, self.work.share(ANALYSIS_SHARE)
        self.parts["risk"] = part
        if parameters.unavailable_probability > 1.0 - self.terms.certainty:
            by_hour = frozenset(one.key for one in self.inputs.sources if is_by_hour(one))
            sure = solve_scenario(self.inputs, ScenarioKey.HYBRID, part, excluded=by_hour)
            plans += [sure] if sure.feasible else []
        choice, simulation = judge(self.inputs, plans, self.terms, parameters, part, self.report)
        vars(self)["simulation"] = simulation
        return choice

    @cached_property
    def scenarios(self) -> dict[ScenarioKey, Scenario]:
        """The same; an advised plan that is none of them is that of each way to rent, and of both,
        that holds it. Their bounds hold for it: that of its own search is of fewer plans."""
        choice, solved = self.choice, self.solved_scenarios
        if choice is None or any(s.lines == choice.plan.lines for s in solved.values()):
            return solved
        plan, used = choice.plan, {one.key for one in choice.candidates[choice.index].used}
        holding = {
            key: replace(plan, key=key, bound=min(solved[key].bound, plan.cost))
            for key in (ScenarioKey.ON_DEMAND, ScenarioKey.CLOUD, ScenarioKey.HYBRID)
            if may_hold(self.inputs, key, used)
        }
        return {**solved, **explain_scenarios(holding, self.preparation)}

    @cached_property
    def allowed_scenarios(self) -> dict[ScenarioKey, Scenario]:
        """Scenarios that may be recommended."""
        return {k: s for k, s in self.scenarios.items() if not self.why_not_allowed(k)}

    def why_not_allowed(self, key: ScenarioKey) -> str:
        """Why a scenario may not be recommended; empty where it may."""
        choice = self.choice
        index = None if choice is None else choice.find(self.scenarios[key])
        if choice is None or index is None:
            return ""
        if choice.is_too_uncertain(index):
            return describe_uncertainty(choice, index, self.scenarios[key], self.inputs)
        if index not in choice.refusals:
            return ""
        return describe_refusal(choice, index, self.inputs, self.request.currency)

    @cached_property
    def recommendation(self) -> Recommendation:
        """The plan that is advised, and why."""
        return recommend(
            self.allowed_scenarios,
            self.choice,
            self.inputs,
            self.request.currency,
            is_laid_anew=self.early_finish is not None,
        )

    @cached_property
    def risk_allowance(self) -> tuple[tuple[Cause, Decimal], ...]:
        """What each cause adds to the total of the advised plan as stated, switched on after those
        before it: they sum to the expected cost less that total."""
        simulation, choice = self.simulation, self.choice
        if simulation is None or choice is None:
            return ()
        causes, plan = simulation.outcomes.causes, choice.plan
        ends = [plan.total_cost]
        with suppress(WorkSpentError):
            for n in range(1, len(causes)):
                some = simulation.with_causes(frozenset(causes[:n]))
                ends.append(cents(float(some.cost([plan], work=self.parts["risk"])[1, 0].mean())))
            ends.append(cents(float(choice.total[choice.index].mean())))
            return tuple(zip(causes, (b - a for a, b in pairwise(ends)), strict=True))
        return ()

    @property
    def expected_cost(self) -> float:
        """Expected net present cost of the plan that is advised."""
        choice = self.choice
        return inf if choice is None else float(choice.expected[choice.index])

    def saving_of(
        self, plan: Scenario, inputs: ModelInputs, expected: float, work: WorkMeter
    ) -> Decimal:
        """What a plan saves against the advised plan, net present: the mean difference in the same
        outcomes; where none are drawn, of what it is `expected` to cost."""
        if self.simulation is not None:
            drawn = fit_simulation(inputs, self.simulation.parameters, [plan], work)
            if drawn is None or drawn.parameters.samples < self.simulation.parameters.samples:
                raise WorkSpentError("the outcomes of a plan beside the advised plan")
            expected = float(drawn.cost([plan], work=work)[0, 0].mean())
        return cents(self.expected_cost - expected)

    @property
    def advised(self) -> Scenario | None:
        """The plan that is advised."""
        key = self.recommendation.scenario
        return None if key is None else self.scenarios[key]

    @property
    def main_accelerator(self) -> str:
        """The accelerator that does most of the advised work, in whose hours it is told."""
        return main_accelerator(self.advised, self.inputs, self.demand)

    @property
    def main_size(self) -> RunSize | None:
        """The largest run on it; None for hours that were given."""
        sizes = self.demand.sizes.get(self.main_accelerator, ())
        return max(sizes, key=lambda size: size.accelerators, default=None)

    @cached_property
    def is_small(self) -> bool:
        """Whether nobody would own for it: below `SMALL_USD`, or less than a node-month."""
        plan = self.advised
        if plan is None:
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
    def sizing_notes(self) -> tuple[str, ...]:
        """What sizing says of the accelerators of the plan; of the reference without a plan."""
        plan = self.advised
        keys = {*plan.used_hours, *plan.units_started} if plan else ()
        notes = self.demand.warnings_on({self.inputs.by_key[key].accelerator for key in keys})
        return tuple(map(as_sentence, notes))

    # Owning against renting -------------------------------------------------------------------

    @cached_property
    def all_break_even(self) -> tuple[BreakEven, ...]:
        """When each server pays for itself against each way of renting."""
        return tuple(_list_break_even(self.preparation))

    @cached_property
    def break_even_of_rents(self) -> tuple[BreakEven, ...]:
        """Each server against the cheapest rent that a plan may use instead, the first to pay
        back first; those that never do last."""
        best: dict[str, BreakEven] = {}
        for row in sorted(self.all_break_even, key=lambda row: row.rent_per_hour):
            if row.against in self._rents_allowed:
                best.setdefault(row.server, row)
        rows = sorted(best.values(), key=lambda row: row.server)
        return tuple(sorted(rows, key=lambda row: inf if row.hours is None else row.hours))

    @cached_property
    def break_even(self) -> tuple[BreakEven, ...]:
        """When servers pay for themselves: the first of them, or every one if that is asked for;
        none where the work is too small to own anything for it.

        The first server stands against the cheapest rent by the hour too where its row has a term:
        what is paid for used or not does not say how busy the server must be. Servers that nobody
        names are of no more accelerators than the work keeps busy, or than a usual machine has.
        """
        if self.preparation.rules.all_break_even:
            return self.all_break_even
        if self.is_small:
            return ()
        peak, named = float(self.inputs.peak.max()), self.request.on_prem.servers is not None
        fitting = {
            server.slug
            for server in self.preparation.servers.to_buy
            if named
            or server.accelerator_count <= LARGEST_NODE
            or server.accelerator_count <= peak / self.inputs.throughput[server.accelerator]
        }
        rows = tuple(r for r in self.break_even_of_rents if r.server in fitting)[:MOST_SERVERS]
        if not rows or not rows[0].term_months:
            return rows
        hourly = [
            row
            for row in self.all_break_even
            if row.server == rows[0].server
            and not row.term_months
            and row.against in self._rents_allowed
        ]
        return (rows[0], *sorted(hourly, key=lambda row: row.rent_per_hour)[:1], *rows[1:])

    @cached_property
    def _rents_allowed(self) -> frozenset[str]:
        options = scenario_options(ScenarioKey.CLOUD, self.inputs.interruptible)
        months = self.calendar.months
        return frozenset(
            s.offer_id
            for s in self.inputs.sources
            if s.purchase_option in options and (s.term is None or s.term.duration_months <= months)
        )

    # Doubt ------------------------------------------------------------------------------------

    @cached_property
    def hours_range(self) -> tuple[float, float]:
        """Factors on the hours at p10 and p90, on the accelerator of the cheapest plan."""
        plans = rank_feasible(self.solved_scenarios)
        return range_of_plan(next(iter(plans), None), self.inputs, self.demand)

    @property
    def few_outcomes(self) -> RiskParameters:
        """The same with so many outcomes as tell plans beside the answer's own apart."""
        samples = min(self.risk_parameters.samples, FEW_OUTCOMES)
        return replace(self.risk_parameters, samples=samples)

    @cached_property
    def risk_parameters(self) -> RiskParameters:
        """How far things may go from plan."""
        return build_risk_parameters(
            self.request.risk or Risk(), self.preparation.assumptions, self.hours_range
        )

    @cached_property
    def simulation(self) -> Simulation | None:
        """The outcomes in which plans are costed, as many as the work left allows for; None where
        that is too few."""
        drawn: Simulation | None = vars(self).get("simulation") if self.choice else None
        return drawn

    @cached_property
    def policy(self) -> PolicyResult | None:
        """What to do at later dates; None where nothing is left to decide, where the work is too
        small to wait for anything, and where the work left does not allow for it."""
        choice, simulation = self.choice, self.simulation
        every_months = self.request.decide_every_months
        if choice is None or simulation is None or not every_months or self.is_small:
            return None
        return self.within(
            "policy",
            POLICY_SHARE,
            lambda work: find_policy(choice, simulation, every_months, work),
            None,
        )

    @cached_property
    def risk(self) -> RiskResult | None:
        """The scenarios over simulated outcomes; None where the work left does not allow for it."""
        choice = self.choice
        if choice is None or self.simulation is None:
            return None
        return judge_risk(self.allowed_scenarios, choice, self.simulation.parameters)


def range_of_plan(
    plan: Scenario | None, inputs: ModelInputs, demand: Demand
) -> tuple[float, float]:
    """Factors on the hours at p10 and p90: of the accelerator that does most of the plan's work,
    else, and without a plan, of the reference accelerator."""
    ranges = {c.accelerator: c.range_p10_p90 for c in demand.candidates}
    return ranges.get(main_accelerator(plan, inputs, demand), demand.range_p10_p90)


def main_accelerator(plan: Scenario | None, inputs: ModelInputs, demand: Demand) -> str:
    """The accelerator that does most of the plan's work; the reference without a plan."""
    hours = hours_by_kind(plan, inputs) if plan else {}
    return max(hours, key=lambda slug: hours[slug], default=demand.accelerator)


def hours_by_kind(plan: Scenario, inputs: ModelInputs) -> dict[str, float]:
    """Accelerator-hours of a plan on each kind."""
    hours: dict[str, float] = {}
    for key, used in plan.used_hours.items():
        source = inputs.by_key[key]
        work = float(used.sum()) * source.accelerators
        hours[source.accelerator] = hours.get(source.accelerator, 0.0) + work
    return hours


def _list_break_even(preparation: Preparation) -> Iterator[BreakEven]:
    rents = find_best_rents(preparation.inputs.sources, preparation.calendar)
    explicit_fields = frozenset(preparation.request.on_prem.model_fields_set)
    for server in preparation.servers.to_buy:
        yield from compute_break_even(
            server,
            preparation.offers.throughput[server.accelerator],
            rents,
            preparation.assumptions,
            preparation.calendar,
            explicit_fields,
        )


def explain_scenarios(
    scenarios: Mapping[ScenarioKey, Scenario], preparation: Preparation
) -> dict[ScenarioKey, Scenario]:
    """Scenarios with the reasons for what is not there."""
    return {
        key: s if s.feasible else _explain_absence(key, s, preparation)
        for key, s in scenarios.items()
    }


def _explain_absence(key: ScenarioKey, scenario: Scenario, preparation: Preparation) -> Scenario:
    relaxations = list_relaxations(scenario.conflicts, preparation.request, preparation.inputs)
    sentences = [r.sentence[0].lower() + r.sentence[1:-1] for r in relaxations]
    is_unasked = preparation.request.on_prem.servers == ()
    return replace(
        scenario,
        relaxations=relaxations,
        why_not=(
            *sentences,
            *(why for why in scenario.why_not if not is_unasked or why != NO_SERVER),
            *_what_comes_late(scenario, preparation),
            *_what_is_missing(key, preparation),
        ),
    )


def _what_comes_late(scenario: Scenario, preparation: Preparation) -> Iterator[str]:
    inputs, calendar = preparation.inputs, preparation.calendar
    months, options = calendar.months, scenario_options(scenario.key, inputs.interruptible)
    if may_rent(scenario, inputs):
        return
    servers = [one for one in inputs.sources if one.is_owned and one.existing is None]
    arrival = first_arrival_month(servers, months)
    is_waited_for = 0 < arrival < months and inputs.hours[:arrival].any()
    if OWNED in options and preparation.servers.to_buy and is_waited_for:
        ordered, serves = f"{calendar.month(0):%B %Y}", f"{calendar.month(arrival):%B %Y}"
        yield (
            f"servers ordered in {ordered} are in service from {serves}: begin the work then, or "
            "give a shorter on_prem.lead_time_months"
        )

    terms = [
        source.term.duration_months
        for source in inputs.sources
        if source.purchase_option in options & COMMITTED and source.term is not None
    ]
    if terms and inputs.term_end == "within" and min(terms) > months:
        yield (
            f"contracts on sale run for {pluralize(min(terms), 'month')} or more, and a plan of "
            f"{pluralize(months, 'month')} signs none that outlasts it"
        )


def _what_is_missing(key: ScenarioKey, preparation: Preparation) -> tuple[str, ...]:
    request, servers = preparation.request, preparation.servers
    if key is ScenarioKey.ON_PREM:
        if request.on_prem.servers == ():
            return ("no server may be bought: the list of servers is empty",)
        return () if servers.to_buy else servers.summarize_exclusions()
    wanted = scenario_options(key, preparation.inputs.interruptible) - {OWNED}
    if wanted & {s.purchase_option for s in preparation.inputs.sources}:
        return ()
    missing = [option for option in PurchaseOption if option.value in wanted]
    return explain_exclusions(preparation.offers, missing) if request.use_catalog else ()
