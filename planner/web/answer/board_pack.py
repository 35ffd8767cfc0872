"""Paper, fonts and styles of the board pack."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from io import BytesIO
from math import ceil, floor, log10
from pathlib import Path
from typing import Literal, Protocol
from xml.sax.saxutils import escape

import reportlab
from django.conf import settings
from reportlab.graphics.shapes import Circle, Drawing, Line, PolyLine, Rect, String
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    KeepTogether,
    ListFlowable,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

from planner.contract.amounts import name_day, name_month
from planner.contract.answer.common import Category
from planner.contract.labels import NO_RANGE_HERE, category_title
from planner.exports.csv_export import Context, Step
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.assumptions import AssumptionRow
from planner.web.answer.tables import PurchaseRow, ScenarioRow, SourceRow, with_spans
from planner.web.common.chart import Chart, Series
from planner.web.common.formatting import (
    money,
    money_short,
    number,
    plain,
    rate,
    singular,
    unit_words,
    words,
    worked,
)
from pricing.common.pluralize import pluralize

REGULAR, BOLD = "Pack", "Pack-Bold"
INK, GREY, LINE, SHADE = (HexColor(one) for one in ("#1a1f26", "#57606a", "#c9ced6", "#f1f3f5"))
MARGIN = 16 * mm
WIDTH = A4[0] - 2 * MARGIN
SIZE = 8.5


@cache
def register_fonts() -> None:
    """DejaVu from the front-end packages; where they are not installed, reportlab's own Vera."""
    folder = Path(settings.NODE_MODULES) / "dejavu-fonts-ttf" / "ttf"
    files = folder / "DejaVuSans.ttf", folder / "DejaVuSans-Bold.ttf"
    if not all(file.is_file() for file in files):
        own = Path(reportlab.__file__).parent / "fonts"
        files = own / "Vera.ttf", own / "VeraBd.ttf"
    for name, file in zip((REGULAR, BOLD), files, strict=True):
        pdfmetrics.registerFont(TTFont(name, file))
    pdfmetrics.registerFontFamily(REGULAR, normal=REGULAR, bold=BOLD, italic=REGULAR)


def _style(size: float, *, bold: bool = False, before: float = 0, colour: Color = INK,
           right: bool = False, stays: bool = False) -> ParagraphStyle:  # fmt: skip
    return ParagraphStyle(
        f"{size}-{bold}-{before}-{colour}-{right}",
        fontName=BOLD if bold else REGULAR,
        fontSize=size,
        leading=size * 1.32,
        textColor=colour,
        spaceBefore=before,
        alignment=2 if right else 0,
        keepWithNext=stays,
    )


BODY = _style(SIZE)
NUMBER = _style(SIZE, right=True)
SMALL = _style(7, colour=GREY)
STRONG = _style(10.5, bold=True)
TITLE = _style(16, bold=True)
HEADING = _style(10.5, bold=True, before=9, stays=True)


def text(words: object, style: ParagraphStyle = BODY) -> Paragraph:
    return Paragraph(escape(str(words)), style)


def link(words: str, address: str) -> Paragraph:
    if not address.startswith(("http://", "https://")):
        return text(words, SMALL)
    return Paragraph(f'<a href="{escape(address, {chr(34): "&quot;"})}" color="#0b5cab">'
                     f"{escape(words)}</a>", SMALL)  # fmt: skip


def table(rows: Sequence[Sequence[object]], widths: Sequence[float], numbers: Sequence[int] = (),
          *, header: bool = True) -> Table:  # fmt: skip
    """Rows with a line below each; columns of `numbers` are flush right. Widths are shares."""
    cells = [
        [
            one if isinstance(one, Flowable)
            else text(one, _cell_style(header and index == 0, column in numbers))
            for column, one in enumerate(row)
        ]
        for index, row in enumerate(rows)
    ]  # fmt: skip
    style = TableStyle([
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 1.6),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1.8),
        ("LEFTPADDING", (0, 0), (-1, -1), 2),
        ("RIGHTPADDING", (0, 0), (-1, -1), 2),
    ])  # fmt: skip
    if header:
        style.add("BACKGROUND", (0, 0), (-1, 0), SHADE)
    columns = [WIDTH * share for share in widths]
    return Table(cells, columns, style=style, repeatRows=int(header), hAlign="LEFT")


def _cell_style(is_header: bool, is_number: bool) -> ParagraphStyle:
    if is_header:
        return _style(7, bold=True, right=is_number)
    return NUMBER if is_number else BODY


