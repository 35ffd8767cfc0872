"""Tables: rows under a header, from CSV of any separator, a worksheet or Parquet. PURE."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from planner.usage.sources import Allowance, Source, check_ratio
from pricing.common.bounded import read_decimal, shorten
from pricing.common.invalid_input import InvalidInput
from pricing.common.tables import read_rows

MAX_COLUMNS = 2_000
MAX_TITLES = 20
"""Most lines above a header."""
_SEPARATORS = ",;\t|^~"


@dataclass
class Table:
    """A table that is read row by row."""

    header: list[str]
    rows: Iterator[Sequence[str]]
    decimal_comma: bool = False
    """Whether 3,5 is a number, as in tables whose cells semicolons separate; 3.5 is one too."""
    first_row: int = 2
    """Number of the first row, as a spreadsheet counts."""
    title: str = ""
    """What stands above the header."""

    def columns(self) -> Columns:
        return Columns(self.header)


class Columns:
    """Finds columns by name: as written, then without case, blanks, signs and translations.

    >>> Columns(["lineItem/UsageType", "Zone (AvailabilityZone)"]).find("line_item_usage_type")
    0
    >>> Columns(["lineItem/UsageType", "Zone (AvailabilityZone)"]).find("availabilityZone")
    1
    """

    def __init__(self, header: Iterable[str]) -> None:
        self.header = list(header)
        self._exact: dict[str, int] = {}
        self._plain: dict[str, int] = {}
        self._twice: set[str] = set()
        for index, name in enumerate(map(str.strip, self.header)):
            if self._exact.setdefault(name, index) != index:
                self._twice.add(name)
            self._plain.setdefault(plain_name(name), index)

    def find(self, *names: str) -> int | None:
        """Position of the first of these columns that there is."""
        for name in names:
            index = self._exact.get(name, self._plain.get(plain_name(name)))
            if index is not None:
                head = self.header[index].strip()
                if head in self._twice:
                    raise InvalidInput(f"column {head}", "is in the header twice; keep one")
                return index
        return None

    def has(self, *names: str) -> bool:
        return all(self.find(name) is not None for name in names)

    def getter(self, *names: str) -> Callable[[Sequence[str]], str]:
        """What reads the first of these columns that there is; an empty text where none is."""
        index = self.find(*names)
        return no_cell if index is None else itemgetter(index)


@cache
def column_names(bill: str, tells: str) -> dict[str, tuple[str, ...]]:
    """Columns of a form of bill that tell of its rows, or of a kind of rows: our name → the names
    that exports give it."""
    return {
        row["column"]: tuple(row["names"].split())
        for row in read_rows(Path(__file__).with_name("columns.csv"))
        if (row["bill"], row["tells"]) == (bill, tells)
    }


def no_cell(row: Sequence[str]) -> str:
    """What is read of a column that there is not."""
    return ""


def read_table(source: Source, mapping: Mapping[str, str] | None = None) -> Table:
    """The table in a file; `mapping` renames columns: name in the file → name to read it by."""
    separator = ""
    if source.parquet is not None:
        rows, empty = _parquet_rows(source.parquet, source.allowance), "Parquet without columns"
    elif source.workbook is not None:
        rows = _worksheet_rows(source.workbook, source.allowance)
        empty = "a workbook whose first sheet is empty"
    else:
        separator, empty = choose_separator(source.head), "a table without columns"
        if rule := _RULE.search(source.head):
            above = source.head[: rule.start()].count("\n")
            rows = _cut_lines(islice(source.lines(), max(above - 1, 0), None), rule[0])
        else:
            rows = _csv_rows(csv.reader(source.lines(), delimiter=separator, strict=True))
    table = _of_rows(rows, empty)
    table.decimal_comma = separator == ";"
    if len(table.header) > MAX_COLUMNS:
        problem = f"has {len(table.header):,} columns; at most {MAX_COLUMNS:,} are read"
        raise InvalidInput("row 1", problem)
    if mapping:
        table.header = [mapping.get(name.strip(), name) for name in table.header]
    return table


def choose_separator(head: str) -> str:
    """The sign that separates the cells of a header; commas where none does. A title above it
    holds one such sign at most.

    >>> choose_separator("Datum;Kosten;Menge"), choose_separator("month,cost")
    (';', ',')
    >>> choose_separator("Use, all teams\\nMonat;Team;Kosten")
    ';'
    """
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in head.split("\n")[:MAX_TITLES]]
    full = (line for line in unquoted if any(line.count(sign) > 1 for sign in _SEPARATORS))
    line = next(full, unquoted[0])
    return max(_SEPARATORS, key=lambda sign: (line.count(sign), sign == ","))


_RULE = re.compile(r"^ *-+(?: +-+)+ *\r?$", re.MULTILINE)
"""What rules off the names of columns of a width: `--------- ------`."""


def _cut_lines(lines: Iterator[str], rule: str) -> Iterator[list[str]]:
    """Cells of lines in columns of a width; `+` marks one that was cut off."""
    spans = [match.span() for match in re.finditer(r"-+", rule)]
    for number, line in enumerate(lines):
        words = line.split()
        if number == 0 and len(words) == len(spans):
            yield words
        elif line.strip("- \r\n"):
            yield [line[first:last].strip().removesuffix("+") for first, last in spans]


def _csv_rows(reader: Any) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise InvalidInput(f"line {reader.line_num}", f"is not CSV: {error}") from None


def _fit(row: list[str], columns: int, line: int) -> list[str]:
    if len(row) > columns and any(cell.strip() for cell in row[columns:]):
        problem = f"has {len(row)} cells under {columns} columns"
        raise InvalidInput(f"line {line}", f"{problem}; quote a cell that holds the separator")
    return (row + [""] * columns)[:columns]


def _of_rows(rows: Iterator[list[str]], empty: str) -> Table:
    """Under the first row that fills more than half of the cells that the widest of the first
    ones fills: those above are titles."""
    numbered = enumerate(rows, 1)
    first = list(islice(numbered, MAX_TITLES))
    filled = [sum(map(bool, map(str.strip, row))) for _, row in first]
    place = next((n for n, count in enumerate(filled) if count > max(filled) / 2), None)
    if place is None:
        raise InvalidInput("file", f"is {empty}")
    header = [name.removeprefix("\ufeff").strip() for name in first[place][1]]
    full = _under(len(header), chain(first[place + 1 :], numbered))
    title = " ".join(cell for _, row in first[:place] for cell in row)
    return Table(header, full, first_row=first[place][0] + 1, title=title)


def _under(columns: int, numbered: Iterable[tuple[int, list[str]]]) -> Iterator[Sequence[str]]:
    for number, row in numbered:
        if len(row) == columns and any(row):
            yield row
        elif any(cell.strip() for cell in row):
            yield _fit(row, columns, number)


def to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, list):  # a map comes as a list of pairs
        is_map = bool(value) and all(isinstance(one, tuple) and len(one) == 2 for one in value)
        return json.dumps(dict(value) if is_map else value, default=str)
    return json.dumps(value, default=str) if isinstance(value, dict) else str(value)


# Workbooks --------------------------------------------------------------------------------


def _worksheet_rows(stream: BinaryIO, allowance: Allowance) -> Iterator[list[str]]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum
    except ModuleNotFoundError:
        problem = "is a workbook, which needs the extra `server`; save it as CSV"
        raise InvalidInput("file", problem) from None
    try:
        book = CalamineWorkbook.from_filelike(stream)
        sheets = [one.name for one in book.sheets_metadata if one.typ is SheetTypeEnum.WorkSheet]
        for row in book.get_sheet_by_name(sheets[0]).iter_rows():
            allowance.take_rows(1)
            yield [to_text(value) for value in row]
    except InvalidInput:
        raise
    except (CalamineError, OSError, ValueError, IndexError, KeyError, OverflowError) as error:
        problem = f"is a damaged workbook: {type(error).__name__}"
        raise InvalidInput("file", f"{problem}; save it as CSV") from None


# Parquet ----------------------------------------------------------------------------------

BATCH_ROWS = 500
MAX_ROW_GROUP = 512_000_000
"""Most bytes that a group of rows may unpack to."""
MAX_METADATA = 8_000_000
"""Most bytes of the file's own description, which is held as a whole."""
MAX_BATCH_TEXT = 50_000_000
"""Most bytes of the texts of a batch: one that stands once in a file may be that of every row."""


