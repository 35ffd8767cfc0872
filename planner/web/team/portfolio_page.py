"""What the page of a portfolio shows: figures, charts and tables of its answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from planner.contract.amounts import NOISE, shorten_month
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.scenario import sum_by_source
from planner.costing.results.scenario_result import owed_after
from planner.portfolio.words import METHOD_TITLES, describe_range, list_orders, list_signed
from planner.services.portfolio.portfolios import Window
from planner.web.answer.tables import PurchaseRow, SourceRow, cost_rows, purchase_rows
from planner.web.common.chart import Chart, Series
from planner.web.common.formatting import money, percent
from planner.web.common.views import describe_refusal
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import HOURS_PER_MONTH

_END_OF_SENTENCE = re.compile(r"(?<=[\w)]{2})\. (?=[A-Z])")
"""Not the point of an initial: `AWS US East (N. Virginia)`."""


@dataclass(frozen=True)
class ProjectRow:
    key: str
    name: str
    is_ticked: bool
    window: Window | None
    """Months within which its hours may move, as they are typed."""
    is_at_once: bool
    """Whether its jobs do not wait for those of others."""


def describe_portfolio_refusal(refusal: InvalidInput, request: Mapping[str, Any]) -> str:
    return "; ".join(_describe(one, request.get("projects") or ()) for one in refusal.all())


def _describe(refusal: InvalidInput, projects: Sequence[Mapping[str, Any]]) -> str:
    if refusal.field == "projects":
        return f"Projects: {refusal.message}"
    section, _, rest = refusal.field.partition(".")
    number, _, field = rest.partition(".")
    if section != "projects" or not number.isdecimal() or int(number) >= len(projects):
        return describe_refusal(refusal)
    words = _WINDOW_WORDS.get(field) or describe_refusal(InvalidInput(field, refusal.message))
    message = f"{words}: {refusal.message}" if field in _WINDOW_WORDS else words
    return f"{projects[int(number)]['name']}: {message}"


_WINDOW_WORDS = {
    "window": "The months within which it may move",
    "window.start": "The first month in which it may move",
    "window.deadline": "The last month in which it may move",
}


_LACKS_WORK = (
    "Shares by what each project adds to the others take more work than a page may: planned in "
    "the background, the plan has them."
)


def _or_nothing(amount: Decimal | int, currency: str) -> str:
    return money(amount, currency) if amount else "nothing"


@dataclass(frozen=True)
class PortfolioPage:
    answer: PortfolioAnswer
    asked_for: str = "shapley"
    """How the cost was to be divided, `shares` of the request."""
    total_budget: float | None = None
    """Most that all payments may come to, `limits` of the request; None where none is stated."""

    @classmethod
    def of(cls, answer: PortfolioAnswer, request: Mapping[str, Any]) -> PortfolioPage:
        limits = request.get("limits") or {}
        return cls(answer, request.get("shares", "shapley"), limits.get("total_budget"))

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Name and value of the figures of the whole plan; none where there is no plan."""
        answer, currency = self.answer, self.answer.currency
        if answer.net_present_cost is None:
            return []
        owed = owed_after(answer.lines, answer.horizon_months)
        spread = f"none. {answer.why_no_range}"
        if answer.range is not None:
            spread = describe_range(answer.range, currency)
        rows = [
            *(
                (one.title, ", ".join(filter(None, (_or_nothing(one.amount, currency), one.note))))
                for one in list_signed(answer)
            ),
            ("Owed after the plan", _or_nothing(owed, currency)),
            ("Cost of the plan in today's money", money(answer.net_present_cost, currency)),
            ("Expected cost", money(answer.expected, currency)),
            *(
                (f"Risk allowance: {cause.value}", money(amount, currency))
                for cause, amount in answer.risk_allowance.items()
                if amount
            ),
            ("Total as stated", money(answer.total_cost, currency)),
            *([("Resale taken off them", money(answer.resale, currency))] if answer.resale else []),
            ("Range of the total", spread),
            ("Budget", self._budget_words()),
        ]
        if answer.apart is not None:
            saved = f"{money(answer.saving, currency)} ({percent(answer.saving_fraction)})"
            rows.append(("Planned apart, in today's money", money(answer.apart, currency)))
            rows.append(("Saved by planning together", saved))
        if answer.utilisation is not None:
            rows.append(("Use of the machines held", percent(answer.utilisation)))
        of = ", for the months in which it does the work" if answer.is_laid_anew else ""
        if answer.gap is not None and answer.gap <= NOISE:
            rows.append(("No plan is cheaper", f"proven{of}"))
        else:
            rows.append(("No plan is cheaper by more than", f"{percent(answer.gap, 2)}{of}"))
        return rows

    def _budget_words(self) -> str:
        answer, currency = self.answer, self.answer.currency
        if self.total_budget is None or answer.total_cost is None:
            return "none stated for all projects together"
        budget = Decimal(str(self.total_budget))
        resale = answer.resale or Decimal(0)
        left = budget - answer.total_cost - resale
        words = f"{money(abs(left), currency)} {'left of' if left >= 0 else 'over'}"
        before = f", before {money(resale, currency)} of resale" if resale else ""
        return f"{words} {money(budget, currency)}{before}"

    @property
    def sources(self) -> list[SourceRow]:
        return cost_rows(sum_by_source(self.answer.lines), self.answer, {})

    @property
    def charts(self) -> list[Chart]:
        if not self.answer.uses:
            return []
        months = self.answer.months
        stacks = {one.name: [0.0] * len(months) for one in self.answer.projects}
        for use in self.answer.uses:
            stacks[use.project][use.month] += use.accelerator_hours / HOURS_PER_MONTH
        chart = Chart(
            key="portfolio-projects",
            title="Which project uses the machines, month by month?",
            kind="bar",
            x_label="month",
            y_label="accelerators at work, mean of the month",
            x=[shorten_month(month) for month in months],
            series=[Series(name, values) for name, values in stacks.items() if any(values)],
            digits=1,
            summary="Accelerators at work in each month, one colour a project.",
        )
        return [chart]

    @cached_property
    def timeline(self) -> list[PurchaseRow]:
        return purchase_rows(self.answer, self.answer)

    @property
    def shares_note(self) -> str:
        """In which money shares are, and how they come about."""
        method = METHOD_TITLES.get(self.answer.shares_method or "", "")
        divided = f"; the plan is divided {method}" if method else ""
        nobody = " Nobody pays more than alone." if self.nobody_pays_more else ""
        lacking = f" {_LACKS_WORK}" if self.lacks_shares else ""
        return f"Amounts are in today's money{divided}.{lacking}{nobody}"

    @property
    def lacks_shares(self) -> bool:
        return self.asked_for != "use" and self.answer.shares_method == "use"

    @property
    def has_what_if(self) -> bool:
        return any(one.without is not None for one in self.answer.projects)

    @property
    def nobody_pays_more(self) -> bool:
        """Whether planning together is dearer for nobody, which limits of all may make it; not said
        to who sees their own projects alone."""
        if self.answer.net_present_cost is None:
            return False
        return all(one.saving is None or one.saving >= 0 for one in self.answer.projects)

    @property
    def advice(self) -> tuple[str, str]:
        first, *rest = _END_OF_SENTENCE.split(self.answer.headline, maxsplit=1)
        return (f"{first}.", rest[0]) if rest else (first, "")

    @property
    def orders(self) -> list[str]:
        return list(list_orders(self.answer))

    @property
    def next_order(self) -> str:
        """When the first server has to be ordered, in a sentence; "" where none is."""
        order = self.answer.next_order
        if order is None:
            return ""
        return (
            f"Order {order.units:g} × {order.label} in {self._month(order.month)}, to have it from "
            f"{self._month(order.first)}."
        )

    def _month(self, index: int) -> str:
        return f"{self.answer.month(index):%B %Y}"
