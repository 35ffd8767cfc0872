"""Workbooks whose parts are not what they seem: refused, in little memory and time."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.usage import worksheets
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import hours_by, read
from tests.planner.usage.test_hostile_files import months, peak_mb, workbook

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


SHARED = "xl/sharedStrings.xml"
NAMED = (
    f'<Override PartName="/{SHARED}" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sharedStrings+xml"/></Types>'
)


def rebuilt(parts, rows=b"month,cost\n2025-05,1\n"):
    """A workbook of these rows, of which some parts are others."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(rows))) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in before.namelist():
            content = before.read(name).decode()
            if SHARED in parts and name == "[Content_Types].xml":
                content = content.replace("</Types>", NAMED)
            archive.writestr(name, parts.get(name, content))
        if SHARED in parts:
            archive.writestr(SHARED, parts[SHARED])
    return out.getvalue()


def tree(root, inner):
    return f'<{root} xmlns="{SHEET}">{inner}</{root}>'


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("part", "content", "problem"),
    [
        ("xl/styles.xml", tree("styleSheet", "<a/>" * 600_000), "of styles and the like"),
        (
            "xl/worksheets/sheet1.xml",
            tree("worksheet", "<arow></arow>" * 250_000),
            "a row of too many cells",
        ),
        (
            "xl/worksheets/sheet1.xml",
            tree("worksheet", f"<sheetData><row>{'<arow></arow>' * 250_000}</row></sheetData>"),
            "a row of too many cells",
        ),
        (
            "xl/worksheets/sheet1.xml",
            tree("worksheet", f"<sheetData><row><c><v>{'1' * 2_000_000}</v></c></row></sheetData>"),
            "a text of more than 1,000,000 bytes",
        ),
        ("xl/styles.xml", "<a>" * 1000, "is a damaged workbook"),
        ("xl/workbook.xml", tree("workbook", ""), "is a damaged workbook"),
    ],
)
def test_a_workbook_is_held_in_little_memory_whatever_its_parts_are(part, content, problem):
    megabytes, refusal = peak_mb(rebuilt({part: content}))
    assert problem in refusal
    assert megabytes < 30


@pytest.mark.parametrize(
    ("limit", "parts", "problem"),
    [
        ("MAX_ELEMENTS", {}, "with too many cells"),
        ("MAX_TEXTS", {SHARED: tree("sst", "<si/>" * 200)}, "with more than 100 different texts"),
    ],
)
def test_too_many_cells_or_shared_texts_are_refused(monkeypatch, limit, parts, problem):
    book = rebuilt(parts, months("a", 300))
    monkeypatch.setattr(worksheets, limit, 100)
    with pytest.raises(InvalidInput, match=problem):
        read(book)


def test_texts_that_cells_share_are_read_as_they_are_shown():
    texts = (
        "<si><t>month</t></si>"
        "<si><r><t>accelerator</t></r><r><t>_hours</t></r><rPh><t>spoken</t></rPh></si>"
        "<si><t>2025-05</t></si>"
    )
    rows = (
        '<row r="1"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>'
        '<row r="4"><c t="s"><v>2</v></c><c><v>12.5</v></c></row>'
    )
    sheet = tree("worksheet", f"<sheetData>{rows}</sheetData>")
    book = rebuilt({SHARED: tree("sst", texts), "xl/worksheets/sheet1.xml": sheet})
    assert hours_by(read(book).ledger, "month") == {"2025-05": 12.5}


BOOK = workbook(months("a", 3))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_any_damage_of_a_workbook_is_refused_or_read(data):
    content = bytearray(BOOK)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    with suppress(InvalidInput):
        read(bytes(content))
