"""The header of an `nvidia-smi --query-gpu` log that was written without one. PURE.

Units tell what a column is. Where several have one unit, what stays the same is a limit and what
changes was measured; an index counts the GPUs of every sample in turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

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
    values = _values(rows, [i for i, cell in enumerate(first) if not names[i] and _is_value(cell)])
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


def _is_value(cell: str) -> bool:
    return bool(_unit(cell)) or cell.strip().isdigit()


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