def _parquet_rows(stream: BinaryIO, allowance: Allowance) -> Iterator[list[str]]:
    try:
        from pyarrow import ArrowException, RecordBatch
    except ModuleNotFoundError:
        problem = "is Parquet, which needs the extra `parquet`; export it as CSV"
        raise InvalidInput("file", problem) from None
    try:
        file = _open_parquet(stream, allowance)
        nothing = RecordBatch.from_pylist([], file.schema_arrow)
        yield [name for name, _ in _parts(nothing.schema.names, nothing.columns)]
        for batch in file.iter_batches(BATCH_ROWS):
            size = sum(_text_bytes(column) for column in batch.columns)
            if size > MAX_BATCH_TEXT:
                problem = f"has {batch.num_rows:,} rows with texts of {size:,} bytes"
                raise InvalidInput("file", f"{problem}; allowed are {MAX_BATCH_TEXT:,}")
            parts = _parts(batch.schema.names, batch.columns)
            columns = [column.to_pylist() for _, column in parts]
            yield from ([to_text(value) for value in row] for row in zip(*columns, strict=True))
    except InvalidInput:
        raise
    except (ArrowException, OSError, ValueError, OverflowError) as error:
        first = str(error).partition("\n")[0][:200]
        raise InvalidInput("file", f"is damaged Parquet: {first}; export it as CSV") from None


