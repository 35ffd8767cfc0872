"""Which plan is advised: the least expected cost among those that may be. PURE.

Plans are judged by what they cost in the same N outcomes: E(p) is the mean of the net present costs
of plan p, S(p, q) = E(q) − E(p) what p saves against q, in pairs of outcomes. B(p) is the money
that p binds to and cannot be undone (servers, contracts, blocks), D(p, q) that of the parts (a kind
of server, an instrument and its term) of which p binds to more than q, n(p) the number of machines,
by place, that it rents. The *rivals* of p are the plans q that ask for less, B(q) < B(p), or as
much and n(q) < n(p), and that clear the following themselves. Against each of them

- hurdle: S(p, q) ≥ max(h · (B(p) − B(q)), effort), and p is the cheaper in at least a share
  w · (B(p) − B(q)) / D(p, q) of the outcomes: in w of them against a plan that does without, in
  fewer against one that takes less of it, or something else instead
- simplicity: S(p, q) ≥ max(s · |E(p)| · (n(p) − n(q)), effort)
- certainty: a total budget is kept, and no work late for want of machines by the hour, in a share
  of the outcomes that is, with a standard error √(f (1 − f) / N), at least c; where no plan does so
  as often, plans within two points of the greatest chance are judged

*Bound*: in batch b of ten of the outcomes, G_b is the mean cost of the advised plan p less the
least mean of a plan that clears them. At 95 % none is cheaper than p in expectation by more than
mean G + 1.833 sd(G) / √10 (Mak, Morton and Wood, Operations Research Letters 24, 1999), where 1.833
is Student's t for nine; the bound is E(p) less that, as p is chosen in the same outcomes a guide.

The plan of least E that clears all of them is advised. There is one: what asks for least has no
rival. h, w, c, effort are values of the request; s is an assumption of this project.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from planner.contract.answer.common import Category, ScenarioKey
from planner.contract.copies import cached_property
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
FIRST_STEP, MOST_MOVES, MOST_MOVED, MOST_TRIED = 0.125, 3, 2, 24
"""Share of the units of a part by which a plan is moved first, how often, of how many parts, and in
how many ways in all; an assumption, 2026."""
BATCHES, STUDENT_T_95 = 10, 1.833
"""Of the outcomes for the bound, and Student's t of nine degrees of freedom, one-sided."""
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
    """Share of outcomes in which it is cheaper than a plan without it."""
    effort_cost: float
    """What any further part saves at least, in the currency of the request."""
    simplicity_share: float
    """Share of its expected cost that each further part of a plan saves."""

    @classmethod
    def of(cls, assumptions: Assumptions) -> Terms:
        """The terms among the values of a request."""
        return cls(*(assumptions[name] for name in cls.__dataclass_fields__))

    def required(self, bound: float, machines: int, expected: float) -> float:
        """What a plan has to save that binds to more money and rents more machines, of what it is
        expected to cost.

        >>> terms = Terms(0.9, 0.05, 0.7, 500.0, 0.01)
        >>> terms.required(1e6, 0, 2e6), terms.required(0, 1, 2e6), terms.required(0, 1, 1e4)
        (50000.0, 20000.0, 500.0)
        """
        share = self.simplicity_share * abs(expected) * max(machines, 0)
        return max(self.hurdle_share * bound, share, self.effort_cost)


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

    @cached_property
    def bound(self) -> float:
        """What it binds to in all, in whole units: two plans of the same contracts bind alike."""
        return float(round(sum(self.binding.values())))

    def beyond(self, other: Candidate) -> float:
        """What it binds to in the parts of which another plan binds to less."""
        rows = self.binding.items()
        return sum(bound for part, bound in rows if bound > other.binding.get(part, 0.0))

    @cached_property
    def machines(self) -> int:
        """Machines that it rents or signs for, by place."""
        rented = (one for one in self.used if one.provider and one.capacity)
        new = (one for one in rented if one.existing is None)
        return len({(one.provider, one.region, one.instance_type) for one in new})

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that a rival may do without, in a fixed order."""
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
    excluded: frozenset[str] = frozenset(),
) -> tuple[Choice, Simulation | None]:
    """The plans, and those without their parts, in the same outcomes, and which of them is advised.
    Where the work does not allow for outcomes, as if all went as stated, and no simulation. None
    is looked for among `excluded` sources."""
    candidates = find_candidates(plans, inputs, work.share(SEARCH_SHARE), most_solves, excluded)
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
    """The choice among plans of which [4, P, N] costs are known (`cost_plans`)."""
    present, total, paid, late = costs
    is_within = paid <= (np.inf if budget is None else budget + 0.5)
    certain = (is_within & (late < 0.5)).mean(axis=1)
    return choose(Choice(tuple(candidates), present, total, is_within.mean(axis=1), certain, terms))


def _move_units(
    choice: Choice, costs: Floats, inputs: ModelInputs, drawn: Simulation, work: WorkMeter
) -> Choice:
    """The choice with neighbours of its plan, and of the plan of least expected cost where that
    asks for too much: some units of each of its largest parts fewer or more, or in the place of
    another's, by an eighth first, then by half as many, as long as that helps.

    The plan of stated values is right for the median of the hours; what it signs is paid for in
    outcomes of fewer hours too.
    """
    tried: set[frozenset[tuple[str, int]]] = set()
    share = FIRST_STEP
    for _ in range(MOST_MOVES):
        least = min(choice.admissible, key=choice.rank_of)
        part = work.share(SEARCH_SHARE)
        neighbours: list[Candidate] = []
        for at in dict.fromkeys((choice.index, least)):
            for one in _neighbours(choice, at, inputs, share, tried, part):
                if not any(one.plan.lines == other.plan.lines for other in neighbours):
                    neighbours.append(one)
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
    at: int,
    inputs: ModelInputs,
    share: float,
    tried: set[frozenset[tuple[str, int]]],
    work: WorkMeter,
) -> Iterator[Candidate]:
    candidate = choice.candidates[at]
    started = {key: int(n.sum()) for key, n in candidate.plan.units_started.items()}
    bound = [key for key in started if part_of(inputs.by_key[key]) in candidate.binding]
    bound.sort(key=lambda key: (-candidate.binding[part_of(inputs.by_key[key]) or ()], key))
    known = {source.key for one in choice.candidates for source in one.used}
    new = {key for key in known if part_of(inputs.by_key[key]) and key not in started}
    for units in _moved(started, bound[:MOST_MOVED], sorted(new), share, inputs):
        if frozenset(units.items()) in tried or len(tried) >= MOST_TRIED:
            continue
        tried.add(frozenset(units.items()))
        others = {key for key in known - units.keys() if part_of(inputs.by_key[key])}
        excluded = frozenset(inputs.by_key.keys() - (known - others))
        plan = solve_scenario(inputs, ScenarioKey.HYBRID, work, excluded=excluded, units=units)
        if plan.feasible and choice.find(plan) is None:
            yield Candidate(plan, inputs.by_key)


def _moved(
    started: Mapping[str, int],
    bound: Sequence[str],
    new: Sequence[str],
    share: float,
    inputs: ModelInputs,
) -> Iterator[dict[str, int]]:
    """Units of each source with those of one of `bound` fewer or more, or fewer by as many as
    another one, or one of `new`, has more."""
    for key in bound:
        step = max(1, round(started[key] * share))
        limit = inputs.units[key].max_units
        fewer = {k: n for k, n in {**started, key: started[key] - step}.items() if n}
        if fewer:
            yield fewer
        if limit is None or started[key] + step <= limit:
            yield {**started, key: started[key] + step}
        whole = [one for one in new if one in inputs.units]
        for other in [one for one in (*bound, *whole[:MOST_MOVED]) if one != key]:
            unit = inputs.units[other]
            more = max(1, round(step * inputs.units[key].capacity / unit.capacity))
            count = started.get(other, 0) + more
            if unit.max_units is None or count <= unit.max_units:
                yield {**fewer, other: count}


def find_candidates(
    plans: Iterable[Scenario],
    inputs: ModelInputs,
    work: WorkMeter,
    most_solves: int = MOST_SOLVES,
    excluded: frozenset[str] = frozenset(),
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
        add(plan, excluded)
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

    rival: int
    """The plan that asks for less."""
    saving: float
    """What is saved against it in expectation, net present."""
    required: float
    chance: float
    """Share of outcomes in which it is cheaper."""
    required_chance: float


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
    certain: Floats
    """[P] the same in which it has the machines in time as well."""
    terms: Terms
    index: int = 0
    refused: Mapping[int, Refusal] = field(default_factory=dict)

    @property
    def refusals(self) -> Mapping[int, Refusal]:
        """Of the plans that cost less in expectation than the one that is advised."""
        least = self.rank_of(self.index)
        return {i: one for i, one in self.refused.items() if self.rank_of(i) < least}

    def rank_of(self, index: int) -> tuple[float, int]:
        """By which the least expected cost comes first."""
        return float(self.expected[index]), index

    @property
    def plan(self) -> Scenario:
        """The plan that is advised."""
        return self.candidates[self.index].plan

    @cached_property
    def expected(self) -> Floats:
        """[P] mean net present cost."""
        return np.asarray(self.present.mean(axis=1))

    @cached_property
    def bound(self) -> float | None:
        """E(p) less the most that a plan which may be advised is cheaper by, at 95 %; None with too
        few outcomes."""
        outcomes = self.present.shape[1]
        if outcomes < 10 * BATCHES:
            return None
        rows = [self.index, *(i for i in self.admissible if i not in self.refused)]
        batches = [self.present[rows, b::BATCHES].mean(axis=1) for b in range(BATCHES)]
        gaps = np.array([means[0] - means.min() for means in batches])
        spread = STUDENT_T_95 * gaps.std(ddof=1) / np.sqrt(BATCHES)
        return float(self.expected[self.index] - gaps.mean() - spread)

    def find(self, plan: Scenario) -> int | None:
        """The candidate that comes to a plan."""
        lines = plan.lines
        same = (i for i, one in enumerate(self.candidates) if one.plan.lines == lines)
        return next(same, None)

    def savings_of(self, terms: tuple[str, str, int]) -> tuple[Floats, float] | None:
        """[N] what the plan that is advised saves by the contract of a provider, option and months,
        against the best of its rivals without it, and what it binds to more; None without any."""
        provider, option, months = terms
        named, plan = ("contract", provider, option, str(months)), self.candidates[self.index]
        for part in plan.binding:
            if (*part[:3], part[-1]) != named:
                continue
            without = (i for i in self.rivals_of(self.index) if not self.candidates[i].has(part))
            rival = next(without, None)
            if rival is not None:
                more = plan.bound - self.candidates[rival].bound
                return self.present[rival] - self.present[self.index], more
        return None

    def rivals_of(self, index: int) -> list[int]:
        """The plans that ask for less than a candidate, the least expected cost first."""
        asks = [(one.bound, one.machines) for one in self.candidates]
        less = (i for i in self.admissible if asks[i] < asks[index] and i not in self.refused)
        return sorted(less, key=lambda i: (self.expected[i], i))

    def best_rivals_of(self, index: int) -> list[int]:
        """Of the plans that ask for less, the cheapest that binds to each set of parts."""
        best: dict[frozenset[Part], int] = {}
        for i in self.rivals_of(index):
            best.setdefault(frozenset(self.candidates[i].binding), i)
        return list(best.values())

    def is_as_certain_as(self, other: Choice) -> bool:
        """Whether its plan is certain enough, or as certain as that of another choice."""
        least = min(self.terms.certainty, float(other.certain[other.index]))
        return bool(self.certain[self.index] >= least - CERTAINTY_SLACK)

    @cached_property
    def admissible(self) -> list[int]:
        """Candidates that are certain enough, or as certain as can be."""
        error = np.sqrt(self.certain * (1.0 - self.certain) / self.present.shape[1])
        is_enough = self.certain + error >= self.terms.certainty
        is_enough |= self.certain >= self.certain.max() - CERTAINTY_SLACK
        return [int(i) for i in np.flatnonzero(is_enough)]

    def is_too_uncertain(self, index: int) -> bool:
        """Whether a candidate costs less in expectation than the plan that is advised, and is not
        certain enough."""
        return index not in self.admissible and self.rank_of(index) < self.rank_of(self.index)


def choose(choice: Choice) -> Choice:
    """The least expected cost of the plans that are worth what they ask for more than others: what
    asks for least is judged first, as only what is not refused is held against the rest."""
    refused: dict[int, Refusal] = {}
    judged = replace(choice, refused=refused)
    candidates = choice.candidates
    for i in sorted(choice.admissible, key=lambda i: (candidates[i].bound, candidates[i].machines)):
        refusal = _refuse(judged, i)
        if refusal is not None:
            refused[i] = refusal
    accepted = [i for i in choice.admissible if i not in refused]
    return replace(judged, index=min(accepted, key=lambda i: (choice.expected[i], i)))


def _refuse(choice: Choice, index: int) -> Refusal | None:
    candidate, terms = choice.candidates[index], choice.terms
    for i in choice.rivals_of(index):
        rival = choice.candidates[i]
        saved = choice.present[i] - choice.present[index]
        saving, chance = float(saved.mean()), np.count_nonzero(saved > 0) / saved.size
        bound, machines = candidate.bound - rival.bound, candidate.machines - rival.machines
        required = terms.required(bound, machines, float(choice.expected[index]))
        least = terms.hurdle_chance * bound / max(candidate.beyond(rival), bound, 1.0)
        if saving < required or chance < least:
            return Refusal(i, saving, required, chance, least)
    return None


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
    """Percentiles and probability of being cheapest of every feasible scenario."""
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
