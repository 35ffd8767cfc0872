"""A Parquet file as rows of text, read in batches. PURE."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

from planner.usage.sources import Source
from pricing.common.invalid_input import InvalidInput

BATCH_ROWS = 2_000
MAX_COLUMNS = 2_000
MAX_ROW_GROUP = 512_000_000
"""Most bytes that a group of rows may unpack to; a group is held as a whole."""
MAX_METADATA = 16_000_000
"""Most bytes of the file's own description."""


def parquet_rows(source: Source) -> Iterator[list[str]]:
    """The names of the columns, then every row; values that hold others are JSON."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        problem = "is Parquet, which needs the extra `parquet`; export it as CSV"
        raise InvalidInput("file", problem) from None
    assert source.parquet is not None
    try:
        file = ParquetFile(
            source.parquet,
            thrift_string_size_limit=MAX_METADATA,
            thrift_container_size_limit=MAX_METADATA,
        )
        _check_size(file.metadata)
        names = file.schema_arrow.names
        yield names
        for batch in file.iter_batches(BATCH_ROWS):
            columns = [column.to_pylist() for column in batch.columns]
            yield from ([_text(value) for value in row] for row in zip(*columns, strict=True))
    except InvalidInput:
        raise
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        first = str(error).partition("\n")[0][:200]
        raise InvalidInput("file", f"is damaged Parquet: {first}; export it as CSV") from None


def _check_size(metadata: Any) -> None:
    if metadata.num_columns > MAX_COLUMNS:
        problem = f"has {metadata.num_columns:,} columns; allowed are {MAX_COLUMNS:,}"
        raise InvalidInput("file", problem)
    sizes = (metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if max(sizes, default=0) > MAX_ROW_GROUP:
        problem = f"has a group of rows of more than {MAX_ROW_GROUP:,} bytes"
        raise InvalidInput("file", f"{problem}; export smaller files, or CSV")


def _text(value: Any) -> str:
    if value is None:
        return ""
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
