"""The plans of a portfolio: each project alone, any group together, the best of all. PURE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from planner.comparison.early_finish import finish_early, runs_to_lay
from planner.comparison.results import ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.copies import cached_property
from planner.contract.labels import SCENARIO_TITLES
from planner.costing.advice.verdict import best_without_buying
from planner.costing.choice import Terms
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.costing.results.scenario_result import capital
from planner.portfolio.books import Books, JointBudgets
from planner.portfolio.joint_model import GroupBounds, solve_joint
from planner.portfolio.preparation import JointInputs, PortfolioPreparation, PreparedProject
from planner.portfolio.shares import Game, remember

JOBS_A_UNIT = 8
"""Jobs that are simulated side by side in the time of a unit of work."""
ROUNDED_AWAY = 1e-5
"""Part of a cost below which a difference is none: amounts are rounded to cents one by one."""
ALONE_SHARE = 0.3
"""Share of the work left that the plans of all projects alone may take."""


@dataclass(frozen=True)
class PortfolioPlan:
    """The plan for some projects together, and what is known of its distance to the best."""

    books: Books
    bound: float
    """No plan costs less, net present."""
    may_buy: bool = True
    """Whether it was looked for among plans that buy servers too."""
    joins: bool = False
    """Whether who may use more machines than others takes turns with them on theirs."""

    @property
    def cents(self) -> int:
        return int(self.books.net_present_cost * 100)

    @property
    def gap(self) -> float:
        """(cost − bound) / cost."""
        cost = float(self.books.net_present_cost)
        return 0.0 if cost <= 0 else max(0.0, (cost - self.bound) / cost)

    @cached_property
    def laid(self) -> dict[str, PreparedProject]:
        """Each project that it serves, as its work lies here, by name."""
        return {member.name: member for member in self.books.members}

    def members_of(self, group: Iterable[str]) -> list[PreparedProject]:
        """Some of these, in the order of their names."""
        return [self.laid[name] for name in sorted(group)]

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


class PortfolioPlans:
    """Plans of the projects of one request, each worked out once."""

    def __init__(self, preparation: PortfolioPreparation, work: WorkMeter) -> None:
        self.preparation, self.work = preparation, work
        self.members = {member.name: member for member in preparation.projects}
        self._costs: dict[frozenset[str], float] = {}

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
        alone: dict[str, StandAlone] = {}
        for i, (name, member) in enumerate(self.members.items()):
            alike = (one.as_of(member) for one in alone.values() if one.is_of_alike(member))
            part = work.share(1 / (len(self.members) - i), stops=False)
            alone[name] = next(alike, None) or plan_alone(member, self.preparation, part)
        return alone

    def joint(
        self, members: Sequence[PreparedProject], may_buy: bool = True, joins: bool = False
    ) -> JointInputs:
        """Some projects together, of which all know the commitments."""
        laid = {one.name: one for one in members}
        every = [laid.get(name, one.member) for name, one in self.alone.items()]
        return self.preparation.joint(members, every, may_buy, joins)

    def plan(self, names: Iterable[str], work: WorkMeter) -> PortfolioPlan | None:
        """The best plan of some projects together; None where their limits leave none. Where a
        project does its runs sooner by itself, the cheaper of all as each lays its work by itself
        and all as asked."""
        as_asked = [self.members[name] for name in sorted(names)]
        own = [self.alone[one.name].member for one in as_asked]
        if len(own) == 1 or not any(self.alone[one.name].is_sooner for one in own):
            return self._plan_laid(own, work)
        best = self._plan_laid(own, work.share(1 / 2, stops=False))
        with suppress(WorkSpentError):  # what there is stands
            other = self._plan_laid(as_asked, work)
            if best is None or (other and other.cents < best.cents):
                return other
        return best

    def _is_as_alone(self, member: PreparedProject) -> bool:
        return member.key == self.alone[member.name].member.key

    def _plan_laid(
        self, members: Sequence[PreparedProject], work: WorkMeter
    ) -> PortfolioPlan | None:
        together = self._apart(members)
        if len(members) == 1 and together is not None:
            cost = float(together.net_present_cost)
            return PortfolioPlan(together, min(self.alone[members[0].name].bound, cost))
        rents = [self.alone[member.name].renting for member in members]
        books, bound, joins = self._search(members, work)
        may_buy = books is None or clears_hurdle(self.preparation, books, rents)
        if not may_buy:
            books, bound, joins = self._search(members, work, may_buy=False)
        known = [] if books is None else [books]
        if together is not None and self._keeps_limits(members, together):
            known = [together, *known]
        if not known:
            return None
        best = min(known, key=lambda one: one.net_present_cost)
        return PortfolioPlan(best, min(bound, float(best.net_present_cost)), may_buy, joins)

    def _search(
        self, members: Sequence[PreparedProject], work: WorkMeter, may_buy: bool = True
    ) -> tuple[Books | None, float, bool]:
        """The cheaper books of those who take turns apart, by the machines that they may use, and
        joined; what no plan costs less than, and whether they are joined."""
        apart, joined = (self.joint(members, may_buy, joins) for joins in (False, True))
        if [pool.places for pool in apart.pools] == [pool.places for pool in joined.pools]:
            return *JointBudgets(apart).search(work), False
        books, bound = JointBudgets(apart).search(work.share(1 / 2, stops=False))
        others, other_bound = JointBudgets(joined).search(work)
        is_dearer = others is None or (
            books is not None and books.net_present_cost <= others.net_present_cost
        )
        return books if is_dearer else others, min(bound, other_bound), not is_dearer

    def _keeps_limits(self, members: Sequence[PreparedProject], apart: Books) -> bool:
        """Whether the plans of projects apart, put together, are sure to keep to the limits of
        all: their lines to the budgets, and no quota is there."""
        if not self.has_limits:
            return True
        servers = self.preparation.request.on_prem.servers or ()
        has_quotas = any(server.max_units is not None for server in servers)
        has_quotas = has_quotas or bool(self.preparation.request.limits.quotas)
        return not has_quotas and not JointBudgets(self.joint(members)).excess(apart)

    def _apart(self, members: Sequence[PreparedProject]) -> Books | None:
        if not all(map(self._is_as_alone, members)):
            return None
        books = [self.alone[member.name].books for member in members]
        plans = [one for one in books if one is not None]
        if len(plans) < len(members):
            return None
        inputs = tuple(one.inputs[0] for one in plans)
        own = tuple(one.parts for one in plans)
        return Books(tuple(members), inputs, None, own, apart=tuple(plans))

    def cost(
        self,
        group: frozenset[str],
        plan: PortfolioPlan,
        work: WorkMeter,
        most: Callable[[frozenset[str]], float] | None = None,
    ) -> float:
        """Net present cost of the cheapest plan of a group, in cents, to within the gap of the
        search, with the work in the months and the turns of the `plan` of all, and at most `most`,
        what it is known to pay less for; without limits never above that of a smaller group and the
        other project. One project, with its work as by itself, pays what it would alone, and at
        most what it would as a group: a group may buy what does not pay back without its resale."""
        if not group or (len(group) == 1 and not plan.may_buy):
            return self._cost_alone(group)
        if group not in self._costs:
            members = plan.members_of(group)
            if len(group) == 1 and not self._is_as_alone(members[0]):
                members, most = [self.alone[members[0].name].member], None
            joint = self.joint(members, plan.may_buy, plan.joins)
            work.charge(sum(pool.simulated_jobs for pool in joint.pools) // JOBS_A_UNIT)
            group_plan = solve_joint(JointBudgets(joint).eased(), work=work)
            if not np.isfinite(group_plan.cost):
                raise WorkSpentError("no plan of a group was found within the work there is")
            cost = (group_plan.cost + joint.base_cost) * 100
            if most is not None:
                cost = min(cost, most(group))
            if len(group) == 1:
                alone = self._cost_alone(group)
                cost = cost if cost < alone * (1 - ROUNDED_AWAY) else alone
            elif not self.has_limits:
                ones = {n: self.cost(frozenset({n}), plan, work, most) for n in sorted(group)}
                rests = {n: self._costs.get(group - {n}, np.inf) + one for n, one in ones.items()}
                parts = (self._cost_alone(group), sum(ones.values()), *rests.values())
                cost = min(cost, *parts)
            self._costs[group] = cost
        return self._costs[group]

    def _cost_alone(self, group: frozenset[str]) -> float:
        return float(sum(self.alone[name].cents or 0 for name in group))

    def set_cost(self, group: frozenset[str], cents: int) -> None:
        """What a group is known to pay: that of the plan that is advised."""
        self._costs[group] = float(cents)

    def relaxed_game(self, plan: PortfolioPlan, work: WorkMeter) -> Game:
        """What no plan of a group costs less than, in cents, with the work in the months of the
        `plan` of all, where fractions of machines are allowed: one model for all groups, or one for
        each where groups bring machines of their own."""
        members = [plan.laid.get(name, one) for name, one in self.members.items()]
        if self.preparation.holds:

            def least_cost(group: frozenset[str]) -> float:
                some = [one for one in members if one.name in group]
                joint = self.joint(some, joins=plan.joins)
                return (GroupBounds(joint.problem, work).least_cost(group) + joint.base_cost) * 100

            return remember(least_cost)
        base = {one.name: self.joint([one]).base_cost for one in members}
        bounds = GroupBounds(self.joint(members, joins=plan.joins).problem, work)
        return remember(
            lambda group: (
                100 * (bounds.least_cost(group) + sum(base[name] for name in sorted(group)))
            )
        )


def clears_hurdle(
    preparation: PortfolioPreparation, books: Books, rents: Sequence[Decimal | None]
) -> bool:
    """Whether what is bought saves the hurdle against renting apart, net present, where all of that
    is known."""
    known = [rent for rent in rents if rent is not None]
    if not books.whole.buys or len(known) < len(rents):
        return True
    terms = Terms.of(preparation.projects[0].alone.assumptions)
    saved = float(sum(known, Decimal(0)) - books.net_present_cost)
    return saved >= max(terms.hurdle_share * float(capital(books.whole)), terms.effort_cost)


@dataclass(frozen=True)
class StandAlone:
    """What one project would do, and pay, by itself."""

    member: PreparedProject
    """As it lays its work by itself."""
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
    is_sooner: bool = False
    """Whether it does its runs sooner than their deadlines ask."""

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def cents(self) -> int | None:
        """Net present cost."""
        return None if self.books is None else int(self.books.net_present_cost * 100)

    def is_of_alike(self, member: PreparedProject) -> bool:
        """Whether another project asks for the same but its name, and this one does it as asked."""
        own, other = self.member.project, member.project
        is_as_asked = self.member.movable is None and not self.is_sooner
        return is_as_asked and own == other.model_copy(update={"name": own.name})

    def as_of(self, member: PreparedProject) -> StandAlone:
        """The same of another project that asks for the same."""
        books = self.books and replace(self.books, members=(member,))
        return replace(self, member=member, books=books)

    def costs_less_than(self, other: StandAlone) -> bool:
        """Whether its plan is the cheaper one; of two without a plan this one."""
        if self.books is None or other.books is None:
            return other.books is None
        return self.books.net_present_cost < other.books.net_present_cost


def plan_alone(
    member: PreparedProject, preparation: PortfolioPreparation, work: WorkMeter
) -> StandAlone:
    """The best plan of one project: that of its comparison, with its runs done sooner where that
    costs less, or with its hours moved within its window."""
    as_stated = ComparisonResults(member.alone, work)
    alone = _compared(member, as_stated)
    if member.movable is not None:
        alone = _move(alone, preparation, work)
    if not may_be_sooner(member):
        return alone
    sooner = finish_early(as_stated)
    if sooner is as_stated:
        return alone
    laid = _compared(member.lay_out(sooner.preparation), sooner)
    if not laid.costs_less_than(alone):
        return alone
    rents = [rent for rent in (alone.renting, laid.renting) if rent is not None]
    return replace(laid, renting=min(rents, default=None), is_sooner=True)


def may_be_sooner(member: PreparedProject) -> bool:
    """Whether its runs may be done sooner: not where one begins before the plan does, so that more
    of it would count as over; nor where a window says how many accelerators may work at once."""
    first, window = member.alone.calendar.start, member.project.window
    if any(run.start < first for run in runs_to_lay(member.alone)):
        return False
    return window is None or window.max_accelerators is None


def _compared(member: PreparedProject, results: ComparisonResults) -> StandAlone:
    renting = best_without_buying(results.allowed_scenarios)
    rent = None if renting is None else renting.net_present_cost
    chosen = results.advised
    if chosen is None:
        why_not = results.scenarios[ScenarioKey.HYBRID].why_not
        return StandAlone(member, None, "", rent, np.inf, why_not)
    books = Books((member,), (results.inputs,), None, ((chosen,),))
    return StandAlone(member, books, SCENARIO_TITLES[chosen.key], rent, chosen.bound)


def _move(alone: StandAlone, preparation: PortfolioPreparation, work: WorkMeter) -> StandAlone:
    """With its hours moved within its window, where that costs less. Where the cheapest plan buys
    what does not pay back, the cheapest that buys nothing or only what does, as for several."""
    members = [alone.member]
    moved, bound = JointBudgets(preparation.joint(members)).search(work)
    if moved is not None and not clears_hurdle(preparation, moved, [alone.renting]):
        moved, bound = JointBudgets(preparation.joint(members, may_buy=False)).search(work)
    alone = replace(alone, bound=bound)
    if moved is None:
        return alone
    other = replace(alone, books=moved, way="Moving its hours within its window", why_not=())
    return other if other.costs_less_than(alone) else alone
