"""What stands in the board pack, in its order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from reportlab.graphics.shapes import Drawing
from reportlab.platypus import Flowable, KeepTogether, ListFlowable, Spacer

from planner.contract.labels import category_title
from planner.exports.rows import Context, Step
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.assumption_rows import AssumptionRow
from planner.web.answer.board_pack import paper
from planner.web.answer.board_pack.drawings import draw_bars, draw_lines, draw_scenarios
from planner.web.answer.board_pack.paper import link, table, text
from planner.web.answer.tables import PurchaseRow, SourceRow
from planner.web.common.formatting import money, number, rate, singular, words
from pricing.common.pluralize import pluralize

WHOLE_FROM = Decimal(1000)
MOST_PURCHASES, MOST_SOURCES, MOST_ASSUMPTIONS = 12, 12, 14
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


def board_pack(page: AnswerPage, facts: PackFacts) -> bytes:
    """The answer as a PDF of one to three pages."""
    paper.register_fonts()
    parts = [*_first_page(page, facts), *_plan(page), *_rests_on(page, facts), *_approvals(facts)]
    foot = f"{facts.title} · {facts.printed:%-d %B %Y} · amounts in {page.currency}"
    return paper.print_pages(parts, facts.title, facts.author, foot)


def _first_page(page: AnswerPage, facts: PackFacts) -> Iterator[Flowable]:
    yield text(facts.title, paper.TITLE)
    yield text(" · ".join(_about(page, facts)), paper.SMALL)
    yield Spacer(1, 8)
    if page.verdict is None or not page.verdict.decision:
        yield text(page.headline, paper.STRONG)
        yield text(page.money_sentence)
        return
    for shown in page.decision:
        sentence = shown.part.sentence
        yield text(f"{sentence[:1].upper()}{sentence[1:]}", paper.STRONG)
        rented = f" · {number(shown.machine_hours)} machine-hours" if shown.machine_hours else ""
        seen = f" · {shown.price_day}" if shown.price_day else ""
        yield text(f"{money(shown.amount, page.currency)} in all{rented}{seen}", paper.SMALL)
    if page.beside_parts:
        amount, kinds = page.beside_parts
        yield text(f"{money(amount, page.currency)} beside these: {kinds}", paper.SMALL)
    yield Spacer(1, 4)
    yield text(page.money_sentence)
    if page.verdict.contested:
        yield text(page.verdict.contested)
    if page.verdict.late_delivery:
        yield text(page.verdict.late_delivery.sentence)
    yield Spacer(1, 5)
    rows = [(row.title, f"{row.words} ({row.note})" if row.note else row.words)
            for row in page.figure_rows]  # fmt: skip
    yield table(rows, (0.3, 0.7), header=False)
    yield from _bullets("Why", page.reasons)
    yield from _bullets(
        "What would change it", [turn.sentence for turn in page.verdict.switch_points]
    )
    drawing = draw_scenarios([row for row in page.possible if row.scenario.allowed], page.currency)
    yield from _picture("What each way costs, with the range of 8 of 10 cases", drawing)
    if page.first_chart:
        picture = draw_lines(page.first_chart)
        yield from _picture(page.first_chart.title, picture, page.first_chart.summary)


def _about(page: AnswerPage, facts: PackFacts) -> Iterator[str]:
    context = facts.context
    yield from filter(None, (context.team, context.project))
    yield f"{page.answer.start}, {pluralize(page.answer.horizon_months, 'month')}"
    yield f"amounts in {page.currency}"
    step = context.approval_status
    if step:
        yield f"{step.state} {_when(step)}"
    yield f"printed {facts.printed:%-d %B %Y}" + (f" by {facts.author}" if facts.author else "")


def _when(step: Step) -> str:
    by = f" by {step.by}" if step.by else ""
    return f"{step.at:%-d %B %Y}{by}"


def _bullets(title: str, sentences: tuple[str, ...] | list[str]) -> Iterator[Flowable]:
    if sentences:
        yield text(title, paper.HEADING)
        yield ListFlowable(
            [text(one) for one in sentences], bulletType="bullet", start="•", bulletFontSize=7,
            leftIndent=10,
        )  # fmt: skip


def _picture(title: str, drawing: Drawing, summary: str = "") -> Iterator[Flowable]:
    parts = [text(title, paper.HEADING), Spacer(1, 3), drawing]
    yield KeepTogether([*parts, text(summary, paper.SMALL)] if summary else parts)


def _plan(page: AnswerPage) -> Iterator[Flowable]:
    """What to buy or sign and when, what serves the demand, and what is paid for."""
    if page.purchases:
        yield text("What to buy or sign, and when", paper.HEADING)
        rows = [
            (row.month, f"{number(row.purchase.units)} × {row.purchase.label} {row.how}",
             f"{row.first} to {row.last}", _invoices(row, page.currency))
            for row in page.purchases[:MOST_PURCHASES]
        ]  # fmt: skip
        head = ("When", "What", "In service", "Invoices")
        yield table([head, *rows], (0.12, 0.48, 0.22, 0.18), (3,))
        yield from _more(len(page.purchases), MOST_PURCHASES, "purchases")
    yield from _spending(page)
    for chart in page.time_charts[:1]:
        yield from _picture(chart.title, draw_bars(chart), chart.summary)
    if page.sources:
        yield text("What is paid for", paper.HEADING)
        titles = ("What", "Quantity", "Price of one", "Amount", "Price seen")
        paid = [_source(row, page.currency) for row in page.sources[:MOST_SOURCES]]
        yield table([titles, *paid], (0.4, 0.18, 0.14, 0.15, 0.13), (1, 2, 3))
        yield from _more(len(page.sources), MOST_SOURCES, "lines")


def _spending(page: AnswerPage) -> Iterator[Flowable]:
    """What the total is made of, to the unit that the page shows."""
    if page.shown is None:
        return
    rows = [
        (category_title(category).capitalize(), money(amount, page.currency))
        for category, amount in page.shown.cost_by_category.items()
    ]
    total = ("Total", money(page.shown.total_cost, page.currency))
    head = ("What the total is made of", "Amount")
    parts = [text("What the money is spent on", paper.HEADING)]
    yield KeepTogether([*parts, table([head, *rows, total], (0.7, 0.3), (1,))])


def _price(amount: Decimal, currency: str) -> str:
    """An hour's price to the cent, a server's in whole units."""
    return rate(amount, currency) if amount < WHOLE_FROM else money(amount, currency)


def _invoices(row: PurchaseRow, currency: str) -> str:
    """What is due when it starts, servers with what belongs to them, and in every month."""
    start, monthly = row.purchase.due_at_start, row.purchase.due_per_month
    if start and row.fittings:
        start += row.fittings
    parts = [money(start, currency)] if start else []
    return " and ".join([*parts, *([f"{money(monthly, currency)} a month"] if monthly else [])])


def _source(row: SourceRow, currency: str) -> tuple[object, ...]:
    cost = row.cost
    low, high = cost.lowest_unit_price, cost.highest_unit_price
    price = _price(high, currency)
    if low != high:
        price = f"{_price(low, '').strip()} to {price}"
    seen = row.offer.as_of.isoformat() if row.offer and row.offer.as_of else ""
    source = row.offer.source if row.offer else ""
    unit = singular(cost.unit) if cost.quantity == 1 else cost.unit
    return (
        f"{row.what} in {row.where}, {words(cost.purchase_option)}" if row.offer else cost.label,
        f"{number(cost.quantity)} {unit}",
        price,
        money(cost.amount, currency),
        link(seen or "source", source) if source.startswith("http") else text(seen, paper.SMALL),
    )


def _more(count: int, shown: int, what: str) -> Iterator[Flowable]:
    if count > shown:
        yield text(f"{count - shown} more {what} are in the workbook.", paper.SMALL)


def _rests_on(page: AnswerPage, facts: PackFacts) -> Iterator[Flowable]:
    """What was asked, the assumptions that were given or move the total most, and warnings."""
    yield text("What it rests on", paper.HEADING)
    yield text(page.demand.method)
    if page.assumed:
        yield text(f"Assumed: {page.assumed}.")
    rows = _chosen(page)
    if rows:
        yield Spacer(1, 4)
        cells = [
            (row.label, f"{row.shown} {row.unit}".strip(), "given" if row.given else "default",
             link(row.source, row.source))
            for row in rows
        ]  # fmt: skip
        head = ("Assumption", "Value", "", "Source")
        yield table([head, *cells], (0.27, 0.2, 0.09, 0.44))
        yield from _more(len(page.assumptions), len(rows), "assumptions")
    yield from _bullets("To be aware of", page.warnings)
    if facts.address:
        yield Spacer(1, 4)
        yield link(f"The whole answer, with every source: {facts.address}", facts.address)


def _chosen(page: AnswerPage) -> list[AssumptionRow]:
    """Those given, then those that move the total most."""
    strongest = sorted(page.answer.sensitivity, key=lambda row: -row.effect)
    order = {row.field: index for index, row in enumerate(strongest) if row.effect}
    chosen = [row for row in page.assumptions if row.given]
    others = [row for row in page.assumptions if not row.given and row.path in order]
    others.sort(key=lambda row: order[row.path])
    return [*chosen, *others][:MOST_ASSUMPTIONS]


def _approvals(facts: PackFacts) -> Iterator[Flowable]:
    """Who did what with the saved comparison; lines to sign where nobody saved it."""
    steps = [(one.state.capitalize(), one.by, f"{one.at:%-d %B %Y}") for one in facts.context.steps]
    rows = [("Step", "Name", "Date"), *(steps or EMPTY_STEPS)]
    if steps and facts.context.steps[-1].state != "approved":
        rows.append(("Approved by", "", ""))
    yield KeepTogether([text("Approvals", paper.HEADING), table(rows, (0.25, 0.45, 0.3))])
