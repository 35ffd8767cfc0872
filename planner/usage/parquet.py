"""A Parquet file as rows of text, read in batches. PURE."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from planner.usage.sources import Source, check_ratio
from planner.usage.text_lines import Allowance
from pricing.common.invalid_input import InvalidInput

BATCH_ROWS = 2_000
MAX_COLUMNS = 2_000
MAX_ROW_GROUP = 512_000_000
"""Most bytes that a group of rows may unpack to."""
MAX_METADATA = 8_000_000
"""Most bytes of the file's own description, which is held as a whole."""
MAX_BATCH_TEXT = 50_000_000
"""Most bytes of the texts of a batch: one that stands once in a file may be that of every row."""
_PAGE_BYTES = 65_536
"""Bytes that are read at once."""


def parquet_rows(source: Source) -> Iterator[list[str]]:
    """The names of the columns, then every row; values that hold others are JSON."""
    try:
        from pyarrow import ArrowException
    except ModuleNotFoundError:
        problem = "is Parquet, which needs the extra `parquet`; export it as CSV"
        raise InvalidInput("file", problem) from None
    assert source.parquet is not None
    try:
        file, batch_rows = _open(source.parquet, source.allowance)
        yield file.schema_arrow.names
        for batch in file.iter_batches(batch_rows):
            columns = [column.to_pylist() for column in _checked(batch.columns)]
            yield from ([_text(value) for value in row] for row in zip(*columns, strict=True))
    except InvalidInput:
        raise
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        first = str(error).partition("\n")[0][:200]
        raise InvalidInput("file", f"is damaged Parquet: {first}; export it as CSV") from None


def _open(stream: BinaryIO, allowance: Allowance) -> tuple[Any, int]:
    """The file, and how many of its rows may be held at once.

    A text that stands once in the dictionary of a column may be that of every row. Those of plain
    columns are measured there, and as many rows are read at once as may all have the longest;
    columns within others are left in their dictionaries.
    """
    from pyarrow.parquet import ParquetFile

    limits: dict[str, Any] = {
        "thrift_string_size_limit": MAX_METADATA,
        "thrift_container_size_limit": MAX_METADATA,
        "buffer_size": _PAGE_BYTES,
    }
    size = _check_metadata(stream)
    metadata = ParquetFile(stream, **limits).metadata
    _check_size(metadata, size, allowance)
    columns = (metadata.schema.column(index) for index in range(metadata.num_columns))
    texts = [
        column.path
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL"
    ]
    plain = [path for path in texts if "." not in path]
    longest = _longest_texts(ParquetFile(stream, read_dictionary=plain, **limits), plain)
    if longest > MAX_BATCH_TEXT:
        problem = f"has texts of {longest:,} bytes in a row; allowed are {MAX_BATCH_TEXT:,}"
        raise InvalidInput("file", problem)
    within = [path for path in texts if "." in path]
    rows = max(1, min(BATCH_ROWS, MAX_BATCH_TEXT // max(1, longest)))
    return ParquetFile(stream, read_dictionary=within, **limits), rows


def _longest_texts(file: Any, names: list[str]) -> int:
    """Bytes of the longest texts that a row can take from the dictionaries of these columns."""
    from pyarrow import DictionaryArray, compute

    longest = dict.fromkeys(names, 0)
    for group in range(file.num_row_groups if names else 0):
        for batch in islice(file.iter_batches(1, row_groups=[group], columns=names), 1):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if isinstance(column, DictionaryArray):
                    most = compute.max(compute.binary_length(column.dictionary)).as_py() or 0
                    longest[name] = max(longest.get(name, 0), most)
    return sum(longest.values())


def _check_metadata(stream: BinaryIO) -> int:
    """Refuses a description that is larger than may be held; gives the size of the file."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - 8))
    length = int.from_bytes(stream.read(4), "little")
    stream.seek(0)
    if MAX_METADATA < length < size:
        problem = f"describes itself in {length:,} bytes; allowed are {MAX_METADATA:,}"
        raise InvalidInput("file", f"{problem}: export fewer columns, smaller files, or CSV")
    return size


def _check_size(metadata: Any, size: int, allowance: Allowance) -> None:
    if metadata.num_columns > MAX_COLUMNS:
        problem = f"has {metadata.num_columns:,} columns; allowed are {MAX_COLUMNS:,}"
        raise InvalidInput("file", problem)
    allowance.take_rows(metadata.num_rows)
    groups = range(metadata.num_row_groups)
    sizes = [metadata.row_group(index).total_byte_size for index in groups]
    check_ratio(sum(sizes), size)
    allowance.take_bytes(sum(sizes))
    if max(sizes, default=0) > MAX_ROW_GROUP:
        problem = f"has a group of rows of more than {MAX_ROW_GROUP:,} bytes"
        raise InvalidInput("file", f"{problem}; export smaller files, or CSV")


def _checked(columns: Sequence[Any]) -> Sequence[Any]:
    """Refuses rows of which the texts, written out for each, are more than may be held."""
    size = sum(_text_bytes(column) for column in columns)
    if size > MAX_BATCH_TEXT:
        problem = f"has {len(columns[0]):,} rows with texts of {size:,} bytes"
        raise InvalidInput("file", f"{problem}; allowed are {MAX_BATCH_TEXT:,}")
    return columns


def _text_bytes(column: Any) -> int:
    """Bytes of the texts of a column, and of the columns within it."""
    from pyarrow import DictionaryArray, ListArray, MapArray, StructArray, compute

    if isinstance(column, DictionaryArray):
        lengths = compute.binary_length(column.dictionary)
        return int(compute.sum(lengths.take(column.indices)).as_py() or 0)
    if isinstance(column, MapArray):
        return _text_bytes(column.keys) + _text_bytes(column.items)
    if isinstance(column, ListArray):
        return _text_bytes(column.values)
    if isinstance(column, StructArray):
        return sum(_text_bytes(part) for part in column.flatten())
    return 0


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return _json(value)
    if isinstance(value, dict):
        return json.dumps(value, default=str)
    return str(value)


def _json(value: list[Any]) -> str:
    """A list, or a map, which comes as a list of pairs."""
    is_map = bool(value) and all(isinstance(one, tuple) and len(one) == 2 for one in value)
    return json.dumps(dict(value) if is_map else value, default=str)
