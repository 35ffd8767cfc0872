"""Every form in which the use of GPUs is logged, as the rows of one: nvidia-smi's own CSV. PURE.

Read are `nvidia-smi --query-gpu` with and without its header, `nvidia-smi dmon`, `nvidia-smi -q -x`
(XML, repeated), what nvidia-smi and dcgmi show on a screen (`shown_forms`), the text of DCGM's and
of the nvidia-smi exporter for Prometheus, and what Prometheus answers to a range query.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

from planner.sizing.calibration.shown_forms import (
    is_dcgm,
    is_prometheus,
    is_query,
    is_table,
    read_dcgm,
    read_prometheus,
    read_query,
    read_table,
    shown_time,
)
from pricing.common.invalid_input import InvalidInput

FIELD = "log"
SHOWN = 40
"""Characters of a value that a message shows; a choice of this project, 2026."""
MAX_LINE = 10_000
"""Characters of a line; all columns of nvidia-smi need under 3,000. A choice of this project,
2026."""
PREAMBLE = 20
"""Lines of other text that may stand before the header; a choice of this project, 2026."""
MAX_CELL = 200
"""Characters of a cell; a choice of this project, 2026."""
DMON = {
    "gpu": "index",
    "pwr": "power.draw",
    "gtemp": "temperature.gpu",
    "sm": "utilization.gpu",
    "mem": "utilization.memory",
    "pclk": "clocks.sm",
    "fb": "memory.used",
}
"""Columns of `nvidia-smi dmon` by the names of the query."""
XML_TAGS = {
    "name": ("product_name",),
    "uuid": ("uuid",),
    "utilization.gpu": ("utilization/gpu_util",),
    "utilization.memory": ("utilization/memory_util",),
    "memory.used": ("fb_memory_usage/used",),
    "memory.total": ("fb_memory_usage/total",),
    "temperature.gpu": ("temperature/gpu_temp",),
    "power.draw": (
        "gpu_power_readings/average_power_draw",
        "gpu_power_readings/power_draw",
        "gpu_power_readings/instant_power_draw",
        "power_readings/power_draw",
    ),
    "power.limit": (
        "gpu_power_readings/current_power_limit",
        "power_readings/power_limit",
        "power_readings/enforced_power_limit",
    ),
    "clocks.sm": ("clocks/sm_clock",),
    "clocks.max.sm": ("max_clocks/sm_clock",),
}
"""Names of the query → tags of the XML within one GPU, by the drivers' versions 10 to 13."""
REASONS = (
    "sw_power_cap",
    "hw_slowdown",
    "sw_thermal_slowdown",
    "hw_thermal_slowdown",
    "hw_power_brake_slowdown",
)
_LINE = re.compile(r"[^\r\n]+")
_DECIMAL_COMMA = re.compile(r"^(\d+),(\d+)(?![\d,])")
_USE = (
    "log nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,memory.used --format=csv, or "
    "nvidia-smi dmon -o DT"
)
_NO_LOGS = (
    (
        re.compile(r"^#\s*(Date\s+Time\s+|Time\s+)?gpu\s+pid\s", re.I),
        f"is nvidia-smi pmon, which tells the shares of processes and not those of GPUs; {_USE}",
    ),
    (
        re.compile(
            r"^NVIDIA-SMI has failed|^Failed to initialize NVML|^No devices were found", re.I
        ),
        f"is nvidia-smi's message that it reached no GPU; where it does, {_USE}",
    ),
)
"""What nvidia-smi writes that tells nothing of GPUs → why it is refused."""
_XML_TIME = re.compile(r"<timestamp>([^<]*)</timestamp>")
_HOST = re.compile(r"<hostname>([^<]*)</hostname>")