def _parts(names: Iterable[str], columns: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """The columns, and after each that has parts these, such as `usage.amount`."""
    for name, column in zip(names, columns, strict=True):
        yield name, column
        if hasattr(column, "flatten") and hasattr(column, "field"):
            parts = [f"{name}.{part.name}" for part in column.type]
            yield from _parts(parts, column.flatten())


def _open_parquet(stream: BinaryIO, allowance: Allowance) -> Any:
    from pyarrow.parquet import ParquetFile

    limits = {
        "thrift_string_size_limit": MAX_METADATA,
        "thrift_container_size_limit": MAX_METADATA,
        "buffer_size": 65_536,
    }
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - 8))
    length = int.from_bytes(stream.read(4), "little")
    stream.seek(0)
    if MAX_METADATA < length < size:
        problem = f"describes itself in {length:,} bytes; allowed are {MAX_METADATA:,}"
        raise InvalidInput("file", f"{problem}: export fewer columns, smaller files, or CSV")
    metadata = ParquetFile(stream, **limits).metadata
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
    columns = (metadata.schema.column(index) for index in range(metadata.num_columns))
    texts = [
        column.path
        for column in columns
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL"
    ]
    return ParquetFile(stream, read_dictionary=texts, **limits)


def _text_bytes(column: Any) -> int:
    """Bytes of the texts of a column, written out for each row, and of the columns within it."""
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


# Cells ------------------------------------------------------------------------------------

MAX_AMOUNT = Decimal(10) ** 13
MAX_QUANTITY = 1e24
"""Byte-seconds of a month are the largest."""
_SIMPLE = re.compile(r"-?\d{1,15}(?:\.\d{1,25})?", re.ASCII).fullmatch
_COMMA = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d*),\d+(?:[eE][+-]?\d+)?", re.ASCII)
EMPTY = frozenset(("", "NULL", "null", "None", "N/A", "n/a"))
"""Cells that say nothing."""
_ZERO = Decimal(0)
_CACHED_MOMENTS = 50_000
MAX_NAME_LENGTH = 120
"""Characters of a name in a sum; longer ones are cut."""


def amount(text: str, column: str) -> Decimal | None:
    """An amount of money, exactly; None for a cell that says nothing.

    >>> amount("55.04", "Cost"), amount("NULL", "Cost"), amount("6.2E-12", "Cost")
    (Decimal('55.04'), None, Decimal('6.2E-12'))
    """
    if _SIMPLE(text):
        return Decimal(text)
    text = text.strip()
    if text in EMPTY:
        return None
    number = read_decimal(text, column)
    if abs(number) > MAX_AMOUNT:
        raise InvalidInput(column, f"{shorten(text, 40)} is not an amount between -1e13 and 1e13")
    return number


