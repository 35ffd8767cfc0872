"""The cheapest plan of some projects together, and what its purchases have to save. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from planner.costing.advice.payback import pays_back
from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.books import Books
from planner.portfolio.budgets import JointBudgets
from planner.portfolio.joint_inputs import JointInputs
from planner.portfolio.preparation import PortfolioPreparation, PreparedProject


@dataclass(frozen=True)
class PlanSearch:
    """Searches for plans of the projects of one request."""

    preparation: PortfolioPreparation
    laid: tuple[PreparedProject, ...] = ()
    """Projects as they are laid otherwise than asked, so that all know their commitments."""

    def joint(self, members: Sequence[PreparedProject], may_buy: bool = True) -> JointInputs:
        """Some projects together."""
        chosen = tuple(members)
        return JointInputs(chosen, self.preparation.inputs(chosen, self.laid), may_buy)

    def cheapest(self, joint: JointInputs, work: WorkMeter) -> tuple[Books | None, float]:
        """The books of the cheapest plan, and what no plan costs less than."""
        return JointBudgets(joint).search(work)

    def keeps_budgets(self, joint: JointInputs, books: Books) -> bool:
        """Whether the lines of a plan keep to every budget of all together."""
        return not JointBudgets(joint).excess(books)

    def plans_that_pay_back(
        self,
        members: Sequence[PreparedProject],
        known: Sequence[Decimal | None],
        work: WorkMeter,
    ) -> tuple[list[Books], float]:
        """The cheapest plans that buy nothing, and whose payments without resale come to no more
        than renting apart, which is `known`; with what no plan of either kind costs less than."""
        rents = float(sum(rent or Decimal(0) for rent in known))
        rented, rented_bound = self.cheapest(self.joint(members, may_buy=False), work)
        inputs = self.joint(members).inputs
        margin = self._payback_margin
        limited = JointInputs(tuple(members), inputs, most_paid=rents, margin=margin)
        bought, bought_bound = self.cheapest(limited, work)
        plans = [one for one in (rented, bought) if one is not None and self.pays_back(one, known)]
        return plans, min(rented_bound, bought_bound)

    def pays_back(self, books: Books, rents: Sequence[Decimal | None]) -> bool:
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