def read_rows(text: str) -> list[list[str]]:
    """Header and rows of a log, whatever its form.

    >>> read_rows("# gpu   pwr    sm\\n# Idx     W     %\\n    0   631   100\\n")
    [['index', 'power.draw', 'utilization.gpu'], ['0', '631', '100']]
    """
    text = text.removeprefix("\ufeff").replace("\x00", "")
    start = text.lstrip()[:2000]
    if "<nvidia_smi_log" in start or start.startswith("<?xml"):
        return _xml(text)
    if is_prometheus(start):
        return read_prometheus(text)
    for is_form, read in _SHOWN_FORMS:
        if is_form(start):
            return read(text)
    for pattern, words in _NO_LOGS:
        if pattern.search(start):
            raise InvalidInput(FIELD, words)
    rows = _from_header(list(_csv(text)))
    return [_guessed(rows), *rows] if rows and is_headless(first_values(rows)) else rows


def _guessed(rows: list[list[str]]) -> list[str]:
    """The header that a log without one would have; refused where nothing tells which share is the
    use of a GPU."""
    names = guess_header(rows)
    if not is_header(names):
        raise InvalidInput(
            FIELD,
            "has no header, and nothing tells which of its shares in % is the use of a GPU, as one "
            "may be a fan's speed; log it with its header, or with utilization.gpu and, after it, "
            "utilization.memory as the only shares",
        )
    return names


def _from_header(rows: list[list[str]]) -> list[list[str]]:
    """Rows without what a terminal or a script wrote before the header."""
    if rows and is_headless(first_values(rows)):
        return rows
    places = (i for i, row in enumerate(rows[:PREAMBLE]) if is_header(row))
    return rows[next(places, 0) :]


def is_header(row: Sequence[str]) -> bool:
    """Whether a line names the columns."""
    return any(cell.strip().lower().startswith("utilization.gpu") for cell in row)


def _separator(text: str) -> str:
    """What parts the cells of the header, or of the first line: a spreadsheet may write semicolons
    or tabs."""
    lines = [line for line in text[:MAX_LINE].splitlines() if line.strip()]
    line = next((one for one in lines if "utilization.gpu" in one), lines[0] if lines else "")
    return max((",", ";", "\t"), key=line.count)


def _csv(text: str) -> Iterator[list[str]]:
    """Cells of each line that holds any; a stray quotation mark ends with its line, and what no
    log of a GPU has, a line or a cell too long, is shown by its beginning."""
    separator = _separator(text)
    for match in _LINE.finditer(text):
        line = match[0]
        row = [f"{line[:SHOWN]}…"]
        if len(line) <= MAX_LINE:
            with suppress(csv.Error):
                row = next(csv.reader((line,), delimiter=separator, skipinitialspace=True), [])
        if separator != ",":
            row = [_DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in row]
        if any(len(cell) > MAX_CELL for cell in row):
            row = [f"{line[:SHOWN]}…"]
        if any(row):
            yield row


def _is_dmon(start: str) -> bool:
    first = next((line for line in start.splitlines() if line.strip()), "")
    words = first.lstrip("# ").lower().replace(",", " ").split()
    return first.startswith("#") and {"gpu", "sm"} <= set(words) and "pid" not in words


def _dmon(text: str) -> list[list[str]]:
    """Rows of `nvidia-smi dmon`, whose headers come again every page, parted by blanks or (with
    `--format csv`) commas."""
    lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    header = [word.lower() for word in " ".join(lines[0]).lstrip("# ").split()]
    names = [DMON.get(word, f"column {i}") for i, word in enumerate(header)]
    is_timed = header[:2] == ["date", "time"]
    rows = [["timestamp", *names[2:]] if is_timed else names]
    for cells in lines[1:]:
        if not cells or cells[0].startswith("#"):
            continue
        row = ["N/A" if cell == "-" else cell for cell in cells]
        rows.append([_dmon_time(row), *row[2:]] if is_timed else row)
    return rows


def _dmon_time(row: Sequence[str]) -> str:
    day = row[0]
    if len(day) == 8 and day.isdigit():
        day = f"{day[:4]}-{day[4:6]}-{day[6:]}"
    return f"{day} {row[1] if len(row) > 1 else ''}"


