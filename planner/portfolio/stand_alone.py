"""What each project would do, and pay, by itself. PURE."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from planner.comparison_steps.deadlines.sooner import finish_sooner, runs_to_lay
from planner.comparison_steps.results import ComparisonResults
from planner.contract.answer.common import ScenarioKey
from planner.contract.labels import SCENARIO_TITLES
from planner.costing.advice.payback import best_without_buying, renting_cost
from planner.costing.advice.verdict import choose
from planner.costing.optimizer.work import WorkMeter
from planner.costing.scenarios import is_allowed
from planner.portfolio.books import Books
from planner.portfolio.plan_search import PlanSearch
from planner.portfolio.preparation import MAY_BE_SOONER, MOVED_AS_JOINT, PreparedProject


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
    otherwise: Decimal | None = None
    """What its runs cost in all if they are spread to their deadlines, where it does them sooner;
    in edition 1, where it may not, what they would cost sooner. None without such a plan."""

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def cents(self) -> int | None:
        """Net present cost."""
        return None if self.books is None else int(self.books.net_present_cost * 100)

    @property
    def total(self) -> Decimal | None:
        """Undiscounted."""
        return None if self.books is None else self.books.total_cost

    def costs_less_than(self, other: StandAlone) -> bool:
        """Whether its plan is the cheaper one; of two without a plan this one."""
        if self.books is None or other.books is None:
            return other.books is None
        return self.books.net_present_cost < other.books.net_present_cost


def plan_alone(member: PreparedProject, search: PlanSearch, work: WorkMeter) -> StandAlone:
    """The best plan of one project: that of its comparison, with its runs done sooner where that
    costs less, or with its hours moved within its window."""
    as_stated = ComparisonResults(member.alone, work)
    spread = alone = _compared(member, as_stated)
    if member.movable is not None:
        alone = _move(alone, search, work)
    if not may_be_sooner(member, search.preparation.runs_edition):
        return alone
    sooner = finish_sooner(as_stated)
    if sooner is as_stated:
        return alone
    if search.preparation.runs_edition < MAY_BE_SOONER:
        plan = choose(sooner.allowed_scenarios)
        return alone if plan is None else replace(alone, otherwise=plan.total_cost)
    laid = _compared(member.lay_out(sooner.preparation), sooner)
    if not laid.costs_less_than(alone):
        return alone
    rents = [rent for rent in (alone.renting, laid.renting) if rent is not None]
    return replace(laid, renting=min(rents, default=None), is_sooner=True, otherwise=spread.total)


def may_be_sooner(member: PreparedProject, edition: float) -> bool:
    """Whether its runs may be done sooner: not where one begins before the plan does, so that more
    of it would count as over; nor where a window says how many accelerators may work at once, or
    in edition 1 where it has one."""
    first, window = member.alone.calendar.start, member.project.window
    if any(run.start < first for run in runs_to_lay(member.alone)):
        return False
    return window is None or (edition >= MAY_BE_SOONER and window.max_accelerators is None)


def _compared(member: PreparedProject, results: ComparisonResults) -> StandAlone:
    """What its comparison advises."""
    scenarios = results.allowed_scenarios
    renting = best_without_buying(
        {k: s for k, s in scenarios.items() if is_allowed(k, results.inputs.interruptible)}
    )
    rent = None if renting is None else renting_cost(renting, member.alone.rules)
    chosen = choose(scenarios)
    if chosen is None:
        why_not = results.scenarios[ScenarioKey.HYBRID].why_not
        return StandAlone(member, None, "", rent, np.inf, why_not)
    books = Books((member,), (results.inputs,), None, ((chosen,),))
    return StandAlone(member, books, SCENARIO_TITLES[chosen.key], rent, chosen.bound)


def _move(alone: StandAlone, search: PlanSearch, work: WorkMeter) -> StandAlone:
    """The same with its hours moved within its window, where that costs less."""
    moved, bound = _find_moved(alone.member, alone.renting, search, work)
    alone = replace(alone, bound=bound)
    if moved is None:
        return alone
    other = replace(alone, books=moved, way="Moving its hours within its window", why_not=())
    return other if other.costs_less_than(alone) else alone


def _find_moved(
    member: PreparedProject, rent: Decimal | None, search: PlanSearch, work: WorkMeter
) -> tuple[Books | None, float]:
    """The best plan of one project that moves its hours within its window, and what no plan of
    it costs less than. Where the cheapest buys what does not pay back, the cheapest that buys
    nothing or only what does, as for several projects; in edition 1 there was none then."""
    books, bound = search.cheapest(search.joint([member]), work)
    if books is None or search.pays_back(books, [rent]):
        return books, bound
    if search.preparation.window_edition < MOVED_AS_JOINT:
        return None, bound
    paying, bound = search.plans_that_pay_back([member], [rent], work)
    return min(paying, key=lambda one: one.net_present_cost, default=None), bound
