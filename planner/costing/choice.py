"""Which plan is advised: the least expected cost among those that may be. PURE.

Plans are judged by what they cost in the same N outcomes: E(p) is the mean of the net present costs
of plan p, S(p, q) = E(q) − E(p) what p saves against q, in pairs of outcomes. Of each *part* of a
plan, S is asked against the best plan that has not that part and binds to nothing that p does not
(two servers of a kind that do the same are told apart by E alone):

- hurdle: what cannot be undone (servers of a kind, contracts of an instrument, a block) saves at
  least max(h · what it binds to, effort), and is cheaper in at least a share w of the outcomes
- simplicity: a further provider, region or machine saves at least max(s · E(p), effort)
- certainty: a total budget is kept in at least a share c of the outcomes; where no plan keeps it so
  often, plans within two points of the greatest chance are judged

The plan of least E that clears all of them is advised. h, w, c, effort are values of the request;
s is an assumption of this project.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.labels import traits
from planner.costing.analysis.outcomes import RiskParameters
from planner.costing.analysis.simulation import (
    Report,
    RiskResult,
    Simulation,
    fit_simulation,
    nobody_waits,
    planned_simulation,
    reach_plans,
    summarize_risk,
)
from planner.costing.assumptions.assumptions import Assumptions
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.charges import CAPITAL
from planner.costing.model_inputs import ModelInputs
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import Scenario
from planner.costing.scenarios import solve_scenario

Floats = NDArray[np.float64]
Part = tuple[str, ...]
"""Kind of a part and what tells it from others of its kind."""
BINDING = CAPITAL | {Category.COMMITMENT, Category.UPFRONT, Category.LEASE}
"""Lines of what cannot be undone once it is bought or signed."""
CERTAINTY_SLACK = 0.02
"""Chance by which plans may be apart that are as certain as each other; an assumption, 2026."""
SEARCH_SHARE = 0.3
"""Share of the work left that is searched with for plans without each part of the cheapest ones."""
FIRST_STEP, MOST_MOVES, MOST_MOVED = 0.125, 3, 2
"""Share of the units of a part by which a plan is moved first, how often, and of how many parts; an
assumption, 2026."""
MOST_SOLVES, FEW_SOLVES = 12, 4
"""Plans that are looked for without a part, and of alternatives; an assumption, 2026."""


@dataclass(frozen=True)
class Terms:
    """What is asked of a plan."""

    certainty: float
    """Share of outcomes in which a total budget is kept."""
    hurdle_share: float
    """Share of what it binds to that a purchase or contract saves."""
    hurdle_chance: float
    """Share of outcomes in which it is cheaper."""
    effort_cost: float
    """What any further part saves at least, in the currency of the request."""
    simplicity_share: float
    """Share of its expected cost that each further part of a plan saves."""

    @classmethod
    def of(cls, assumptions: Assumptions) -> Terms:
        """The terms among the values of a request."""
        return cls(*(assumptions[name] for name in cls.__dataclass_fields__))

    def required(self, part: Part, bound: float, expected: float) -> float:
        """What a part has to save, of what it binds to and of what the plan is expected to cost.

        >>> terms = Terms(0.9, 0.05, 0.7, 500.0, 0.01)
        >>> terms.required(("servers", "dgx"), 1e6, 2e6)
        50000.0
        >>> terms.required(("provider", "aws"), 0, 1e4)
        500.0
        """
        share = self.simplicity_share * abs(expected) if part[0] in SIMPLE else 0.0
        return max(self.hurdle_share * bound, share, self.effort_cost)


SIMPLE = frozenset({"provider", "region", "machine"})
"""Parts of which a plan has at least one, so that only further ones have to save."""


def part_of(source: CapacitySource) -> Part | None:
    """What cannot be undone that a source is a part of; None of what is rented by the hour and of
    what is there already."""
    if source.existing is not None or not source.capacity:
        return None
    if source.is_owned:
        return ("leased" if source.is_leased else "servers", source.key)
    option = traits(source.purchase_option)
    if option.is_commitment or option.is_paid_ahead:
        months = source.term.duration_months if source.term else 0
        kind = "contract" if option.is_commitment else "block"
        names = (source.provider, source.purchase_option, source.accelerator)
        return (kind, *names, str(months))
    return None


def simple_parts(source: CapacitySource) -> Iterator[Part]:
    """Provider, region and machine of what is rented or signed."""
    if source.provider and source.capacity and source.existing is None:
        yield ("provider", source.provider)
        yield ("region", source.provider, source.region)
        yield ("machine", source.instance_type)


def is_of(part: Part, source: CapacitySource) -> bool:
    """Whether a source belongs to a part."""
    return part == part_of(source) or part in simple_parts(source)


@dataclass(frozen=True)
class Candidate:
    """A plan, and what it is made of."""

    plan: Scenario
    sources: Mapping[str, CapacitySource]

    @cached_property
    def used(self) -> tuple[CapacitySource, ...]:
        """Sources that it starts or uses."""
        return tuple(self.sources[k] for k in {**self.plan.units_started, **self.plan.used_hours})

    @cached_property
    def binding(self) -> Mapping[Part, float]:
        """What each part that cannot be undone binds to: its payments, undiscounted."""
        of_source: dict[str, float] = defaultdict(float)
        for line in self.plan.lines:
            if line.category in BINDING:
                of_source[line.source] += float(line.amount)
        parts: dict[Part, float] = defaultdict(float)
        for source in self.used:
            part = part_of(source)
            if part is not None:
                parts[part] += of_source[source.key]
        return parts

    @cached_property
    def further(self) -> frozenset[Part]:
        """Providers, regions and machines of a plan that has several of them."""
        kinds: dict[str, set[Part]] = defaultdict(set)
        for source in self.used:
            for part in simple_parts(source):
                kinds[part[0]].add(part)
        several = (parts for parts in kinds.values() if len(parts) > 1)
        return frozenset[Part]().union(*several)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that has to be worth it, in a fixed order."""
        return (*sorted(self.binding), *sorted(self.further))

    def has(self, part: Part) -> bool:
        """Whether a part is in the plan."""
        return any(is_of(part, source) for source in self.used)


