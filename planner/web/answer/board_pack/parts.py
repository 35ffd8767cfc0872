"""What every board pack has: whose it is, lists, pictures, what is left out, approvals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from reportlab.graphics.shapes import Drawing
from reportlab.platypus import Flowable, KeepTogether, ListFlowable, Spacer

from planner.contract.answer.common import Category
from planner.contract.labels import category_title
from planner.contract.months import name_day, name_month
from planner.exports.rows import Context, Step
from planner.web.answer.assumption_rows import AssumptionRow
from planner.web.answer.board_pack import paper
from planner.web.answer.board_pack.paper import link, table, text
from planner.web.answer.tables import SourceRow
from planner.web.common.formatting import money, number, rate, singular, unit_words, words
from pricing.common.pluralize import pluralize

WHOLE_FROM = Decimal(1000)
MOST_SOURCES = 12
EMPTY_STEPS = (("Submitted by", "", ""), ("Approved by", "", ""))


@dataclass(frozen=True)
class PackFacts:
    """Whose pack it is and where the whole answer is to be seen."""

    printed: dt.date
    author: str = ""
    address: str = ""
    """Absolute, of the answer's page."""
    context: Context = field(default_factory=Context)

    @property
    def title(self) -> str:
        return self.context.name or "What the accelerators should cost"


class Span(Protocol):
    """What an answer says of its months and its money."""

    @property
    def start(self) -> str: ...
    @property
    def horizon_months(self) -> int: ...
    @property
    def currency(self) -> str: ...


def print_pack(parts: list[Flowable], facts: PackFacts, currency: str) -> bytes:
    """The parts on numbered pages, with title, day and currency at their foot."""
    foot = f"{facts.title} · {name_day(facts.printed)} · amounts in {currency}"
    return paper.print_pages(parts, facts.title, facts.author, foot)


def head(answer: Span, facts: PackFacts) -> Iterator[Flowable]:
    """The title, and in a line whose it is, of which months, in which state."""
    yield text(facts.title, paper.TITLE)
    yield text(" · ".join(_about(answer, facts)), paper.SMALL)
    yield Spacer(1, 8)


def _about(answer: Span, facts: PackFacts) -> Iterator[str]:
    context = facts.context
    yield from filter(None, (context.team, context.project))
    yield f"from {name_month(answer.start)}, {pluralize(answer.horizon_months, 'month')}"
    yield f"amounts in {answer.currency}"
    step = context.approval_status
    if step:
        yield f"{step.state} {_when(step)}"
    yield f"printed {name_day(facts.printed)}" + (f" by {facts.author}" if facts.author else "")


def _when(step: Step) -> str:
    by = f" by {step.by}" if step.by else ""
    return f"{name_day(step.at)}{by}"


def bullets(title: str, sentences: Sequence[str]) -> Iterator[Flowable]:
    """A heading with a list below it; nothing where there are no sentences."""
    if sentences:
        yield text(title, paper.HEADING)
        yield ListFlowable(
            [text(one) for one in sentences], bulletType="bullet", start="•", bulletFontSize=7,
            leftIndent=10,
        )  # fmt: skip


def picture(title: str, drawing: Drawing, summary: str = "") -> Iterator[Flowable]:
    """A drawing that stays with its title and its summary."""
    parts = [text(title, paper.HEADING), Spacer(1, 3), drawing]
    yield KeepTogether([*parts, text(summary, paper.SMALL)] if summary else parts)


def more(count: int, shown: int, what: str) -> Iterator[Flowable]:
    """How many lines are left out, where any are."""
    if count > shown:
        yield text(f"{count - shown} more {what} are in the workbook.", paper.SMALL)


def spending(
    by_category: Mapping[Category, Decimal], total: Decimal | None, currency: str
) -> Iterator[Flowable]:
    """What the total is made of, to the unit that the page shows."""
    rows = [
        (category_title(category).capitalize(), money(amount, currency))
        for category, amount in by_category.items()
    ]
    titles, last = ("What the total is made of", "Amount"), ("Total", money(total, currency))
    parts = [text("What the money is spent on", paper.HEADING)]
    yield KeepTogether([*parts, table([titles, *rows, last], (0.7, 0.3), (1,))])


def what_is_paid_for(rows: Sequence[SourceRow], currency: str) -> Iterator[Flowable]:
    """Offers and servers with the day and the place of their prices."""
    if not rows:
        return
    titles = ("What", "Quantity", "Price of one", "Amount", "Price seen")
    paid = [_source(row, currency) for row in rows[:MOST_SOURCES]]
    shown = table([titles, *paid], (0.4, 0.18, 0.14, 0.15, 0.13), (1, 2, 3))
    yield KeepTogether([text("What is paid for", paper.HEADING), shown])
    yield from more(len(rows), MOST_SOURCES, "lines")


def _price(amount: Decimal, currency: str) -> str:
    """An hour's price to the cent, a server's in whole units."""
    return rate(amount, currency) if amount < WHOLE_FROM else money(amount, currency)


def _source(row: SourceRow, currency: str) -> tuple[object, ...]:
    cost = row.cost
    low, high = cost.lowest_unit_price, cost.highest_unit_price
    price = _price(high, currency)
    if low != high:
        price = f"{_price(low, '').strip()} to {price}"
    seen = name_day(row.offer.as_of) if row.offer and row.offer.as_of else ""
    source = row.offer.source if row.offer else ""
    units = unit_words(cost.unit)
    unit = singular(units) if cost.quantity == 1 else units
    return (
        f"{row.what} in {row.where}, {words(cost.purchase_option)}" if row.offer else cost.label,
        f"{number(cost.quantity)} {unit}",
        price,
        money(cost.amount, currency),
        link(seen or "source", source) if source.startswith("http") else text(seen, paper.SMALL),
    )


def assumptions(rows: Sequence[AssumptionRow], count: int) -> Iterator[Flowable]:
    """Assumptions with their sources, and how many of all `count` are left out."""
    if not rows:
        return
    yield Spacer(1, 4)
    cells = [
        (row.label, f"{row.shown} {row.unit}".strip(), "given" if row.given else "default",
         link(row.source, row.source))
        for row in rows
    ]  # fmt: skip
    titles = ("Assumption", "Value", "", "Source")
    yield table([titles, *cells], (0.27, 0.2, 0.09, 0.44))
    yield from more(count, len(rows), "assumptions")


def whole_answer(facts: PackFacts) -> Iterator[Flowable]:
    """Where the whole answer is to be seen."""
    if facts.address:
        yield Spacer(1, 4)
        yield link(f"The whole answer, with every source: {facts.address}", facts.address)


def close_pack(
    assumed: Iterator[Flowable], warnings: Sequence[str], facts: PackFacts
) -> Iterator[Flowable]:
    """Assumptions, warnings and approvals. The last list stays with the approvals, which would
    otherwise stand on a page of their own."""
    last = [*bullets("To be aware of", warnings)]
    if last:
        yield from assumed
    yield KeepTogether([*(last or assumed), *whole_answer(facts), *_approvals(facts)])


def _approvals(facts: PackFacts) -> Iterator[Flowable]:
    """Who did what with what is saved; lines to sign where nobody saved it."""
    steps = [(one.state.capitalize(), one.by, name_day(one.at)) for one in facts.context.steps]
    rows = [("Step", "Name", "Date"), *(steps or EMPTY_STEPS)]
    if steps and facts.context.steps[-1].state != "approved":
        rows.append(("Approved by", "", ""))
    yield text("Approvals", paper.HEADING)
    yield table(rows, (0.25, 0.45, 0.3))