def money(text: str, column: str) -> Decimal:
    """An amount where an empty cell is no charge."""
    number = amount(text, column)
    return _ZERO if number is None else number


def quantity(text: str, column: str) -> float:
    """Hours or another quantity; an empty cell is none."""
    if _SIMPLE(text):
        return float(text)
    text = text.strip()
    number = None if text in EMPTY else read_decimal(text, column)
    value = float(number or 0)
    if abs(value) > MAX_QUANTITY:
        raise InvalidInput(column, f"{shorten(text, 40)} is not a quantity up to 1e24")
    return value


def to_point(text: str) -> str:
    """A number with a decimal comma, written with a point.

    >>> to_point("1.234,56"), to_point(",075"), to_point("1\u202f200")
    ('1234.56', '.075', '1200')
    """
    text = _GAPS.sub("", text.strip())
    return text.replace(".", "").replace(",", ".") if _COMMA.fullmatch(text) else text


_GAPS = re.compile(r"(?<=\d)[\s'’](?=\d{3}(?!\d))")
"""Blanks of any width, or apostrophes, between thousands."""
_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)


def without_thousands(text: str) -> str:
    """A number with a decimal point, without commas between its thousands.

    >>> without_thousands("1,234.5"), without_thousands("1,2")
    ('1234.5', '1,2')
    """
    text = _GAPS.sub("", text.strip())
    return text.replace(",", "") if _THOUSANDS.fullmatch(text) else text


MAX_WAITING_ROWS = 5_000
"""Most rows that are held until a date says which of its numbers is the month."""
_SLASHES = re.compile(r"(\d{1,2})/(\d{1,2})/\d", re.ASCII)


def find_date_order(dates: Iterable[str]) -> tuple[bool, list[str]]:
    """Whether dates such as 1/2/2026 write the day first, and a note if none of them says it: then
    the second number is the day unless it is the same in all of them.

    >>> find_date_order(["01/02/2026", "13/02/2026"]), find_date_order(["01/02/2026"])[0]
    ((True, []), False)
    """
    numbers = dict[tuple[str, str], str]()
    for text in dates:
        if match := _SLASHES.match(text.strip()):
            first, second = match.groups()
            if (int(first) > 12) != (int(second) > 12):
                return int(first) > 12, []
            numbers.setdefault((first, second), text.strip()[:20])
    is_first = len({second for _, second in numbers}) == 1 < len({first for first, _ in numbers})
    order = "day/month" if is_first else "month/day"
    return is_first, [
        f"Dates such as {example} are read as {order}/year: no date says which of its numbers is "
        "the month."
        for example in list(numbers.values())[:1]
    ]


class Moment(NamedTuple):
    """A moment as it is written: its month, and seconds since 1970 by the same clock."""

    month: str
    seconds: float


_EPOCH = dt.datetime(1970, 1, 1)


class Moments:
    """Reads moments; those of a bill repeat, so each text is read once.

    >>> Moments()("2026-02-04T01:00:00Z", "UsageStartDate")
    Moment(month='2026-02', seconds=1770166800.0)
    """

    def __init__(self, *, utc_only: bool = True, day_first: bool = False) -> None:
        self._utc_only = utc_only
        self._day_first = day_first
        self._known: dict[str, Moment] = {}

    def __call__(self, text: str, column: str) -> Moment:
        known = self._known.get(text)
        if known is None:
            known = self._read(text.strip(), column)
            if len(self._known) >= _CACHED_MOMENTS:
                self._known.clear()
            self._known[text] = known
        return known

    def _read(self, text: str, column: str) -> Moment:
        moment = _parse(text, self._day_first)
        if moment is None or not 1990 <= moment.year <= 2200:
            problem = f"{shorten(text, 40)} is not a moment like 2026-01-31T00:00:00Z"
            raise InvalidInput(column, problem)
        offset = moment.utcoffset()
        if offset and self._utc_only:
            problem = f"{shorten(text, 40)} is not in UTC, in which this bill counts its months"
            raise InvalidInput(column, f"{problem}; export it with times in UTC")
        plain = moment.replace(tzinfo=None)
        return Moment(f"{plain:%Y-%m}", (plain - _EPOCH).total_seconds())