def _xml(text: str) -> list[list[str]]:
    """A row for each GPU of each log; tags are looked up by their names, no document is built."""
    header = ["timestamp", "hostname", *XML_TAGS]
    header += [f"clocks_event_reasons.{name}" for name in REASONS]
    rows = [header]
    for log in text.split("<nvidia_smi_log")[1:]:
        moment = _XML_TIME.search(log)
        host = _HOST.search(log)
        stamp = shown_time(moment[1].strip()) if moment else ""
        for part in log.split('<gpu id="')[1:]:
            block, end, _ = part.partition("</gpu>")
            if not end:
                continue
            cells = [_tag(block, paths) for paths in XML_TAGS.values()]
            cells += [_reason(block, name) for name in REASONS]
            rows.append([stamp, host[1].strip() if host else "", *cells])
    return rows


def _tag(block: str, paths: Sequence[str]) -> str:
    """Text of the first of the tags that is there, "N/A" where none is."""
    for path in paths:
        inner = block
        for name in path.split("/"):
            inner, end, _ = inner.partition(f"<{name}>")[2].partition(f"</{name}>")
            inner = inner if end else ""
        value = inner.strip()
        if value and "<" not in value and value.upper() != "N/A":
            return value
    return "N/A"


def _reason(block: str, name: str) -> str:
    match = re.search(rf"<clocks_(?:throttle|event)_reason_{name}>([^<]*)<", block)
    return match[1].strip() if match else "N/A"


_SHOWN_FORMS: tuple[tuple[Callable[[str], bool], Callable[[str], list[list[str]]]], ...] = (
    (_is_dmon, _dmon),
    (is_query, read_query),
    (is_table, read_table),
    (is_dcgm, read_dcgm),
)
"""Whether a text begins like a form, and what reads it."""


_STAMP = re.compile(r"^\d{4}[/-]\d\d[/-]\d\d[ T]")
_UUID = re.compile(r"^(GPU|MIG)-[0-9a-f-]{8,}", re.I)
_BUS = re.compile(r"^([0-9a-f]{4}){1,2}:[0-9a-f]{2}:[0-9a-f]{2}\.\d$", re.I)
_CARD = re.compile(r"nvidia|tesla|geforce|quadro|rtx|[ahlvbt]\d", re.I)
_STATE = re.compile(r"^(P\d{1,2}|0x[0-9a-f]+)$", re.I)
_UNITS = {
    "%": ("utilization.gpu", "utilization.memory"),
    "mib": ("memory.used", "memory.total"),
    "w": ("power.draw", "power.limit"),
    "mhz": ("clocks.sm", "clocks.max.sm"),
}
_UNIT = re.compile(r"^-?[\d.]+ ?(%|mib|w|mhz)$", re.I)
_NUMBER = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)")
_MISSING = re.compile(r"^\s*(\[.*\]?|n/?a|not supported|unknown error|err!?)\s*$", re.I)
ROWS_LOOKED_AT = 1000
"""Rows in which a value is looked for where the first has none; a choice of this project, 2026."""
MOST_IN_A_HOST = 64
"""GPUs of one host, above which a number is no index; a choice of this project, 2026."""
IN_TURN = 0.9
"""Share of an index's values that come again after one of every GPU, at least: a line that is lost
breaks the turn; a choice of this project, 2026."""


def is_headless(row: Sequence[str]) -> bool:
    """Whether the first line is values: one of them a share in %."""
    return any(_unit(cell) == "%" for cell in row)