def print_pages(story: list[Flowable], title: str, author: str, foot: str) -> bytes:
    """The story on paper, each page with its number, what it is of, and `foot`."""

    def stamp(canvas: Canvas, document: SimpleDocTemplate) -> None:
        canvas.saveState()
        canvas.setFont(REGULAR, 7)
        canvas.setFillColor(GREY)
        canvas.drawString(MARGIN, 9 * mm, foot[:130])
        canvas.drawRightString(A4[0] - MARGIN, 9 * mm, f"page {document.page}")
        canvas.restoreState()

    paper = BytesIO()
    document = SimpleDocTemplate(
        paper, pagesize=A4, leftMargin=MARGIN, rightMargin=MARGIN, topMargin=14 * mm,
        bottomMargin=16 * mm, title=title, author=author, invariant=1, lang="en",
    )  # fmt: skip
    document.build(story, onFirstPage=stamp, onLaterPages=stamp)
    return paper.getvalue()


HEIGHT = 150.0
LEFT, RIGHT, BOTTOM, TOP = 46.0, 112.0, 24.0, 14.0
MOST_MONTHS = 9
"""Names of so many months stand below a chart."""
Anchor = Literal["start", "middle", "end"]
GREYS = tuple(HexColor(one) for one in ("#30363d", "#7a838c", "#b8bfc7", "#dfe3e8", "#545d68"))
DASHES: tuple[Sequence[float], ...] = ((), (5, 2), (1, 2))
MOST_TICKS = 6
LEAST_GAP = 9.0
"""Points between the names of two lines."""


def _rect(x: float, y: float, width: float, height: float, fill: Color) -> Rect:
    rect = Rect(x, y, width, height)
    rect.fillColor, rect.strokeColor, rect.strokeWidth = fill, LINE, 0.3
    return rect