def judge(
    inputs: ModelInputs,
    plans: Sequence[Scenario],
    terms: Terms,
    parameters: RiskParameters,
    work: WorkMeter,
    report: Report = nobody_waits,
    most_solves: int = MOST_SOLVES,
) -> tuple[Choice, Simulation | None]:
    """The plans, and those without their parts, in the same outcomes, and which of them is advised.
    Where the work does not allow for outcomes, as if all went as stated, and no simulation."""
    candidates = find_candidates(plans, inputs, work.share(SEARCH_SHARE), most_solves)
    judged = [one.plan for one in candidates]
    drawn = fit_simulation(inputs, parameters, judged, work)
    simulation = drawn or planned_simulation(inputs, parameters, judged)
    costs = simulation.cost(judged, report, work if drawn else None)
    choice = choose_at(candidates, costs, inputs.total_budget, terms)
    if drawn is not None and most_solves == MOST_SOLVES:
        with suppress(WorkSpentError):
            choice = _move_units(choice, costs, inputs, drawn, work)
    return choice, drawn


def choose_at(
    candidates: Sequence[Candidate], costs: Floats, budget: float | None, terms: Terms
) -> Choice:
    """The choice among plans of which [3, P, N] costs are known: net present, nominal, and nominal
    payments before resale."""
    present, total, paid = costs
    within = np.ones(len(paid)) if budget is None else (paid <= budget + 0.5).mean(axis=1)
    return choose(Choice(tuple(candidates), present, total, within, terms))


def _move_units(
    choice: Choice, costs: Floats, inputs: ModelInputs, drawn: Simulation, work: WorkMeter
) -> Choice:
    """The choice with neighbours of its plan: some units of each of its largest parts fewer or
    more, by an eighth first, then by half as many, as long as that helps.

    The plan of stated values is right for the mean of the hours; what it signs is paid for in
    outcomes of fewer hours too.
    """
    tried: set[frozenset[tuple[str, int]]] = set()
    share = FIRST_STEP
    for _ in range(MOST_MOVES):
        neighbours = list(_neighbours(choice, inputs, share, tried, work.share(SEARCH_SHARE)))
        if not neighbours:
            break
        more = drawn.cost([one.plan for one in neighbours], work=work)
        costs = np.concatenate([costs, more], axis=1)
        every = (*choice.candidates, *neighbours)
        moved = choose_at(every, costs, inputs.total_budget, choice.terms)
        if moved.index == choice.index:
            share /= 2
        choice = moved
    return choice


