"""The first sheet of an Excel workbook as rows of text. PURE.

Of what a workbook declares nothing is believed: which part holds what is read from the workbook
itself, so limits hold for each part as it is read, whatever its name.
"""

from __future__ import annotations

import datetime as dt
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, BinaryIO

from planner.usage.sources import MAX_SHARED_TEXTS, MAX_TAGS_OF_A_ROW, Source
from planner.usage.text_lines import MAX_LINE
from pricing.common.invalid_input import InvalidInput

MAX_CELLS_IN_ROW = 2_000
MAX_EMPTY_ROWS = 1_000
"""Most empty rows in a row; a sheet may declare a million of them."""
MAX_PARTS = 2_000_000
"""Most bytes of the parts that are held as trees: styles, the list of sheets. A tree takes a
hundred times its text, so no more than 200 MB."""
MAX_TEXTS = 2_000_000
"""Most texts that cells share."""
MAX_ELEMENTS = 8_000_000
"""Most elements of a sheet, of which a cell has two: some 30 s of work."""
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, KeyError, ValueError, IndexError, TypeError, SyntaxError),
    *(AttributeError, RuntimeError, OSError, EOFError, OverflowError),
)
"""What unpacking and reading raise over a damaged workbook."""


def worksheet_rows(source: Source) -> Iterator[list[str]]:
    """Rows of the first sheet, empty ones left out; a formula is refused by its cell."""
    assert source.workbook is not None
    try:
        import openpyxl  # noqa: F401 - the extra

        for row in _rows(*_open(source.workbook)):
            source.allowance.take_rows(1)
            yield row
    except InvalidInput:
        raise
    except ModuleNotFoundError:
        problem = "is a workbook, which needs the extra `server`; save it as CSV"
        raise InvalidInput("file", problem) from None
    except _DAMAGE as error:
        problem = f"is a damaged workbook: {type(error).__name__}"
        raise InvalidInput("file", f"{problem}; save it as CSV") from None


class _Archive(zipfile.ZipFile):
    """An archive whose parts that are read as a whole are small together."""

    taken = 0

    def read(self, name: str | zipfile.ZipInfo, pwd: bytes | None = None) -> bytes:
        self.taken += self.getinfo(name).file_size if isinstance(name, str) else name.file_size
        if self.taken > MAX_PARTS:
            raise _too_large(f"with more than {MAX_PARTS:,} bytes of styles and the like")
        return super().read(name, pwd)


def _too_large(problem: str) -> InvalidInput:
    return InvalidInput("file", f"is a workbook {problem}; save it as CSV")


def _open(stream: BinaryIO) -> tuple[Any, IO[bytes]]:
    """What reads a row of the first sheet, and its text."""
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.styles.stylesheet import apply_stylesheet
    from openpyxl.worksheet._reader import WorkSheetParser

    reader = ExcelReader(stream, read_only=True, keep_links=False)
    reader.archive = archive = _Archive(stream)
    reader.read_manifest()
    reader.read_workbook()
    apply_stylesheet(archive, reader.wb)
    parser = WorkSheetParser(
        None,
        _shared_texts(archive, reader.package),
        epoch=reader.wb.epoch,
        date_formats=reader.wb._date_formats,
        timedelta_formats=reader.wb._timedelta_formats,
    )
    sheets = (
        link.target
        for _, link in reader.parser.find_sheets()
        if link.target in reader.valid_files and "chartsheet" not in link.Type
    )
    return parser, archive.open(next(sheets, ""))


def _shared_texts(archive: zipfile.ZipFile, package: Any) -> list[str]:
    """The texts that cells name by number, without what tells how they are spoken."""
    from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS

    part = package.find(SHARED_STRINGS)
    if part is None:
        return []
    name = part.PartName[1:]
    if archive.getinfo(name).file_size > MAX_SHARED_TEXTS:
        raise _too_large(f"with more than {MAX_SHARED_TEXTS:,} bytes of texts")
    texts: list[str] = []
    run, text = (f"{{{SHEET_MAIN_NS}}}{tag}" for tag in "rt")
    for node in _elements(archive.open(name), f"{{{SHEET_MAIN_NS}}}si"):
        parts = [node, *node.findall(run)]
        texts.append("".join(one.findtext(text) or "" for one in parts).replace("x005F_", ""))
        if len(texts) > MAX_TEXTS:
            raise _too_large(f"with more than {MAX_TEXTS:,} different texts")
    return texts


class _Watched:
    """A part as it is read, refused where it goes on without an element, or has too many."""

    def __init__(self, part: IO[bytes]) -> None:
        self._part = part
        self._bytes_since = self._elements = 0
        self.in_one = self.outside = 0
        """Elements in the one that is read, and in none of those that are wanted."""

    def read(self, count: int) -> bytes:
        self._bytes_since += count
        if self._bytes_since > MAX_LINE:
            raise _too_large(f"with a text of more than {MAX_LINE:,} bytes")
        return self._part.read(count)

    def take_element(self, is_wanted: bool) -> None:
        self._bytes_since = 0
        self._elements += 1
        self.in_one += is_wanted
        self.outside += not is_wanted
        if max(self.in_one, self.outside) > MAX_TAGS_OF_A_ROW:
            raise _too_large("with a row of too many cells")
        if self._elements > MAX_ELEMENTS:
            raise _too_large("with too many cells")


def _elements(part: IO[bytes], tag: str) -> Iterator[Any]:
    """The elements of this tag, each forgotten once it is read, as is all that is in none."""
    from openpyxl.xml.functions import iterparse

    watched = _Watched(part)
    parents: list[Any] = []
    wanted: Any = None
    for event, element in iterparse(watched, ("start", "end")):
        if event == "start":
            if wanted is None and element.tag == tag:
                wanted, watched.in_one = element, 0
            watched.take_element(wanted is not None)
            parents.append(element)
            continue
        parents.pop()
        if wanted is not None and element is not wanted:
            continue
        if element is wanted:
            yield element
            wanted = None
        if parents:
            parents[-1].remove(element)


def _rows(parser: Any, sheet: IO[bytes]) -> Iterator[list[str]]:
    from openpyxl.xml.constants import SHEET_MAIN_NS

    last = last_full = 0
    for element in _elements(sheet, f"{{{SHEET_MAIN_NS}}}row"):
        del element[MAX_CELLS_IN_ROW:]
        number, cells = parser.parse_row(element)
        if number <= last:
            raise ValueError(f"row {number} stands behind row {last}")
        last = number
        if number - last_full > MAX_EMPTY_ROWS + 1:
            return
        if texts := _texts(cells):
            last_full = number
            yield texts


def _texts(cells: list[dict[str, Any]]) -> list[str]:
    """The texts of a row up to the last one, each in its column."""
    texts = {
        cell["column"]: text
        for cell in cells
        if cell["column"] <= MAX_CELLS_IN_ROW and (text := _text(cell))
    }
    return [texts.get(column, "") for column in range(1, max(texts, default=0) + 1)]


def _text(cell: dict[str, Any]) -> str:
    value = cell["value"]
    if value is None:
        return ""
    if cell["data_type"] == "f":
        from openpyxl.utils import get_column_letter

        problem = "holds a formula, whose value is not read; save the sheet as values"
        raise InvalidInput(f"cell {get_column_letter(cell['column'])}{cell['row']}", problem)
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, float):
        return repr(value)
    return str(value)