class _Frame:
    def __init__(self, chart: Chart, highest: float, lowest: float = 0.0) -> None:
        self.drawing = Drawing(WIDTH, HEIGHT)
        span = (highest - min(lowest, 0.0)) or 1.0
        power = 10.0 ** floor(log10(span / MOST_TICKS))
        step = next(one * power for one in (1, 2, 5, 10) if span / (one * power) <= MOST_TICKS)
        self.low = floor(min(lowest, 0.0) / step) * step
        self.high = max(ceil(highest / step) * step, self.low + step)
        for index in range(round((self.high - self.low) / step) + 1):
            value = self.low + index * step
            y = self.y(value)
            self.drawing.add(Line(LEFT, y, WIDTH - RIGHT, y, strokeColor=LINE, strokeWidth=0.4))
            self.write(LEFT - 4, y - 2.4, f"{_short(value)} {chart.unit}".strip(), anchor="end")
        self.write(0, HEIGHT - 7, chart.y_label)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return BOTTOM + share * (HEIGHT - BOTTOM - TOP)

    def write(
        self, x: float, y: float, words: str, *, anchor: Anchor = "start", bold: bool = False,
        colour: Color = GREY,
    ) -> None:  # fmt: skip
        font = BOLD if bold else REGULAR
        self.drawing.add(
            String(x, y, words, fontName=font, fontSize=6.6, fillColor=colour, textAnchor=anchor)
        )

    def write_months(self, labels: Sequence[str | float], places: Sequence[float]) -> None:
        every = -(-len(labels) // MOST_MONTHS)
        for label, x in list(zip(labels, places, strict=True))[::every]:
            self.write(x, BOTTOM - 10, str(label), anchor="middle")


def _short(value: float) -> str:
    for limit, suffix in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{plain(round(value / limit, 2))}{suffix}"
    return plain(round(value, 2))


def draw_lines(chart: Chart) -> Drawing:
    """Lines named at their ends, with the chart's marks."""
    values = [value for one in chart.series for value in one.values if value is not None]
    frame = _Frame(chart, max(values, default=1.0), min(values, default=0.0))
    step = (WIDTH - LEFT - RIGHT) / max(len(chart.x) - 1, 1)
    places = [LEFT + step * i for i in range(len(chart.x))]
    frame.write_months(chart.x, places)
    ends: list[tuple[float, Series]] = []
    for one, dash in zip(chart.series, DASHES, strict=False):
        points = [(x, frame.y(y)) for x, y in zip(places, one.values, strict=True) if y is not None]
        flat = [coordinate for point in points for coordinate in point]
        width = 1.0 if dash else 1.8
        line = PolyLine(flat, strokeColor=INK, strokeWidth=width)
        if dash:
            line.strokeDashArray = dash
        frame.drawing.add(line)
        ends.append((points[-1][1], one))
    lowest = 0.0
    for y, one in sorted(ends, key=lambda end: end[0]):
        lowest = max(y - 2.4, lowest)
        frame.write(WIDTH - RIGHT + 5, lowest, one.name, bold=not one.dashed, colour=INK)
        lowest += LEAST_GAP
    for mark in chart.marks:
        x, y = places[list(chart.x).index(mark.x)], frame.y(mark.y)
        frame.drawing.add(Circle(x, y, 2.6, fillColor=INK, strokeColor=None))
        frame.write(x, y + 6, mark.label, anchor="middle", bold=True, colour=INK)
    return frame.drawing


def draw_bars(chart: Chart) -> Drawing:
    """Stacked bars by month in greys named at the side; dashed series are lines over them."""
    bars = [one for one in chart.series if not one.dashed]
    heights = [sum(one.values[i] or 0.0 for one in bars) for i in range(len(chart.x))]
    over = [value or 0.0 for one in chart.series if one.dashed for value in one.values]
    frame = _Frame(chart, max([*heights, *over], default=1.0))
    step = (WIDTH - LEFT - RIGHT) / max(len(chart.x), 1)
    places = [LEFT + step * i for i in range(len(chart.x))]
    bases = [0.0] * len(chart.x)
    for one, grey in zip(bars, GREYS, strict=False):
        for i, value in enumerate(one.values):
            low, high = frame.y(bases[i]), frame.y(bases[i] + (value or 0.0))
            frame.drawing.add(_rect(places[i], low, step * 0.84, high - low, grey))
            bases[i] += value or 0.0
    for one in (one for one in chart.series if one.dashed):
        flat = [c for x, y in zip(places, one.values, strict=True) if y is not None
                for c in (x, frame.y(y), x + step, frame.y(y))]  # fmt: skip
        frame.drawing.add(PolyLine(flat, strokeColor=INK, strokeWidth=1, strokeDashArray=(3, 2)))
    _name_greys(frame, bars, [one.name for one in chart.series if one.dashed])
    frame.write_months(chart.x, [x + step * 0.42 for x in places])
    return frame.drawing


def _name_greys(frame: _Frame, bars: Sequence[Series], lines: Sequence[str]) -> None:
    x, y = WIDTH - RIGHT + 8, HEIGHT - TOP - 12
    for one, grey in zip(bars, GREYS, strict=False):
        frame.drawing.add(_rect(x, y, 8, 8, grey))
        frame.write(x + 12, y + 1.4, one.name, colour=INK)
        y -= 13
    for name in lines:
        frame.drawing.add(Line(x, y + 4, x + 8, y + 4, strokeColor=INK, strokeDashArray=(3, 2)))
        frame.write(x + 12, y + 1.4, name, colour=INK)
        y -= 13


def draw_scenarios(rows: Sequence[ScenarioRow], currency: str) -> Drawing:
    """A line for each plan: its total as a mark, the range of 8 of 10 cases as a bar."""
    height, left, right = 15.0, 150.0, 150.0
    drawing = Drawing(WIDTH, height * len(rows))
    scale = (WIDTH - left - right) / 100
    for index, row in enumerate(rows):
        y = height * (len(rows) - index) - 10
        font = BOLD if row.is_best else REGULAR
        drawing.add(String(2, y, row.title, fontName=font, fontSize=7, fillColor=INK))
        x = WIDTH - right
        drawing.add(Line(left, y + 2.5, x, y + 2.5, strokeColor=LINE, strokeWidth=0.5))
        if row.span:
            start, at = left + row.span.left * scale, left + row.span.at * scale
            shade = GREYS[1] if row.is_best else GREYS[2]
            drawing.add(_rect(start, y - 0.5, row.span.width * scale, 6, shade))
            drawing.add(Line(at, y - 2.5, at, y + 7.5, strokeColor=INK, strokeWidth=1.4))
        words = money(row.scenario.total_cost, currency)
        if row.range and row.has_range:
            low, high = row.range.total_p10, row.range.total_p90
            words += f" ({money_short(low, '').strip()} – {money_short(high, currency)})"
        drawing.add(String(WIDTH - right + 6, y, words, fontName=font, fontSize=7, fillColor=INK))
    return drawing


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
    foot = f"{facts.title} · {name_day(facts.printed)} · amounts in {currency}"
    return print_pages(parts, facts.title, facts.author, foot)


def head(answer: Span, facts: PackFacts) -> Iterator[Flowable]:
    yield text(facts.title, TITLE)
    yield text(" · ".join(_about(answer, facts)), SMALL)
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
        yield text(title, HEADING)
        yield ListFlowable(
            [text(one) for one in sentences], bulletType="bullet", start="•", bulletFontSize=7,
            leftIndent=10,
        )  # fmt: skip


def picture(title: str, drawing: Drawing, summary: str = "") -> Iterator[Flowable]:
    parts = [text(title, HEADING), Spacer(1, 3), drawing]
    yield KeepTogether([*parts, text(summary, SMALL)] if summary else parts)


def more(count: int, shown: int, what: str) -> Iterator[Flowable]:
    if count > shown:
        yield text(f"{count - shown} more {what} are in the workbook.", SMALL)


def spending(
    by_category: Mapping[Category, Decimal], total: Decimal | None, currency: str
) -> Iterator[Flowable]:
    """What the total is made of, to the unit that the page shows."""
    rows = [
        (category_title(category).capitalize(), money(amount, currency))
        for category, amount in by_category.items()
    ]
    titles, last = ("What the total is made of", "Amount"), ("Total", money(total, currency))
    parts = [text("What the money is spent on", HEADING)]
    yield KeepTogether([*parts, table([titles, *rows, last], (0.7, 0.3), (1,))])


def what_is_paid_for(rows: Sequence[SourceRow], currency: str) -> Iterator[Flowable]:
    """Offers and servers with the day and the place of their prices."""
    if not rows:
        return
    titles = ("What", "Quantity", "Price of one", "Amount", "Price seen")
    paid = [_source(row, currency) for row in rows[:MOST_SOURCES]]
    shown = table([titles, *paid], (0.4, 0.18, 0.14, 0.15, 0.13), (1, 2, 3))
    yield KeepTogether([text("What is paid for", HEADING), shown])
    yield from more(len(rows), MOST_SOURCES, "lines")


def _price(amount: Decimal, currency: str) -> str:
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
        link(seen or "source", source) if source.startswith("http") else text(seen, SMALL),
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
    steps = [(one.state.capitalize(), one.by, name_day(one.at)) for one in facts.context.steps]
    rows = [("Step", "Name", "Date"), *(steps or EMPTY_STEPS)]
    if steps and facts.context.steps[-1].state != "approved":
        rows.append(("Approved by", "", ""))
    yield text("Approvals", HEADING)
    yield table(rows, (0.25, 0.45, 0.3))


MOST_PURCHASES, MOST_ASSUMPTIONS = 12, 14


def board_pack(page: AnswerPage, facts: PackFacts) -> bytes:
    register_fonts()
    parts = [*_first_page(page, facts), *_plan(page), *_rests_on(page, facts)]
    return print_pack(parts, facts, page.currency)


def _first_page(page: AnswerPage, facts: PackFacts) -> Iterator[Flowable]:
    yield from head(page.answer, facts)
    if page.verdict is None or not page.verdict.decision:
        yield text(page.headline, STRONG)
        yield text(page.money_sentence)
        return
    for shown in page.decision:
        sentence = shown.part.sentence
        yield text(f"{sentence[:1].upper()}{sentence[1:]}", STRONG)
        rented = f" · {worked(shown.machine_hours, 'machine')}" if shown.machine_hours else ""
        seen = f" · {shown.price_day}" if shown.price_day else ""
        yield text(f"{money(shown.amount, page.currency)} in all{rented}{seen}", SMALL)
    if page.beside_parts:
        amount, kinds = page.beside_parts
        yield text(f"{money(amount, page.currency)} on top of these: {kinds}", SMALL)
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
    if page.purchases:
        yield text("What to buy or sign, and when", HEADING)
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
    start, monthly = row.purchase.due_at_start, row.purchase.due_per_month
    if start and row.fittings:
        start += row.fittings
    parts = [money(start, currency)] if start else []
    return " and ".join([*parts, *([f"{money(monthly, currency)} a month"] if monthly else [])])


def _rests_on(page: AnswerPage, facts: PackFacts) -> Iterator[Flowable]:
    yield text("What it rests on", HEADING)
    yield text(page.demand.method)
    if page.assumed:
        yield text(f"Assumed: {page.assumed}.")
    assumed = assumptions(_chosen(page), len(page.assumptions))
    yield from close_pack(assumed, page.warnings, facts)


def _chosen(page: AnswerPage) -> list[AssumptionRow]:
    strongest = sorted(page.answer.sensitivity, key=lambda row: -row.effect)
    order = {row.field: index for index, row in enumerate(strongest) if row.effect}
    chosen = [row for row in page.assumptions if row.given]
    others = [row for row in page.assumptions if not row.given and row.path in order]
    others.sort(key=lambda row: order[row.path])
    return [*chosen, *others][:MOST_ASSUMPTIONS]
