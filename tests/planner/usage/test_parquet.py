"""Parquet holds the rows of the CSV of the same export."""

from __future__ import annotations

import io
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from planner.usage import tables
from pricing.common.invalid_input import InvalidInput
from tests.planner.usage.make import hours_by, read

ROWS = [
    {"month": "2025-05", "accelerator_hours": 100.0, "cost": Decimal("250.50"), "currency": "EUR",
     "accelerator": "H100", "project": "chat"},
    {"month": "2025-06", "accelerator_hours": 50.0, "cost": None, "currency": "EUR",
     "accelerator": "H100", "project": "chat"},
]  # fmt: skip


def written(rows, **options):
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, **options)
    return out.getvalue()


@pytest.mark.parametrize("compression", ["snappy", "gzip", "none"])
def test_its_rows_are_read_as_those_of_a_table(compression):
    usage = read(written(ROWS, compression=compression))
    first, second = usage.lines("month")
    assert (first.accelerator_hours, first.billed["EUR"]) == (100.0, Decimal("250.50"))
    assert (second.accelerator_hours, second.billed["EUR"]) == (50.0, None)


def test_a_bill_of_many_batches_adds_up(monkeypatch):
    monkeypatch.setattr(tables, "BATCH_ROWS", 3)
    rows = [ROWS[0] | {"project": f"p{number % 4}"} for number in range(10)]
    assert hours_by(read(written(rows, row_group_size=4)).ledger, "project") == {
        "p0": 300.0, "p1": 300.0, "p2": 200.0, "p3": 200.0,
    }  # fmt: skip


@pytest.mark.parametrize("cut", [8, 40, -3])
def test_a_damaged_file_is_refused(cut):
    with pytest.raises(InvalidInput, match="damaged Parquet"):
        read(written(ROWS)[:cut])


@pytest.mark.parametrize(
    ("name", "most", "problem"),
    [
        ("MAX_METADATA", 100, "describes itself in"),
        ("MAX_COLUMNS", 5, "has 6 columns; allowed are 5"),
        ("MAX_BATCH_TEXT", 10, "has 2 rows with texts of 36 bytes; allowed are 10"),
    ],
)
def test_more_than_may_be_held_is_refused(name, most, problem, monkeypatch):
    monkeypatch.setattr(tables, name, most)
    with pytest.raises(InvalidInput, match=problem):
        read(written(ROWS))


def test_a_small_file_that_unpacks_to_a_large_one_is_refused():
    content = written([ROWS[0] | {"project": "9" * 20_000_000}], compression="zstd")
    assert len(content) < 20_000
    with pytest.raises(InvalidInput, match="as those of no bill do"):
        read(content)


def repeated(text, rows):
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


def nested(text, rows):
    places = pa.array(range(rows + 1), pa.int32())
    return pa.MapArray.from_arrays(places, repeated("team", rows), repeated(text, rows))


def packed(**columns):
    """A file of some thousand bytes whose rows would hold gigabytes."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd", write_statistics=False)
    assert len(out.getvalue()) < 10_000
    return out.getvalue()


def test_long_texts_are_not_written_out_for_each_row():
    rows = tables.BATCH_ROWS
    for column in (nested, repeated):
        content = packed(month=repeated("2025-05", rows), tags=column("x" * 2_000_000, rows))
        with pytest.raises(InvalidInput, match=r"has 500 rows with texts of 1,000,[\d,]+ bytes"):
            read(content)
