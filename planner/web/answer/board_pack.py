"""Paper, fonts and styles of the board pack."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring
from xml.sax.saxutils import escape

import reportlab
from django.conf import settings
from django.contrib.staticfiles import finders
from reportlab import platypus
from reportlab.graphics.shapes import Circle, Drawing, Line, PolyLine, Rect, Shape, String
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from planner.contract.amounts import name_day, name_month
from planner.contract.answer.common import Category
from planner.contract.answer.comparison import PlanRecord
from planner.contract.labels import NO_RANGE_HERE, category_title
from planner.exports.csv_export import Context
from planner.web.answer.answer_page import AnswerPage
from planner.web.answer.tables import PurchaseRow
from planner.web.common.chart import Chart
from planner.web.common.chart_svg import DRAW, join, series_class
from planner.web.common.formatting import money, number, worked
from pricing.common.words import capitalize_first, pluralize

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


def text(words: object, style: ParagraphStyle = BODY) -> platypus.Paragraph:
    return platypus.Paragraph(escape(str(words)), style)


def link(words: str, address: str) -> platypus.Paragraph:
    if not address.startswith(("http://", "https://")):
        return text(words, SMALL)
    return platypus.Paragraph(f'<a href="{escape(address, {chr(34): "&quot;"})}" color="#0b5cab">'
                     f"{escape(words)}</a>", SMALL)  # fmt: skip


def table(rows: Sequence[Sequence[object]], widths: Sequence[float], numbers: Sequence[int] = (),
          *, header: bool = True) -> platypus.Table:  # fmt: skip
    """Rows with a line below each; columns of `numbers` are flush right. Widths are shares."""

    def style_of(index: int, column: int) -> ParagraphStyle:
        if header and index == 0:
            return _style(7, bold=True, right=column in numbers)
        return NUMBER if column in numbers else BODY

    cells = [
        [text(one, style_of(index, column)) for column, one in enumerate(row)]
        for index, row in enumerate(rows)
    ]
    lines = platypus.TableStyle([
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 1.6),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1.8),
        ("LEFTPADDING", (0, 0), (-1, -1), 2),
        ("RIGHTPADDING", (0, 0), (-1, -1), 2),
    ])  # fmt: skip
    if header:
        lines.add("BACKGROUND", (0, 0), (-1, 0), SHADE)
    columns = [WIDTH * share for share in widths]
    return platypus.Table(cells, columns, style=lines, repeatRows=int(header), hAlign="LEFT")


def print_pack(parts: list[platypus.Flowable], facts: PackFacts, currency: str) -> bytes:
    """The parts on paper, each page with its number and what it is of."""
    foot = f"{facts.title} · {name_day(facts.printed)} · amounts in {currency}"

    def stamp(canvas: Canvas, document: platypus.SimpleDocTemplate) -> None:
        canvas.saveState()
        canvas.setFont(REGULAR, 7)
        canvas.setFillColor(GREY)
        canvas.drawString(MARGIN, 9 * mm, foot[:130])
        canvas.drawRightString(A4[0] - MARGIN, 9 * mm, f"page {document.page}")
        canvas.restoreState()

    paper = BytesIO()
    document = platypus.SimpleDocTemplate(
        paper, pagesize=A4, leftMargin=MARGIN, rightMargin=MARGIN, topMargin=14 * mm,
        bottomMargin=16 * mm, title=facts.title, author=facts.author, invariant=1, lang="en",
    )  # fmt: skip
    document.build(parts, onFirstPage=stamp, onLaterPages=stamp)
    return paper.getvalue()


POINTS = 0.62
"""Points of paper to a pixel of the page."""
LETTERS = 6.6


def draw(chart: Chart) -> Drawing:
    """The chart as the page draws it, shape by shape, with the names of its series below."""
    content, height = DRAW[chart.kind](chart)
    rows = _legend_rows(chart)
    drawing = Drawing(WIDTH, height * POINTS + 11 * (len(rows) + 1))
    top = drawing.height
    for shape in fromstring(f"<svg>{join(content)}</svg>"):  # noqa: S314 - drawn here
        for one in _shapes(shape, top):
            drawing.add(one)
    for at, row in enumerate(rows, 1):
        y, x = 11.0 * (len(rows) - at + 1), 0.0
        for name, colour in row:
            drawing.add(Rect(x, y, 6, 6, **_filled(colour)))
            drawing.add(_letters(name, x + 9, y))
            x += _wide(name)
    drawing.add(_letters(capitalize_first(chart.y_label), 0, 1))
    return drawing


def _legend_rows(chart: Chart) -> list[list[tuple[str, Color]]]:
    rows: list[list[tuple[str, Color]]] = []
    for i, one in enumerate(chart.series if len(chart.series) > 1 else ()):
        if not rows or sum(_wide(name) for name, _ in rows[-1]) + _wide(one.name) > WIDTH:
            rows.append([])
        rows[-1].append((one.name, _colour(series_class(one, i))))
    return rows


def _wide(name: str) -> float:
    return pdfmetrics.stringWidth(name, REGULAR, LETTERS) + 20.0


def _filled(colour: Color) -> Any:
    return {"fillColor": colour, "strokeColor": None}


def _letters(words: str, x: float, y: float, anchor: Any = "start", colour: Color = GREY) -> String:
    return String(
        x, y, words, fontName=REGULAR, fontSize=LETTERS, fillColor=colour, textAnchor=anchor
    )


@cache
def _colours() -> Mapping[str, str]:
    """Class of a series → its colour on a light page, as the style sheet of charts has it."""
    sheet = Path(finders.find("charts.css") or "").read_text()
    return dict(re.findall(r"^\.([\w-]+) \{ --series: (#\w{6}); \}", sheet, re.MULTILINE))


def _colour(classes: str) -> Color:
    *_, by_place, by_role = [""] + [one for one in classes.split() if "-" in one]
    return HexColor(_colours().get(by_role) or _colours()[by_place])


def _length(shape: Element, name: str) -> float:
    written = shape.get(name, "0")
    if written.endswith("%"):
        return float(written[:-1]) / 100 * WIDTH
    return float(written) * POINTS


def _shapes(shape: Element, top: float) -> Iterator[Shape]:
    """What a shape of the page is on paper."""

    def at(*names: str) -> list[float]:
        return [_length(shape, name) for name in names]

    classes = shape.get("class", "")
    match shape.tag:
        case "line":
            x, to, y, until = at("x1", "x2", "y1", "y2")
            yield Line(x, top - y, to, top - until, strokeColor=LINE, strokeWidth=0.5)
        case "text":
            x, y = at("x", "y")
            anchor, colour = shape.get("text-anchor", "start"), INK if classes else GREY
            yield _letters(shape.text or "", x, top - y, anchor, colour)
        case "rect" if classes.startswith("series"):
            x, y, width, height = at("x", "y", "width", "height")
            yield Rect(x, top - y - height, width, height, **_filled(_colour(classes)))
        case "circle":
            x, y = at("cx", "cy")
            yield Circle(x, top - y, 2.2, **_filled(INK if classes == "mark" else _colour(classes)))
        case "svg":
            x, y, width, height = at("x", "y", "width", "height")
            for line in shape:
                yield _path(line, x, top - y, width, height)


def _path(line: Element, x: float, top: float, width: float, height: float) -> Shape:
    """A line in an inner drawing of 1,000 by 1,000, whose left upper corner is given."""
    classes, points = line.get("class", ""), line.get("points", "").split()
    places = (map(float, point.split(",")) for point in points)
    at = [(x + across / 1000 * width, top - down / 1000 * height) for across, down in places]
    dashes: Any = (4, 3) if "dashed" in classes else None
    return PolyLine(
        [one for place in at for one in place],
        strokeColor=_colour(classes.replace(" dashed", "")),
        strokeWidth=1.6 if "role-advised" in classes else 1.1,
        strokeDashArray=dashes,
    )


EMPTY_STEPS = (("Submitted by", "", ""), ("Approved by", "", ""))


@dataclass(frozen=True)
class PackFacts:
    printed: dt.date
    author: str = ""
    address: str = ""
    """Absolute, of the answer's page."""
    context: Context = field(default_factory=Context)
    is_named: bool = True
    """Whether the title is a person's; ours says the months already."""

    @property
    def title(self) -> str:
        return self.context.name or "What the accelerators should cost"