_DAY = re.compile(
    r"(\d{1,2})([/.])(\d{1,2})\2(\d{4}|\d{2})"
    r"(?:,?[ T](?:(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d+)?\s?([AP]M)?)?.*)?",
    re.ASCII | re.IGNORECASE,
)


def _parse(text: str, day_first: bool) -> dt.datetime | None:
    if len(text) > 40:
        return None
    try:
        if parts := _DAY.fullmatch(text):
            first, second, year = (int(parts[place]) for place in (1, 3, 4))
            day, month = (first, second) if day_first or parts[2] == "." else (second, first)
            hour, minute, second_s = (int(parts[place] or 0) for place in (5, 6, 7))
            if parts[8]:
                hour = hour % 12 + 12 * (parts[8].upper() == "PM")
            year += 2000 * (year < 100)
            return dt.datetime(year, month, day, hour, minute, second_s)
        if not re.match(r"[12]\d{3}([-/])\d\d(\1\d\d|$)", text, re.ASCII):
            return None
        text = text.removesuffix(" UTC").replace("/", "-")
        return dt.datetime.fromisoformat(text if len(text) > 7 else f"{text}-01")
    except ValueError:
        return None


def clip(text: str, length: int = MAX_NAME_LENGTH) -> str:
    """A name without blanks around it, cut to `length`; a cell that says nothing is empty."""
    text = text.strip()
    return "" if text in EMPTY else text[:length]


def read_currency(text: str, column: str) -> str:
    """The code of a currency in capitals; empty for a cell that says nothing.

    >>> read_currency("usd", "BillingCurrency")
    'USD'
    """
    code = clip(text).upper()
    if code and not re.fullmatch("[A-Z]{3}", code):
        raise InvalidInput(column, f"{shorten(text, 40)} is no code of a currency, such as USD")
    return code


_SMALL_WORDS = frozenset(
    re.findall(r"\w+", "de du d la le les en dans del der des die in the of nella di da do na")
)
_TRANSLATED = re.compile(r".*\(([\w/]+)\)\s*", re.ASCII)


def plain_name(name: str) -> str:
    """A column's name for comparing: `Kosten (PreTaxCost)` and `pre_tax_cost` are one.

    >>> plain_name("Kosten (PreTaxCost)"), plain_name("pre_tax_cost")
    ('pretaxcost', 'pretaxcost')
    """
    translated = _TRANSLATED.fullmatch(name)
    plain = unicodedata.normalize("NFKD", translated[1] if translated else name).casefold()
    words = re.split(r"[^a-z0-9]+", re.sub(r"[\u0300-\u036f]", "", plain))
    return "".join(word for word in words if word not in _SMALL_WORDS)


_EARLIEST, _LATEST = ((dt.datetime(year, 1, 1) - _EPOCH).total_seconds() for year in (1900, 2200))
"""Seconds since 1970 within which there is use: later ones are no dates, or slips."""


@lru_cache(maxsize=20_000)
def _month_of_day(day: int) -> str:
    return f"{_EPOCH + dt.timedelta(days=day):%Y-%m}"


def start_next_month(moment: dt.datetime) -> dt.datetime:
    following = moment.replace(day=1) + dt.timedelta(days=32)
    return following.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def split_by_month(start: float, end: float) -> list[tuple[str, float]]:
    """Months of an interval with their share of it; all of it in the first where it is empty.

    >>> split_by_month(-3600.0, 3 * 3600.0)
    [('1969-12', 0.25), ('1970-01', 0.75)]
    """
    if not _EARLIEST <= start <= max(start, end) < _LATEST:
        raise InvalidInput("time", "is not between the years 1900 and 2200")
    month = _month_of_day(int(start // 86_400))
    if end <= start or _month_of_day(int(end // 86_400)) == month:
        return [(month, 1.0)]
    first = _EPOCH + dt.timedelta(seconds=start)
    last = _EPOCH + dt.timedelta(seconds=end)
    shares: list[tuple[str, float]] = []
    while first < last:
        following = start_next_month(first)
        part = (min(following, last) - first).total_seconds()
        shares.append((f"{first:%Y-%m}", part / (end - start)))
        first = following
    return shares
