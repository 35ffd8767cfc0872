"""Paper, fonts and styles of the board pack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

import reportlab
from django.conf import settings
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table, TableStyle

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
    """Words as they are: nothing in them is markup."""
    return Paragraph(escape(str(words)), style)


def link(words: str, address: str) -> Paragraph:
    """A source: a link where it has an address."""
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
