"""The plans of a portfolio: each project alone, any group together, the best of all. PURE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np

from planner.comparison_steps.deadlines.sooner import finish_sooner
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.labels import SCENARIO_TITLES
from planner.costing.advice.payback import best_without_buying, pays_back, renting_cost
from planner.costing.advice.verdict import choose
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.scenarios import is_allowed
from planner.portfolio.books import Books, write_books
from planner.portfolio.joint_inputs import JointInputs
from planner.portfolio.optimizer.solve import GroupBounds, solve_joint
from planner.portfolio.preparation import (
    MOVED_AS_JOINT,
    ONE_IS_A_GROUP,
    PortfolioPreparation,
    PreparedProject,
)
from planner.portfolio.sampling import GroupCosts

ROUNDED_AWAY = 1e-5
"""Part of a cost below which a difference is none: amounts are rounded to cents one by one."""
ALONE_SHARE = 0.3
"""Share of the work left that the plans of all projects alone may take."""


@dataclass(frozen=True)
class StandAlone:
    """What one project would do, and pay, by itself."""

    member: PreparedProject
    books: Books | None
    """None where there is no plan."""
    way: str
    """How it would get its machines, in a word or two."""
    renting: Decimal | None
    """What its best plan that buys nothing pays, for purchases to be held against; None without
    one."""
    bound: float
    """No plan of it alone costs less, net present."""
    why_not: tuple[str, ...] = ()
    """What keeps it from any plan, renting, committing and owning taken together."""
    spread: Decimal | None = None
    """What its runs cost in all that are spread over the months to their deadlines, as here; None
    without a plan."""
    sooner: Decimal | None = None
    """What they cost in all in a comparison of its own that does them sooner; None where it does
    not."""

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def cents(self) -> int | None:
        """Net present cost."""
        return None if self.books is None else int(self.books.net_present_cost * 100)


@dataclass(frozen=True)
class PortfolioPlan:
    """The plan for some projects together, and what is known of its distance to the best."""

    books: Books
    bound: float
    """No plan costs less, net present."""
    is_apart: bool
    """Whether it is the plans of the projects apart, put together."""
    may_buy: bool = True
    """Whether it was looked for among plans that buy servers too."""

    @property
    def cents(self) -> int:
        return int(self.books.net_present_cost * 100)

    @property
    def gap(self) -> float:
        """(cost − bound) / cost."""
        cost = float(self.books.net_present_cost)
        return 0.0 if cost <= 0 else max(0.0, (cost - self.bound) / cost)

    def cost_without_others(self, group: frozenset[str]) -> float:
        """What a group pays, in cents, if the others leave the plan and their own rent and hours
        with them, so that it keeps all machines that are shared."""
        books = self.books
        shared = [] if books.shared is None else [books.shared]
        own = (
            part
            for member, parts in zip(books.members, books.own, strict=True)
            for part in parts
            if member.name in group
        )
        return float(sum((part.net_present_cost for part in (*shared, *own)), Decimal(0)) * 100)


def _total_of_sooner(results: ComparisonResults) -> Decimal | None:
    """What a project costs by itself if its runs are done sooner; None where that saves nothing."""
    sooner = finish_sooner(results)
    plan = None if sooner is results else choose(sooner.allowed_scenarios)
    return None if plan is None else plan.total_cost


class PortfolioPlans:
    """Plans of the projects of one request, each worked out once."""

    def __init__(self, preparation: PortfolioPreparation, work: WorkMeter) -> None:
        self.preparation, self.work = preparation, work
        self.members = {member.name: member for member in preparation.projects}
        self._costs: dict[frozenset[str], float] = {}
        self._bounds: dict[frozenset[str], float] = {}

    @property
    def has_limits(self) -> bool:
        """Whether anything limits all projects together, so that plans apart may not add up."""
        limits, servers = self.preparation.request.limits, self.preparation.request.on_prem.servers
        stated = any(getattr(limits, name) not in (None, ()) for name in type(limits).model_fields)
        return stated or any(server.max_units is not None for server in servers or ())

    @cached_property
    def alone(self) -> dict[str, StandAlone]:
        """Each project by itself, by name."""
        work = self.work.share(ALONE_SHARE, stops=False)
        return {
            name: self._plan_alone(member, work.share(1 / (len(self.members) - i), stops=False))
            for i, (name, member) in enumerate(self.members.items())
        }

    def _plan_alone(self, member: PreparedProject, work: WorkMeter) -> StandAlone:
        results = ComparisonResults(member.alone, work)
        scenarios = results.allowed_scenarios
        renting = best_without_buying(
            {k: s for k, s in scenarios.items() if is_allowed(k, results.inputs.interruptible)}
        )
        rent = None if renting is None else renting_cost(renting, member.alone.rules)
        chosen = choose(scenarios)
        books = None if chosen is None else Books((member,), (results.inputs,), None, ((chosen,),))
        way = "" if chosen is None else SCENARIO_TITLES[chosen.key]
        bound = np.inf if chosen is None else chosen.bound
        if member.movable is not None:
            moved, bound = self._move(member, rent, work)
            if moved is not None and (
                books is None or moved.net_present_cost < books.net_present_cost
            ):
                books, way = moved, "Moving its hours within its window"
        widest = results.scenarios[ScenarioKey.HYBRID]
        why_not = () if books else widest.why_not
        spread = None if chosen is None else chosen.total_cost
        sooner = None if member.movable is not None else _total_of_sooner(results)
        return StandAlone(member, books, way, rent, bound, why_not, spread, sooner)

    def _move(
        self, member: PreparedProject, rent: Decimal | None, work: WorkMeter
    ) -> tuple[Books | None, float]:
        """The best plan of one project that moves its hours within its window, and what no plan of
        it costs less than. Where the cheapest buys what does not pay back, the cheapest that buys
        nothing or only what does, as for several projects; in edition 1 there was none then."""
        books, bound = self._search(self._joint([member], may_buy=True), work)
        if books is None or self._pays_back(books, [rent]):
            return books, bound
        if self.preparation.window_edition < MOVED_AS_JOINT:
            return None, bound
        paying, bound = self._plans_that_pay_back([member], [rent], work)
        return min(paying, key=lambda one: one.net_present_cost, default=None), bound

    def _joint(self, members: Sequence[PreparedProject], may_buy: bool) -> JointInputs:
        chosen = tuple(members)
        return JointInputs(chosen, self.preparation.inputs(chosen), may_buy)

    def plan(self, names: Iterable[str], work: WorkMeter) -> PortfolioPlan | None:
        """The best plan of some projects together; None where their limits leave none."""
        members = [self.members[name] for name in sorted(names)]
        together = self._apart(members)
        is_free = len(members) == 1 or not self.has_limits
        apart = together if is_free else None
        if len(members) == 1 and apart is not None:
            cost = float(apart.net_present_cost)
            bound = min(self.alone[members[0].name].bound, cost)
            return PortfolioPlan(apart, bound, is_apart=True)
        books, bound = self._search(self._joint(members, may_buy=True), work)
        may_buy = books is None or self._pays_back(books, self._rents(members))
        if together is not None and books is not None and together.is_same_for_less(books):
            apart = together  # the same machines, which keep to the limits
        candidates = [apart, books if may_buy else None]
        if not may_buy:
            paying, bound = self._plans_that_pay_back(members, self._rents(members), work)
            candidates += paying
        known = [one for one in candidates if one is not None]
        if not known:
            return None
        best = min(known, key=lambda one: one.net_present_cost)
        return PortfolioPlan(best, min(bound, float(best.net_present_cost)), best is apart, may_buy)

    def _search(self, joint: JointInputs, work: WorkMeter) -> tuple[Books | None, float]:
        """The books of the cheapest plan, and what no plan costs less than."""
        plan = solve_joint(joint.problem, work=work)
        books = write_books(joint, plan) if np.isfinite(plan.cost) else None
        return books, plan.bound + joint.base_cost

    def _plans_that_pay_back(
        self,
        members: Sequence[PreparedProject],
        known: Sequence[Decimal | None],
        work: WorkMeter,
    ) -> tuple[list[Books], float]:
        """The cheapest plans that buy nothing, and whose payments without resale come to no more
        than renting apart, which is `known`; with what no plan of either kind costs less than."""
        rents = float(sum(rent or Decimal(0) for rent in known))
        rented, rented_bound = self._search(self._joint(members, may_buy=False), work)
        inputs = self.preparation.inputs(tuple(members))
        margin = self._payback_margin
        limited = JointInputs(tuple(members), inputs, most_paid=rents, margin=margin)
        bought, bought_bound = self._search(limited, work)
        plans = [one for one in (rented, bought) if one is not None and self._pays_back(one, known)]
        return plans, min(rented_bound, bought_bound)

    def _apart(self, members: Sequence[PreparedProject]) -> Books | None:
        """The plans of some projects apart, put together; None where one has no plan."""
        books = [self.alone[member.name].books for member in members]
        plans = [one for one in books if one is not None]
        if len(plans) < len(members):
            return None
        inputs = tuple(one.inputs[0] for one in plans)
        return Books(tuple(members), inputs, None, tuple(one.parts for one in plans))

    def cost(
        self,
        group: frozenset[str],
        may_buy: bool,
        work: WorkMeter,
        most: Callable[[frozenset[str]], float] | None = None,
    ) -> float:
        """Net present cost of the cheapest plan of a group, in cents, to within the gap of the
        search and at most `most`, what it is known to pay less for; without limits never above
        that of a smaller group and the other project. One project pays what it would alone, and
        from edition 3 at most what it would as a group: a group may buy what does not pay back
        without its resale."""
        if not group or (len(group) == 1 and not self._is_one_a_group(may_buy)):
            return self._cost_alone(group)
        if group not in self._costs:
            joint = self._joint([self.members[name] for name in sorted(group)], may_buy)
            plan = solve_joint(joint.problem, work=work)
            if not np.isfinite(plan.cost):
                raise WorkSpentError("no plan of a group was found within the work there is")
            cost = (plan.cost + joint.base_cost) * 100
            if most is not None:
                cost = min(cost, most(group))
            if len(group) == 1:
                alone = self._cost_alone(group)
                cost = cost if cost < alone * (1 - ROUNDED_AWAY) else alone
            elif not self.has_limits:
                cost = min(cost, *self._costs_of_parts(group, may_buy, work, most))
            self._costs[group] = cost
        return self._costs[group]

    def _cost_alone(self, group: frozenset[str]) -> float:
        """What the projects of a group pay, each by itself, in cents."""
        return float(sum(self.alone[name].cents or 0 for name in group))

    def _is_one_a_group(self, may_buy: bool) -> bool:
        """Whether the cost of one project is that of a group, so that no other, however small,
        gives it the right to buy."""
        return may_buy and self.preparation.shares_edition >= ONE_IS_A_GROUP

    def _costs_of_parts(
        self,
        group: frozenset[str],
        may_buy: bool,
        work: WorkMeter,
        most: Callable[[frozenset[str]], float] | None,
    ) -> Iterator[float]:
        """What a group pays apart, and with one of its projects apart, in cents."""
        yield self._cost_alone(group)
        ones = {name: self.cost(frozenset({name}), may_buy, work, most) for name in sorted(group)}
        yield sum(ones.values())
        for name in group:
            if group - {name} in self._costs:
                yield self._costs[group - {name}] + ones[name]

    def set_cost(self, group: frozenset[str], cents: int) -> None:
        """What a group is known to pay: that of the plan that is advised."""
        self._costs[group] = float(cents)

    def least_cost(self, group: frozenset[str], work: WorkMeter) -> float:
        """What no plan of a group costs less than, in cents, where each group brings machines of
        its own: a model for each. Fractions of machines are allowed."""
        if not group:
            return 0.0
        if group not in self._bounds:
            joint = self._joint([self.members[name] for name in sorted(group)], may_buy=True)
            bound = GroupBounds(joint.problem, work).least_cost(group)
            self._bounds[group] = (bound + joint.base_cost) * 100
        return self._bounds[group]

    @cached_property
    def group_costs(self) -> GroupCosts | None:
        """The same from one model for all groups; None where some project holds machines."""
        if self.preparation.holds:
            return None
        base_costs = {
            name: self._joint([member], may_buy=True).base_cost
            for name, member in self.members.items()
        }
        joint = self._joint(list(self.members.values()), may_buy=True)
        return GroupCosts(joint.problem, base_costs)

    def _rents(self, members: Sequence[PreparedProject]) -> list[Decimal | None]:
        """Totals of the best plans apart that buy nothing."""
        return [self.alone[member.name].renting for member in members]

    def _pays_back(self, books: Books, rents: Sequence[Decimal | None]) -> bool:
        """Whether what is bought costs less than renting apart, by the margin asked for and even
        if nothing is resold, where the rules ask for it and all of that is known."""
        rules = self.preparation.projects[0].alone.rules
        known = [rent for rent in rents if rent is not None]
        if not rules.needs_payback or not books.buys or len(known) < len(rents):
            return True
        rent = sum(known, Decimal(0))
        return pays_back(books.total_without_resale, books.capital, rent, self._payback_margin)

    @property
    def _payback_margin(self) -> float:
        """Share of its price that a purchase must save before its resale."""
        return self.preparation.projects[0].alone.assumptions["payback_margin"]