def head(answer: PlanRecord[Any], facts: PackFacts) -> Iterator[platypus.Flowable]:
    context, step = facts.context, facts.context.approval_status
    span = f"{pluralize(answer.horizon_months, 'month')} from {name_month(answer.start)}"
    about = (
        context.team,
        context.project,
        span if facts.is_named else "",
        f"amounts in {answer.currency}",
        f"{step.state} {_done(step.at, step.by)}" if step else "",
        f"printed {_done(facts.printed, facts.author)}",
    )
    yield text(facts.title, TITLE)
    yield text(capitalize_first(" · ".join(filter(None, about))), SMALL)
    yield platypus.Spacer(1, 8)


def _done(day: dt.date, by: str) -> str:
    return f"{name_day(day)} by {by}" if by else name_day(day)


def bullets(title: str, sentences: Sequence[str]) -> Iterator[platypus.Flowable]:
    if sentences:
        yield text(title, HEADING)
        yield platypus.ListFlowable(
            [text(one) for one in sentences], bulletType="bullet", start="•", bulletFontSize=7,
            leftIndent=10,
        )  # fmt: skip


def picture(chart: Chart) -> platypus.Flowable:
    parts = [
        text(chart.title, HEADING),
        platypus.Spacer(1, 3),
        draw(chart),
        text(chart.summary, SMALL),
    ]
    return platypus.KeepTogether(parts)