def _neighbours(
    choice: Choice,
    inputs: ModelInputs,
    share: float,
    tried: set[frozenset[tuple[str, int]]],
    work: WorkMeter,
) -> Iterator[Candidate]:
    candidate = choice.candidates[choice.index]
    started = {key: int(n.sum()) for key, n in candidate.plan.units_started.items()}
    bound = [key for key in started if part_of(inputs.by_key[key]) in candidate.binding]
    bound.sort(key=lambda key: (-candidate.binding[part_of(inputs.by_key[key]) or ()], key))
    known = {source.key for one in choice.candidates for source in one.used}
    new = {key for key in known if part_of(inputs.by_key[key]) and key not in started}
    excluded = frozenset(inputs.by_key.keys() - (known - new))
    for key in bound[:MOST_MOVED]:
        step = max(1, round(started[key] * share))
        limit = inputs.units[key].max_units
        most = started[key] + step if limit is None else limit
        for count in (started[key] - step, started[key] + step):
            units = {**started, key: count}
            if not 1 <= count <= most or frozenset(units.items()) in tried:
                continue
            tried.add(frozenset(units.items()))
            plan = solve_scenario(inputs, ScenarioKey.HYBRID, work, excluded=excluded, units=units)
            if plan.feasible and choice.find(plan) is None:
                yield Candidate(plan, inputs.by_key)


def find_candidates(
    plans: Iterable[Scenario], inputs: ModelInputs, work: WorkMeter, most_solves: int = MOST_SOLVES
) -> list[Candidate]:
    """The plans given, of different lines, and those without each part of the cheapest ones; the
    first given come first."""
    candidates: list[Candidate] = []
    excluded_of: dict[int, frozenset[str]] = {}
    seen: set[frozenset[str]] = set()

    def add(plan: Scenario, excluded: frozenset[str]) -> None:
        if not any(plan.lines == other.plan.lines for other in candidates):
            excluded_of[len(candidates)] = excluded
            candidates.append(Candidate(plan, inputs.by_key))

    for plan in plans:
        add(plan, frozenset())
    solves, done = 0, set[int]()
    while solves < most_solves:
        open_ = [i for i in range(len(candidates)) if i not in done]
        if not open_:
            break
        at = min(open_, key=lambda i: (candidates[i].plan.net_present_cost, i))
        done.add(at)
        candidate = candidates[at]
        for without in _without_each(candidate, excluded_of[at]):
            if without in seen or solves >= most_solves:
                continue
            seen.add(without)
            solves += 1
            with suppress(WorkSpentError):
                other = solve_scenario(inputs, ScenarioKey.HYBRID, work, excluded=without)
                if other.feasible:
                    add(other, without)
    return candidates


def _without_each(candidate: Candidate, excluded: frozenset[str]) -> Iterator[frozenset[str]]:
    """For each part: without it and what the plan does not bind to, then without it alone."""
    sources = candidate.sources
    bound = {key: part_of(source) for key, source in sources.items()}
    new = {k for k, part in bound.items() if part is not None and part not in candidate.binding}
    for part in candidate.parts:
        without = excluded | {key for key, one in sources.items() if is_of(part, one)}
        yield without | new
        if part in candidate.binding:
            yield without


@dataclass(frozen=True)
class Refusal:
    """Why a plan that costs less in expectation is not advised."""

    part: Part
    saving: float
    """What the part saves in expectation, net present, against the best plan without it."""
    required: float
    chance: float
    """Share of outcomes in which it is cheaper."""


@dataclass(frozen=True)
class Choice:
    """The plan that is advised, and how the others fare."""

    candidates: tuple[Candidate, ...]
    present: Floats
    """[P, N] net present cost of each candidate in each outcome."""
    total: Floats
    """[P, N] nominal cost."""
    within_budget: Floats
    """[P] share of outcomes in which a candidate keeps the total budget."""
    terms: Terms
    index: int = 0
    refusals: Mapping[int, Refusal] = field(default_factory=dict)

    @property
    def plan(self) -> Scenario:
        """The plan that is advised."""
        return self.candidates[self.index].plan

    @cached_property
    def expected(self) -> Floats:
        """[P] mean net present cost."""
        return np.asarray(self.present.mean(axis=1))

    def find(self, plan: Scenario) -> int | None:
        """The candidate that comes to a plan."""
        lines = plan.lines
        same = (i for i, one in enumerate(self.candidates) if one.plan.lines == lines)
        return next(same, None)

    def savings_of(self, terms: tuple[str, str, int]) -> Floats | None:
        """[N] what the contract of a provider, option and months saves the plan that is advised,
        against the best plan without it; None where there is none."""
        provider, option, months = terms
        named = ("contract", provider, option, str(months))
        for part in self.candidates[self.index].binding:
            if (*part[:3], part[-1]) == named:
                rival = _best_without(self, self.index, part)
                return None if rival is None else self.present[rival] - self.present[self.index]
        return None

    def rivals_of(self, index: int) -> list[int]:
        """The best plans without each part of a candidate."""
        rivals = (_best_without(self, index, part) for part in self.candidates[index].parts)
        return [i for i in rivals if i is not None]

    @cached_property
    def admissible(self) -> list[int]:
        """Candidates that are certain enough, or as certain as can be."""
        least = min(self.terms.certainty, float(self.within_budget.max()) - CERTAINTY_SLACK)
        return [i for i in range(len(self.candidates)) if self.within_budget[i] >= least]


