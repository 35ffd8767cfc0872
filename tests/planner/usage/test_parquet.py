"""Parquet holds the rows of the CSV of the same export."""

from __future__ import annotations

import datetime as dt
import io
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from planner.usage import parquet
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
    monkeypatch.setattr(parquet, "BATCH_ROWS", 3)
    rows = [ROWS[0] | {"project": f"p{number % 4}"} for number in range(10)]
    assert hours_by(read(written(rows, row_group_size=4)).ledger, "project") == {
        "p0": 300.0, "p1": 300.0, "p2": 200.0, "p3": 200.0,
    }  # fmt: skip


def test_times_maps_and_lists_become_text():
    day = dt.datetime(2025, 5, 1, tzinfo=dt.UTC)
    assert parquet._text(day) == "2025-05-01T00:00:00+00:00"
    assert parquet._text([("team", "a"), ("env", None)]) == '{"team": "a", "env": null}'
    assert parquet._text([1, 2]) == "[1, 2]"
    assert parquet._text({"a": 1}) == '{"a": 1}'
    assert parquet._text(None) == ""


@pytest.mark.parametrize("cut", [8, 40, -3])
def test_a_damaged_file_is_refused(cut):
    with pytest.raises(InvalidInput, match="damaged Parquet"):
        read(written(ROWS)[:cut])


def test_every_broken_byte_gives_rows_or_a_refusal():
    whole = written(ROWS)
    for at in range(0, len(whole), max(1, len(whole) // 60)):
        broken = bytearray(whole)
        broken[at] ^= 0xFF
        try:
            read(bytes(broken))
        except InvalidInput:
            continue


def test_a_group_of_rows_larger_than_it_may_be_is_refused(monkeypatch):
    monkeypatch.setattr(parquet, "MAX_ROW_GROUP", 10)
    with pytest.raises(InvalidInput, match="a group of rows of more than 10 bytes"):
        read(written(ROWS))


def test_without_its_library_it_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInput, match="needs the extra `parquet`"):
        read(written(ROWS))
