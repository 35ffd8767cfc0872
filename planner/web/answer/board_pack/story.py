"""What stands in the board pack, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from reportlab.platypus import Flowable, Spacer

from planner.contract.labels import NO_RANGE_HERE
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.assumption_rows import AssumptionRow
from planner.web.answer.board_pack import paper
from planner.web.answer.board_pack.drawings import draw_bars, draw_lines, draw_scenarios
from planner.web.answer.board_pack.paper import table, text
from planner.web.answer.board_pack.parts import (
    PackFacts,
    assumptions,
    bullets,
    close_pack,
    head,
    more,
    picture,
    print_pack,
    spending,
    what_is_paid_for,
)
from planner.web.answer.scenario_rows import with_spans
from planner.web.answer.tables import PurchaseRow
from planner.web.common.formatting import money, number, worked

MOST_PURCHASES, MOST_ASSUMPTIONS = 12, 14


def board_pack(page: AnswerPage, facts: PackFacts) -> bytes:
    """The answer as a PDF of one to three pages."""
    paper.register_fonts()
    parts = [*_first_page(page, facts), *_plan(page), *_rests_on(page, facts)]
    return print_pack(parts, facts, page.currency)


def _first_page(page: AnswerPage, facts: PackFacts) -> Iterator[Flowable]:
    yield from head(page.answer, facts)
    if page.verdict is None or not page.verdict.decision:
        yield text(page.headline, paper.STRONG)
        yield text(page.money_sentence)
        return
    for shown in page.decision:
        sentence = shown.part.sentence
        yield text(f"{sentence[:1].upper()}{sentence[1:]}", paper.STRONG)
        rented = f" · {worked(shown.machine_hours, 'machine')}" if shown.machine_hours else ""
        seen = f" · {shown.price_day}" if shown.price_day else ""
        yield text(f"{money(shown.amount, page.currency)} in all{rented}{seen}", paper.SMALL)
    if page.beside_parts:
        amount, kinds = page.beside_parts
        yield text(f"{money(amount, page.currency)} on top of these: {kinds}", paper.SMALL)
    yield Spacer(1, 4)
    yield text(page.money_sentence)
    if page.verdict.contested:
        yield text(page.verdict.contested)
    if page.verdict.late_delivery:
        yield text(page.verdict.late_delivery.sentence)
    yield Spacer(1, 5)
    rows = [(row.title, row.in_a_line) for row in page.figure_rows]
    yield table(rows, (0.3, 0.7), header=False)
    yield from bullets("Why", page.reasons)
    yield from bullets(
        "What would change it", [turn.sentence for turn in page.verdict.switch_points]
    )
    drawing = draw_scenarios(
        with_spans([row for row in page.possible if row.scenario.allowed]), page.currency
    )
    risk = page.answer.risk
    holds = risk is None or risk.holds
    which = "of 8 of 10 cases" if holds else f"of published runs, which {NO_RANGE_HERE}"
    yield from picture(f"What each way costs, with the range {which}", drawing)
    if page.first_chart:
        lines = draw_lines(page.first_chart)
        yield from picture(page.first_chart.title, lines, page.first_chart.summary)


def _idle(row: PurchaseRow) -> str:
    return f", without work in {row.idle}" if row.idle else ""


def _plan(page: AnswerPage) -> Iterator[Flowable]:
    """What to buy or sign and when, what serves the demand, and what is paid for."""
    if page.purchases:
        yield text("What to buy or sign, and when", paper.HEADING)
        rows = [
            (row.month, f"{number(row.purchase.units)} × {row.purchase.label}, {row.how}",
             f"{row.first} to {row.last}{_idle(row)}", _invoices(row, page.currency))
            for row in page.purchases[:MOST_PURCHASES]
        ]  # fmt: skip
        head = ("When", "What", "In service", "Invoices")
        yield table([head, *rows], (0.15, 0.43, 0.24, 0.18), (3,))
        yield from more(len(page.purchases), MOST_PURCHASES, "purchases")
    if page.shown:
        yield from spending(page.shown.cost_by_category, page.shown.total_cost, page.currency)
    for chart in page.time_charts[:1]:
        yield from picture(chart.title, draw_bars(chart), chart.summary)
    yield from what_is_paid_for(page.sources, page.currency)


def _invoices(row: PurchaseRow, currency: str) -> str:
    """What is due when it starts, servers with what belongs to them, and in every month."""
    start, monthly = row.purchase.due_at_start, row.purchase.due_per_month
    if start and row.fittings:
        start += row.fittings
    parts = [money(start, currency)] if start else []
    return " and ".join([*parts, *([f"{money(monthly, currency)} a month"] if monthly else [])])


def _rests_on(page: AnswerPage, facts: PackFacts) -> Iterator[Flowable]:
    """What was asked, the assumptions that were given or move the total most, and warnings."""
    yield text("What it rests on", paper.HEADING)
    yield text(page.demand.method)
    if page.assumed:
        yield text(f"Assumed: {page.assumed}.")
    assumed = assumptions(_chosen(page), len(page.assumptions))
    yield from close_pack(assumed, page.warnings, facts)


def _chosen(page: AnswerPage) -> list[AssumptionRow]:
    """Those given, then those that move the total most."""
    strongest = sorted(page.answer.sensitivity, key=lambda row: -row.effect)
    order = {row.field: index for index, row in enumerate(strongest) if row.effect}
    chosen = [row for row in page.assumptions if row.given]
    others = [row for row in page.assumptions if not row.given and row.path in order]
    others.sort(key=lambda row: order[row.path])
    return [*chosen, *others][:MOST_ASSUMPTIONS]