def choose(choice: Choice) -> Choice:
    """The least expected cost of the plans each of whose parts is worth it.

    A plan that is refused leaves; as each part of it is held against the best plan without that
    part, which is among the candidates unless there is none, a plan is left in the end.
    """
    refusals: dict[int, Refusal] = {}
    open_ = sorted(choice.admissible, key=lambda i: (choice.expected[i], i))
    for i in open_:
        refusal = _refuse(choice, i)
        if refusal is None:
            return replace(choice, index=i, refusals=refusals)
        refusals[i] = refusal
    first = open_[0]
    return replace(choice, index=first, refusals={i: refusals[i] for i in open_[1:]})


def _refuse(choice: Choice, index: int) -> Refusal | None:
    candidate, terms = choice.candidates[index], choice.terms
    for part in candidate.parts:
        rival = _best_without(choice, index, part)
        if rival is None:
            continue
        saved = choice.present[rival] - choice.present[index]
        saving, chance = float(saved.mean()), float((saved > 0).mean())
        required = terms.required(
            part, candidate.binding.get(part, 0.0), float(choice.expected[index])
        )
        is_bound = part in candidate.binding
        if saving < required or (is_bound and chance < terms.hurdle_chance):
            return Refusal(part, saving, required, chance)
    return None


def _best_without(choice: Choice, index: int, part: Part) -> int | None:
    candidates, plan = choice.candidates, choice.candidates[index]
    others = (
        i
        for i in choice.admissible
        if not candidates[i].has(part) and candidates[i].binding.keys() <= plan.binding.keys()
    )
    return min(others, key=lambda i: (choice.expected[i], i), default=None)


def clears_hurdle(plan: Scenario, rival: Scenario | None, terms: Terms) -> bool:
    """Whether what a plan binds to is worth it at stated values, where no outcomes are drawn: it
    saves at least the hurdle against the best plan that buys and signs nothing new.

    True where there is no such plan.
    """
    if rival is None or not rival.feasible:
        return True
    bound = sum(float(line.amount) for line in plan.lines if line.category in BINDING)
    bound -= sum(float(line.amount) for line in rival.lines if line.category in BINDING)
    saved = float(rival.net_present_cost - plan.net_present_cost)
    return saved >= max(terms.hurdle_share * max(bound, 0.0), terms.effort_cost)


def judge_risk(
    scenarios: Mapping[ScenarioKey, Scenario], choice: Choice, parameters: RiskParameters
) -> RiskResult:
    """Percentiles, probability of being cheapest and regret of every feasible scenario."""
    feasible = [(s, choice.find(s)) for s in scenarios.values() if s.feasible]
    rows = [(s, i) for s, i in feasible if i is not None]
    at = [i for _, i in rows]
    result = summarize_risk(
        [s.key for s, _ in rows], choice.present[at], choice.total[at], parameters
    )
    present_value = {s.key: (float(s.net_present_cost), len(s.lines)) for s, _ in rows}
    nominal = {s.key: (float(s.total_cost), len(s.lines)) for s, _ in rows}
    return replace(
        result,
        percentiles=reach_plans(result.percentiles, present_value),
        total_percentiles=reach_plans(result.total_percentiles, nominal),
    )


def rank(choice: Choice, scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Feasible scenarios, the least expected cost first; ties in their order."""
    judged = [(choice.find(s), s) for s in scenarios if s.feasible]
    rows = [(float(choice.expected[i]), n, s) for n, (i, s) in enumerate(judged) if i is not None]
    return [s for _, _, s in sorted(rows, key=lambda row: row[:2])]


def standard_error(costs: Floats) -> float:
    """Of the mean of [N] costs: s / √N."""
    return float(costs.std(ddof=1) / np.sqrt(costs.size)) if costs.size > 1 else 0.0


def round_to_error(amount: float, error: float) -> float:
    """An amount to the power of ten of its standard error.

    >>> round_to_error(5_975_346.2, 8_140.0), round_to_error(412.31, 0.0)
    (5975000.0, 412.31)
    """
    if error <= 1.0:
        return amount
    step = 10.0 ** int(np.floor(np.log10(error)))
    return round(amount / step) * step