def first_values(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first line, with the first value of each column where it has none.

    >>> first_values([["0", "[N/A]", "12 %"], ["0", "97 %", "60 %"]])
    ['0', '97 %', '12 %']
    """
    first = list(rows[0])
    for i, cell in enumerate(first):
        if _MISSING.match(cell):
            below = (row[i] for row in rows[1:ROWS_LOOKED_AT] if i < len(row))
            first[i] = next((value for value in below if not _MISSING.match(value)), cell)
    return first


def guess_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """The header that the values tell. Of two amounts of memory the larger is the total; which of
    three is used and which free nothing tells.

    >>> guess_header([["0", "97 %", "700.00 W", "612.10 W"], ["0", "98 %", "700.00 W", "598.20 W"]])
    ['index', 'utilization.gpu', 'power.limit', 'power.draw']
    """
    first = first_values(rows)
    names = [_word(cell) for cell in first]
    values = _values(
        rows,
        [
            i
            for i, cell in enumerate(first)
            if not names[i] and (bool(_unit(cell)) or cell.strip().isdigit())
        ],
    )
    for unit, wanted in _UNITS.items():
        places = [i for i, cell in enumerate(first) if _unit(cell) == unit]
        for i, name in _in_order(values, unit, places, wanted):
            names[i] = name
    if not {"uuid", "pci.bus_id"} & set(names):
        bare = [i for i, cell in enumerate(first) if not names[i] and cell.strip().isdigit()]
        turns = {i: count for i in bare if (count := _gpus_in_turn(values[i]))}
        if turns:
            names[max(turns, key=lambda i: turns[i])] = "index"
    return [name or f"column {i}" for i, name in enumerate(names)]


def _unit(cell: str) -> str:
    match = _UNIT.match(cell.strip())
    return match[1].lower() if match else ""


def _in_order(
    values: Mapping[int, list[float]], unit: str, places: list[int], wanted: Sequence[str]
) -> Iterator[tuple[int, str]]:
    """Columns of a unit with their names: shares in the usual order of the query, memory by its
    size, and of power and clocks first what changes. Shares that are not those of a GPU and, below
    it, of its memory have no name: one may be a fan's speed."""
    if len(places) < 2:
        return zip(places, wanted, strict=False)
    if unit == "%":
        is_usual = len(places) == 2 and sum(values[places[0]]) >= sum(values[places[1]])
        return zip(places if is_usual else (), wanted, strict=False)
    if unit == "mib":
        places.sort(key=lambda i: max(values[i], default=0.0))
        used = [places[0]] if len(places) == 2 else []
        return iter([*((i, wanted[0]) for i in used), (places[-1], wanted[1])])
    places.sort(key=lambda i: (-len(set(values[i])), max(values[i], default=0.0)))
    return zip(places, wanted, strict=False)


def _word(cell: str) -> str:
    """What a cell of words is: a time, an id, a card's name; "" for a number or nothing."""
    text = cell.strip()
    if _STAMP.match(text):
        return "timestamp"
    if _UUID.match(text):
        return "uuid"
    if _BUS.match(text):
        return "pci.bus_id"
    is_card = _CARD.search(text) and not _unit(text) and not _STATE.match(text)
    return "name" if is_card else ""


def _gpus_in_turn(values: list[float]) -> int:
    """GPUs that a column of numbers counts, 0 where it is something else, such as a temperature: it
    goes up through them and begins again."""
    count = len(set(values))
    turn = values[:count]
    if not values or max(values) >= MOST_IN_A_HOST or turn != sorted(set(values)):
        return 0
    again = [a == b for a, b in zip(values, values[count:], strict=False)]
    if not again:
        return count if turn == list(range(count)) else 0
    return count if sum(again) >= IN_TURN * len(again) else 0


def _values(rows: Sequence[Sequence[str]], places: Sequence[int]) -> dict[int, list[float]]:
    """Numbers of each of the columns, those that are missing left out; each cell is seen once, as
    one line may have many more than the others."""
    values: dict[int, list[float]] = {i: [] for i in places}
    for row in rows:
        for i in places:
            if i >= len(row):
                break
            match = _NUMBER.match(row[i])
            if match:
                values[i].append(float(match[1]))
    return values


MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
"""First bytes of a text → its encoding; PowerShell redirects into UTF-16 (Microsoft, about_Output
streams, 2024)."""


def decode_log(raw: bytes, field: str = "file") -> str:
    """The text of a log; refuses, on `field`, what is neither UTF-8 nor UTF-16.

    >>> decode_log("index".encode("utf-16"))
    'index'
    """
    encoding = next((name for mark, name in MARKS if raw.startswith(mark)), "")
    if not encoding and raw[1:2] == b"\x00":
        encoding = "utf-16-le"
    try:
        return raw.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        raise InvalidInput(
            field, "is neither UTF-8 nor UTF-16 text; send the log that nvidia-smi wrote"
        ) from None
