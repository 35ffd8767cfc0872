"""What a portfolio comes to: who is served, the plan, the shares, what each project adds. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from planner.contract.answer.risk import Cause
from planner.contract.copies import cached_property
from planner.contract.request.portfolio import PortfolioLimits, PortfolioRequest
from planner.costing.optimizer.problem import Floats
from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.portfolio.books import Books
from planner.portfolio.machine_use import Usage
from planner.portfolio.plans import PortfolioPlan, PortfolioPlans, StandAlone
from planner.portfolio.preparation import PortfolioPreparation
from planner.portfolio.risk import simulate
from planner.portfolio.shares import (
    EXACT_PROJECTS,
    Game,
    Shares,
    divide_by_samples,
    divide_by_use,
    divide_exactly,
)

PLAN_SHARE, SHARES_SHARE, RANGE_SHARE = 0.5, 0.8, 0.8
"""Share of the work left that the plan may take, then the shares, and last the range."""
SAMPLED_ORDERS = 2_000
"""Most orders of joining that are sampled."""
TARGET_ERROR = 0.03
"""Error of sampled shares at which the sampling ends."""


PAIR = 2
"""Projects of which each is all that is left without the other."""


@dataclass(frozen=True)
class PortfolioResults:
    """The results of one portfolio, each worked out once."""

    preparation: PortfolioPreparation
    work: WorkMeter

    @property
    def request(self) -> PortfolioRequest:
        return self.preparation.request

    @cached_property
    def plans(self) -> PortfolioPlans:
        return PortfolioPlans(self.preparation, self.work)

    @property
    def alone(self) -> Mapping[str, StandAlone]:
        """Each project by itself, by name."""
        return self.plans.alone

    @cached_property
    def served(self) -> tuple[str, ...]:
        """Names of the projects that the plan serves: all of them, or as many as limits leave room
        for, by priority and then by name."""
        if self._plan_of_all is not None:
            return tuple(self.alone)
        served: list[str] = []
        if not self.plans.has_limits:
            return tuple(name for name, one in self.alone.items() if one.books is not None)
        members = self.plans.members
        for name in sorted(members, key=lambda n: (members[n].project.priority, n)):
            if self.plans.plan([*served, name], self._part(1 / len(members))) is not None:
                served.append(name)
        return tuple(sorted(served))

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names of those that limits leave no room for."""
        return tuple(name for name in self.alone if name not in self.served)

    def _part(self, share: float) -> WorkMeter:
        return self.work.share(share, stops=False)

    @cached_property
    def _plan_of_all(self) -> PortfolioPlan | None:
        _ = self.alone
        return self.plans.plan(self.alone, self._part(PLAN_SHARE))

    @cached_property
    def plan(self) -> PortfolioPlan | None:
        """The plan for those that are served; None where there is none at all."""
        if self._plan_of_all is not None or not self.served:
            return self._plan_of_all
        return self.plans.plan(self.served, self._part(PLAN_SHARE))

    @property
    def books_apart(self) -> list[Books] | None:
        """The plans apart of those that are served; None where one has no plan."""
        books = [self.alone[name].books for name in self.served]
        known = [one for one in books if one is not None]
        return known if len(known) == len(books) else None

    @cached_property
    def _shares_work(self) -> WorkMeter:
        return self.work.share(SHARES_SHARE)

    @property
    def lacks_shares(self) -> bool:
        """Whether shares follow use for lack of work, where others were asked for."""
        shares = self.shares
        return self.request.shares != "use" and shares is not None and shares.method == "use"

    @cached_property
    def shares(self) -> Shares | None:
        """What each project that is served pays; None without a plan, or where one of them has no
        plan of its own to measure by."""
        plan = self.plan
        alone = {name: self.alone[name].cents for name in self.served}
        limits = {name: cents for name, cents in alone.items() if cents is not None}
        if plan is None or len(limits) < len(alone):
            return None
        if plan.cents == sum(limits.values()):
            return Shares(limits, "use" if self.request.shares == "use" else "shapley")
        if self.request.shares != "use":
            with suppress(WorkSpentError):
                return self._shapley(plan, limits)
        rates = (one for one in Usage(plan.books).charge_rates() if one.kind == "all")
        return divide_by_use({one.project: float(one.cost) for one in rates}, plan.cents, limits)

    def _shapley(self, plan: PortfolioPlan, alone: Mapping[str, int]) -> Shares:
        names, plans = self.served, self.plans
        if len(names) > EXACT_PROJECTS:
            most = SAMPLED_ORDERS // 2
            return divide_by_samples(
                names, self._relaxed_game, plan.cents, alone, pairs=most, target=TARGET_ERROR
            )
        plans.set_cost(frozenset(names), plan.cents)
        return divide_exactly(names, self._game(plan), plan.cents, alone)

    @cached_property
    def _relaxed_game(self) -> Game:
        """What no plan of a group costs less than: fractions of machines are allowed."""
        plan, work = self.plan, self._shares_work
        assert plan is not None
        return self.plans.relaxed_game(plan, work)

    def _game(self, plan: PortfolioPlan) -> Game:
        preparation = self.preparation
        keeps_rules = plan.may_buy or not plan.books.whole.buys
        most = plan.cost_without_others if keeps_rules and not preparation.holds else None
        return lambda group: self.plans.cost(group, plan, self._shares_work, most)

    @cached_property
    def without(self) -> dict[str, Decimal]:
        """Net present cost of the others' plan without each project that is served; of many
        projects that of all less what it adds where fractions of machines are allowed; none where
        the work does not take all of them."""
        plan = self.plan
        if plan is None or not self.request.what_if or len(self.served) < 2:
            return {}
        # Where the plan costs what the projects do apart, and no limits of all bind other groups
        # less, no group saves by planning together: its plan beside those of the others alone
        # would be a cheaper one of all.
        alone = {name: self.alone[name].cents or 0 for name in self.served}
        may_save = self.plans.has_limits and len(self.served) > PAIR
        if plan.cents == sum(alone.values()) and not may_save:
            return {name: Decimal(plan.cents - own).scaleb(-2) for name, own in alone.items()}
        every, more = frozenset(self.served), 0.0
        is_exact = len(every) <= EXACT_PROJECTS
        costs = {}
        try:
            game = self._game(plan) if is_exact else self._relaxed_game
            more = 0.0 if is_exact else plan.cents - game(every)
            for name in self.served:
                costs[name] = Decimal(round(game(every - {name}) + more)).scaleb(-2)
        except WorkSpentError:
            return {}
        return costs

    @cached_property
    def simulated(self) -> tuple[Floats, dict[Cause, Decimal]] | None:
        """[2, N] net present and nominal cost of the plan in simulated outcomes, and what each
        cause adds to its total; None where the work left allows for too few. After all else that
        takes work."""
        if self.plan is None:
            return None
        with suppress(WorkSpentError):
            return simulate(self.plan.books, self.work.share(RANGE_SHARE))
        return None

    @cached_property
    def cost_of_waiting(self) -> Decimal | None:
        """What serving those who wait too would add if nothing limited all together."""
        plan = self.plan
        if plan is None or not self.waiting or not self.plans.has_limits:
            return None
        free = PortfolioPreparation(
            self.request.model_copy(update={"limits": PortfolioLimits()}),
            self.preparation.catalog,
            self.preparation.today,
        )
        plans = PortfolioPlans(free, self._part(PLAN_SHARE))
        of_all = plans.plan(plans.members, plans.work)
        if of_all is None:
            return None
        return of_all.books.net_present_cost - plan.books.net_present_cost