def spending(
    by_category: Mapping[Category, Decimal], total: Decimal | None, currency: str
) -> Iterator[platypus.Flowable]:
    rows = [
        (category_title(category).capitalize(), money(amount, currency))
        for category, amount in by_category.items()
    ]
    titles, last = ("What the total is made of", "Amount"), ("Total", money(total, currency))
    parts = [text("What the money is spent on", HEADING)]
    yield platypus.KeepTogether([*parts, table([titles, *rows, last], (0.7, 0.3), (1,))])


def close_pack(warnings: Sequence[str], facts: PackFacts) -> Iterator[platypus.Flowable]:
    """Warnings and approvals, which would otherwise stand on a page of their own."""
    steps = [(one.state.capitalize(), one.by, name_day(one.at)) for one in facts.context.steps]
    rows = [("Step", "Name", "Date"), *(steps or EMPTY_STEPS)]
    if steps and facts.context.steps[-1].state != "approved":
        rows.append(("Approved by", "", ""))
    address = facts.address
    whole = [link(f"The whole answer, with every source: {address}", address)] if address else []
    yield platypus.KeepTogether(
        [
            *bullets("To be aware of", warnings),
            *([platypus.Spacer(1, 4), *whole] if whole else []),
            text("Approvals", HEADING),
            table(rows, (0.25, 0.45, 0.3)),
        ]
    )


MOST_PURCHASES = 12


def board_pack(page: AnswerPage, facts: PackFacts) -> bytes:
    register_fonts()
    rests_on = [text("What it rests on", HEADING), text(page.answer.demand.method)]
    if page.assumed:
        rests_on.append(text(f"Assumed: {page.assumed}."))
    closing = close_pack(page.warnings, facts)
    parts = [*_first_page(page, facts), *_plan(page), *rests_on, *closing]
    return print_pack(parts, facts, page.currency)


def _first_page(page: AnswerPage, facts: PackFacts) -> Iterator[platypus.Flowable]:
    yield from head(page.answer, facts)
    if page.verdict is None or not page.verdict.decision:
        yield text(page.headline, STRONG)
        yield text(page.money_sentence)
        return
    for shown in page.decision:
        yield text(capitalize_first(shown.part.sentence), STRONG)
        rented = f" · {worked(shown.machine_hours, 'machine')}" if shown.machine_hours else ""
        seen = f" · {shown.price_day}" if shown.price_day else ""
        yield text(f"{money(shown.amount, page.currency)} in all{rented}{seen}", SMALL)
    if page.beside_parts:
        amount, kinds = page.beside_parts
        yield text(f"{money(amount, page.currency)} on top of these: {kinds}", SMALL)
    yield platypus.Spacer(1, 4)
    yield text(page.money_sentence)
    yield from map(text, page.verdict.ask_first)
    yield platypus.Spacer(1, 5)
    figures = [(title, f"{value} {unit}") for title, value, unit in page.figure_rows]
    yield table(figures, (0.4, 0.6), header=False)
    yield from bullets("Why", page.reasons)
    yield from bullets("What would change it", page.verdict.turns)
    risk = page.answer.risk
    holds = risk is None or risk.holds
    which = "In 8 of 10 cases" if holds else f"Of published runs, which {NO_RANGE_HERE}"
    yield text("What each way costs", HEADING)
    ways = []
    for row in (row for row in page.possible if row.scenario.allowed):
        spread, ends = "", row.range
        if ends and row.has_range:
            spread = f"{number(ends.total_p10)} – {money(ends.total_p90, page.currency)}"
        ways.append((row.title, money(row.scenario.total_cost, page.currency), spread))
    yield table([("Scenario", "Total", which), *ways], (0.4, 0.25, 0.35), (1, 2))
    if page.first_chart:
        yield picture(page.first_chart)


def _plan(page: AnswerPage) -> Iterator[platypus.Flowable]:
    if page.purchases:
        yield text("What to buy or sign, and when", HEADING)
        rows = [
            (row.month, f"{row.units}: {row.purchase.label}, {row.how}",
             row.service + (f", without work in {row.idle}" if row.idle else ""),
             _invoices(row, page.currency))
            for row in page.purchases[:MOST_PURCHASES]
        ]  # fmt: skip
        head = ("When", "What", "In service", "Invoices")
        yield table([head, *rows], (0.15, 0.43, 0.24, 0.18), (3,))
        left_out = len(page.purchases) - MOST_PURCHASES
        if left_out > 0:
            yield text(f"{left_out} more purchases are in the workbook.", SMALL)
    if page.shown:
        yield from spending(page.shown.cost_by_category, page.shown.total_cost, page.currency)
    for chart in page.time_charts[:1]:
        yield picture(chart)


def _invoices(row: PurchaseRow, currency: str) -> str:
    start, monthly = row.purchase.due_at_start, row.purchase.due_per_month
    parts = (
        money(start + row.fittings, currency) if start else "",
        f"{money(monthly, currency)} a month" if monthly else "",
    )
    return " and ".join(filter(None, parts))
