"""What the page of a portfolio shows: figures, charts and tables of its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

from planner.contract.answer.portfolio import PortfolioAnswer
from planner.contract.answer.scenario import Purchase
from planner.contract.months import format_month
from planner.costing.advice.payback import capital_to_approve
from planner.costing.results.scenario_result import owed_after
from planner.portfolio.words import METHOD_TITLES
from planner.services.portfolio.team_request import Window
from planner.web.common.chart import Chart, Series
from planner.web.common.view_helpers import describe_refusal
from pricing.common.invalid_input import InvalidInput
from pricing.market.offers import HOURS_PER_MONTH


@dataclass(frozen=True)
class ProjectRow:
    """A project as the form shows it."""

    key: str
    name: str
    is_ticked: bool
    window: Window | None
    """Months within which its hours may move, as they are typed."""


def describe_portfolio_refusal(refusal: InvalidInput, request: Mapping[str, Any]) -> str:
    """A refusal in words, with the name of the project that it is about."""
    return "; ".join(_describe(one, request.get("projects") or ()) for one in refusal.all())


def _describe(refusal: InvalidInput, projects: Sequence[Mapping[str, Any]]) -> str:
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


@dataclass(frozen=True)
class TimelineRow:
    """A purchase with its months in words."""

    row: Purchase
    ordered: str
    first: str
    last: str

    @property
    def units(self) -> str:
        """How many of what."""
        noun = "server" if self.row.kind == "server" else "machine"
        return f"{self.row.units:g} {noun}{'' if self.row.units == 1 else 's'}"


@dataclass(frozen=True)
class PortfolioPage:
    """An answer as its page shows it."""

    answer: PortfolioAnswer

    @property
    def charts(self) -> list[Chart]:
        """Who uses the machines, and how far those that are held are used."""
        charts = [self._by_project()] if self.answer.uses else []
        return charts + ([self._utilisation()] if self.answer.in_service else [])

    def _by_project(self) -> Chart:
        """Accelerators at work in each month, stacked by project."""
        months = self.answer.months
        stacks = {one.name: [0.0] * len(months) for one in self.answer.projects}
        for use in self.answer.uses:
            stacks[use.project][use.month] += use.accelerator_hours / HOURS_PER_MONTH
        return Chart(
            key="portfolio-projects",
            title="Which project uses the machines, month by month?",
            kind="bar",
            x_label="month",
            y_label="accelerators at work, mean of the month",
            x=months,
            series=[Series(name, values) for name, values in stacks.items() if any(values)],
            digits=1,
            summary="Accelerators at work in each month, one colour a project.",
        )

    def _utilisation(self) -> Chart:
        months = self.answer.months
        held, used = [0.0] * len(months), [0.0] * len(months)
        for row in self.answer.in_service:
            held[row.month] += row.hours_available / HOURS_PER_MONTH
            used[row.month] += row.hours_used / HOURS_PER_MONTH
        share = self.answer.utilisation or 0.0
        return Chart(
            key="portfolio-utilisation",
            title="How far are the machines used that the team holds?",
            kind="line",
            x_label="month",
            y_label="accelerators",
            x=months,
            series=[Series("can work", held), Series("work", used)],
            digits=1,
            summary=f"Machines that are bought, committed to or held work {share:.0%} of the hours "
            "that they can.",
        )

    @cached_property
    def timeline(self) -> tuple[TimelineRow, ...]:
        """What is bought and committed to, in the order of months."""
        return tuple(
            TimelineRow(row, self._month(row.month), self._month(row.first), self._month(row.last))
            for row in self.answer.purchases
        )

    @property
    def has_what_if(self) -> bool:
        """Whether it is known of any project what the others would pay without it."""
        return any(one.without is not None for one in self.answer.projects)

    @property
    def nobody_pays_more(self) -> bool:
        """Whether planning together is dearer for nobody; limits of all may make it so."""
        return all(one.saving is None or one.saving >= 0 for one in self.answer.projects)

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

    @property
    def capital_to_approve(self) -> Decimal | None:
        """All invoices of the month in which the first servers are bought."""
        return capital_to_approve(self.answer.lines)

    @property
    def owed_after(self) -> Decimal:
        """What falls due after the plan."""
        return owed_after(self.answer.lines, self.answer.horizon_months)

    @property
    def method(self) -> str:
        """How the shares come about."""
        return METHOD_TITLES.get(self.answer.shares_method or "", "")

    def _month(self, index: int) -> str:
        return format_month(self.answer.month(index))
