"""The board pack of a portfolio: the plan for all projects on paper, and what each pays.

It shows what the page shows, from the same objects, to whoever sees it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reportlab.platypus import Flowable, Spacer

from planner.web.answer.assumption_rows import list_assumption_rows
from planner.web.answer.board_pack import paper
from planner.web.answer.board_pack.drawings import GREYS, draw_bars, draw_lines
from planner.web.answer.board_pack.paper import table, text
from planner.web.answer.board_pack.parts import (
    PackFacts,
    assumptions,
    close_pack,
    head,
    more,
    picture,
    print_pack,
    spending,
    what_is_paid_for,
)
from planner.web.common.chart import Chart, Series
from planner.web.common.form_fields import with_labels
from planner.web.common.formatting import money
from planner.web.team.portfolio_page import PortfolioPage

MOST_PURCHASES, MOST_PROJECTS, MOST_ASSUMPTIONS = 12, 20, 10
OTHERS = "all others"


def portfolio_pack(page: PortfolioPage, facts: PackFacts) -> bytes:
    """The plan as a PDF."""
    paper.register_fonts()
    parts = [*_advice(page, facts), *_shares(page), *_charts(page), *_purchases(page),
             *_rests_on(page, facts)]  # fmt: skip
    return print_pack(parts, facts, page.answer.currency)


def _advice(page: PortfolioPage, facts: PackFacts) -> Iterator[Flowable]:
    yield from head(page.answer, facts)
    yield text(page.answer.headline, paper.STRONG)
    for sentence in filter(None, (page.next_order, *page.answer.why_not)):
        yield text(with_labels(sentence))
    if page.figures:
        yield Spacer(1, 5)
        yield table(page.figures, (0.45, 0.55), header=False)


def _shares(page: PortfolioPage) -> Iterator[Flowable]:
    """Every project with what it pays alone and here, and why."""
    shares, currency = page.shares, page.answer.currency
    if not shares:
        return
    yield text("What each project pays, and why", paper.HEADING)
    rows: list[tuple[object, ...]] = [("Project", "Alone", "Pays here", "Saves", "Why")]
    for share in shares[:MOST_PROJECTS]:
        one = share.row
        amounts = (money(amount, currency) for amount in (one.alone, one.share, one.saving))
        name = f"{one.name} ({share.state})" if share.state else one.name
        rows.append((name, *amounts, text(one.explanation, paper.SMALL)))
    yield table(rows, (0.13, 0.14, 0.14, 0.14, 0.45), (1, 2, 3))
    yield from more(len(shares), MOST_PROJECTS, "projects")
    yield text(page.shares_note, paper.SMALL)


def _charts(page: PortfolioPage) -> Iterator[Flowable]:
    for chart in page.charts:
        drawn = draw_bars(_of_few(chart)) if chart.kind == "bar" else draw_lines(chart)
        yield from picture(chart.title, drawn, chart.summary)


def _of_few(chart: Chart) -> Chart:
    """As many series as there are greys: the largest, and the sum of the others."""
    if len(chart.series) <= len(GREYS):
        return chart
    largest = sorted(chart.series, key=lambda one: -_size(one))
    first, others = largest[: len(GREYS) - 1], largest[len(GREYS) - 1 :]
    sums = [sum(value or 0.0 for value in month)
            for month in zip(*(one.values for one in others), strict=True)]  # fmt: skip
    return replace(chart, series=[*first, Series(OTHERS, sums)])


def _size(series: Series) -> float:
    return sum(value or 0.0 for value in series.values)


def _purchases(page: PortfolioPage) -> Iterator[Flowable]:
    answer = page.answer
    if page.timeline:
        yield text("What to buy or sign, and when", paper.HEADING)
        rows = [
            (one.ordered, f"{one.units}: {one.row.label}", f"{one.first} to {one.last}",
             money(one.due_with_fittings, answer.currency) if one.due_with_fittings else "")
            for one in page.timeline[:MOST_PURCHASES]
        ]  # fmt: skip
        titles = ("Ordered", "What", "In service", "Due at start")
        yield table([titles, *rows], (0.12, 0.5, 0.22, 0.16), (3,))
        yield from more(len(page.timeline), MOST_PURCHASES, "purchases")
    if answer.cost_by_category:
        yield from spending(answer.cost_by_category, answer.total_cost, answer.currency)
    yield from what_is_paid_for(page.sources, answer.currency)


def _rests_on(page: PortfolioPage, facts: PackFacts) -> Iterator[Flowable]:
    """The assumptions of all projects, those given first, and warnings."""
    yield text("What it rests on", paper.HEADING)
    rows = sorted(list_assumption_rows(page.answer), key=lambda row: not row.given)
    assumed = assumptions(rows[:MOST_ASSUMPTIONS], len(rows))
    yield from close_pack(assumed, [with_labels(one) for one in page.answer.warnings], facts)
