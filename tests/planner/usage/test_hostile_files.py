"""Files that are damaged, hostile or something else: a clear refusal and bounded memory."""

import gzip
import io
import tracemalloc
import zipfile
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.usage import sources
from planner.usage.formats import ReadOptions
from planner.usage.ledger import Ledger
from planner.usage.reading import read_file
from planner.usage.sources import Allowance
from pricing.common.invalid_input import InvalidInput
from tests.golden.kept import assert_kept
from tests.planner.usage.make import cur_row, focus_row, hours_by, read, sacct, table

BILL = table([focus_row(x_UsageType="BoxUsage:p5.48xlarge", SubAccountName="München")])


def zipped(name="bill.csv", content=BILL, **more):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
        for other, text in more.items():
            archive.writestr(other, text)
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(BILL),
        zipped(),
        b"\xef\xbb\xbf" + BILL,
        BILL.decode().encode("utf-16"),
        BILL.decode().encode("cp1252"),
        BILL.replace(b"\r\n", b"\n"),
    ],
)
def test_the_same_bill_however_it_is_packed(content):
    assert hours_by(read(content).ledger, "machine") == {"p5.48xlarge": 8.0}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (BILL.splitlines(True)[0], "holds a header and no rows"),
        (b"PAR1....PAR1", "is damaged Parquet"),
        (b"BZh91AY", "bzip2"),
        (b"\x28\xb5\x2f\xfd1234", "Zstandard"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Excel workbook"),
        (b"%PDF-1.7", "is a PDF"),
        (
            b"<?xml version='1.0'?><nvidia_smi_log/>",
            "one moment of a monitor, .* log with nvidia-smi",
        ),
        (b"# HELP DCGM_FI_DEV_GPU_UTIL x\n", "is one moment of a monitor"),
        (b"# TYPE DCGM_FI_DEV_GPU_UTIL x\n", "query a range of Prometheus"),
        (b"<html>", "is XML or HTML"),
        (b"GPU 0: H100\n", "which states no hours"),
        (b"timestamp, name\n", "-l 60"),
        (b'{"accounts": []}', "hours are in sacct"),
        (b'{"a": 1}', "is none of the forms"),
        (b"User|Account|State|Elapsed\na|b|COMPLETED|60\n", "belongs to no form that is read"),
        (b"[[1]]", "is none of the forms"),
        (b"name, memory.used [MiB]\n", "=timestamp,index,name"),
        (gzip.compress(gzip.compress(BILL)), "is compressed twice"),
        (gzip.compress(BILL)[:-12], "is damaged"),
        (b"PK\x03\x04 nothing", "damaged zip archive"),
        (zipped(name="a.txt", content="x", other="y"), "a.txt, header: x belongs to no form"),
        (zipped(other=b"0" * 30_000_000), "as those of no bill do"),
        (zipped(**{f"f{n}": "x" for n in range(200)}), "is a zip archive of 201 files"),
        (BILL.replace(b"Usage", b"Us\x81age", 1), "is not UTF-8 text"),
        (BILL[:-2] + b"\0\r\n", "holds a NUL"),
        (b"month,cost\n2025-05,5,60\n", "has 3 cells under 2 columns"),
        (b'month,cost\n2025-05,"5\n', "is not CSV"),
        (",".join(f"c{n}" for n in range(100_000)).encode(), "100,000 columns; at most 2,000"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(content, problem):
    with pytest.raises(InvalidInput, match=problem) as refusal:
        read(content)
    own_words = str(refusal.value).split(": ")[:2]  # those of a library follow
    assert_kept("kept_refusals.json", f"usage file, {problem}", own_words)


def peak_mb(content):
    """Megabytes that reading takes at most, and the refusal."""
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput) as refusal:
            read_file(io.BytesIO(content), "x", Ledger(), ReadOptions())
        return tracemalloc.get_traced_memory()[1] / 1e6, str(refusal.value)
    finally:
        tracemalloc.stop()


def test_a_bomb_is_refused_in_little_memory():
    bomb = gzip.compress(b"month,cost\n" + b"0" * 60_000_000, 9)
    megabytes, problem = peak_mb(bomb)
    assert "is longer than 1,000,000 characters" in problem
    assert megabytes < 20


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: zipped(content=content)])
@pytest.mark.parametrize("line", [BILL.splitlines(True)[1], b"\n"])
def test_a_bomb_is_refused_by_what_its_bytes_unpack_to(pack, line, monkeypatch):
    monkeypatch.setattr(sources, "RATIO_BYTES", 50_000)
    monkeypatch.setattr(sources, "MAX_RATIO", 20)
    content = pack(BILL + line * (1_000_000 // len(line)))
    rows = Ledger()
    with pytest.raises(InvalidInput, match=r"unpack to [\d,]+ or more, as those of no bill do"):
        read_file(io.BytesIO(content), "x", rows, ReadOptions())
    assert rows.rows < 3_000


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_no_more_rows_are_read_than_a_door_allows(pack):
    rows = pack(table([{"month": "2025-05", "accelerator_hours": 1}] * 10))
    assert read(rows, max_rows=11).ledger.rows == 10
    with pytest.raises(InvalidInput, match="has more than 10 rows; read it in parts"):
        read(rows, max_rows=10)


def months(name, count):
    rows = [
        {"month": "2025-05", "accelerator_hours": 1, "project": f"{name}{n}"} for n in range(count)
    ]
    return table(rows)


def workbook(content):
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    for line in content.decode().splitlines():
        book.active.append(line.split(","))
    book.save(out)
    return out.getvalue()


def parquet(content):
    from pyarrow import csv, parquet

    out = io.BytesIO()
    parquet.write_table(csv.read_csv(io.BytesIO(content)), out)
    return out.getvalue()


ROWS = 300
"""Of each file: enough for a workbook or a Parquet file to unpack to more than it begins with."""
FORMS = [bytes, gzip.compress, lambda content: zipped("bill.csv", content), workbook, parquet]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("pack", FORMS)
def test_what_a_door_allows_is_that_of_all_files_together(pack):
    files = [pack(months(name, ROWS)) for name in "abc"]
    one = Allowance(10**9, 10**9)
    read_file(io.BytesIO(files[0]), "one", Ledger(), ReadOptions(), one)
    assert one.taken_rows in (ROWS, ROWS + 1)
    assert one.taken_bytes > 4 * ROWS
    rows, size = 3 * one.taken_rows, 3 * one.taken_bytes
    assert read(*files, max_rows=rows, max_bytes=size + 100_000).ledger.rows == 3 * ROWS
    problem = f"file 3: has more than {rows - 1:,} rows together with the files before it; "
    with pytest.raises(InvalidInput, match=problem):
        read(*files, max_rows=rows - 1)
    with pytest.raises(InvalidInput, match=r"^file 3: (unpacks to more than|has [\d,]+ bytes)"):
        read(*files, max_bytes=size - 1)


def test_a_deep_document_is_refused():
    with pytest.raises(InvalidInput, match="nested deeper"):
        read(b'{"resultType": ' + b"[" * 100_000)


FILES = (BILL, table([cur_row(1), cur_row(2)]), sacct({}, {"JobID": "2"}), zipped())


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FILES), st.data())
def test_any_damage_is_refused_or_accounted(content, data):
    place = data.draw(st.integers(0, len(content) - 1))
    broken = bytearray(content)
    broken[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    with suppress(InvalidInput):
        usage = read(bytes(broken))
        assert usage.ledger.rows == sum(usage.ledger.reasons.values())


SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
FIRST, SHARED = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
NAMED = (
    f'<Override PartName="/{SHARED}" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sharedStrings+xml"/></Types>'
)


def rebuilt(parts):
    """A workbook of a month, of which some parts are others."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(b"month,cost\n2025-05,1\n"))) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in before.namelist():
            content = before.read(name).decode()
            if SHARED in parts and name == "[Content_Types].xml":
                content = content.replace("</Types>", NAMED)
            archive.writestr(name, parts.get(name, content))
        if SHARED in parts and SHARED not in before.namelist():
            archive.writestr(SHARED, parts[SHARED])
    return out.getvalue()


def sheet(rows):
    return f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>'


@pytest.mark.parametrize(
    ("part", "content", "problem"),
    [
        (FIRST, sheet('<row r="1"><c r="A1"/></row><row r="9000"><c r="XFD9000"/></row>'), "many"),
        (FIRST, sheet(f"<row>{'<c><v>1</v></c>' * 3_000}</row>{'<row></row>' * 5_000}"), "many"),
        (FIRST, sheet('<row><c t="e"><v>#REF!</v></c></row>'), "or with errors"),
        (FIRST, sheet("<row><c><f>1+1</f><v></v></c></row>"), "formulas whose values"),
        (FIRST, "<a>" * 1_000, "first sheet is empty"),
        ("xl/workbook.xml", f'<workbook xmlns="{SHEET}"></workbook>', "is a damaged workbook"),
    ],
)
def test_a_workbook_that_cannot_be_held_or_read_says_so(part, content, problem):
    megabytes, refusal = peak_mb(rebuilt({part: content}))
    assert problem in refusal
    assert megabytes < 30
