"""The address of a page is the request: `workload.tokens~bn=150` is workload.tokens = 1.5e11.

A name is the dotted path of the contract's request. A suffix says the unit a person types in:
`~pct` per cent, `~k` thousand, `~mn` million, `~bn` billion, `~tn` trillion. Nothing is judged
here: text that is no number goes to the core as it is, and is refused there by its path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from planner.contract.typed_numbers import (
    plain_number,
    spell_out,
    spell_out_pair,
    spell_out_round,
    without_invisible,
    write_out,
)
from pricing.common.bounded import MAX_DEPTH, number_problem, read_decimal, read_position

SCALES = {
    "pct": Decimal("0.01"),
    "k": Decimal(10**3),
    "mn": Decimal(10**6),
    "bn": Decimal(10**9),
    "tn": Decimal(10**12),
}
SCALE_WORDS = {"pct": "%", "k": "thousand", "mn": "million", "bn": "billion", "tn": "trillion"}
_MAGNITUDE = re.compile(
    r"(.*\d)\s*(k|thousand|m|mn|million|b|bn|billion|t|tn|trillion)", re.IGNORECASE
)
_OF_MAGNITUDE = {"t": "tn", "k": "k", "m": "mn", "b": "bn", "thousand": "k"}
_OF_BUDGETS = "_budget"
_SEPARATOR = re.compile(r"[,;\n]")
_BETWEEN_NUMBERS = re.compile(r"[^\S\u00a0\u202f]*(?:[^\S\u00a0\u202f]|;|,\s)[^\S\u00a0\u202f]*")
"""White space, a semicolon, or a comma with a space behind it."""
_BARE_LIST = re.compile(r"\d+(?:,\d+){2,}")
"""Numbers between commas alone; two of them may be one with a decimal comma."""


def number(text: str, scale: str = "") -> int | float | str:
    """What was typed as a number, exactly scaled; the text itself where it is none."""
    written, scale = _apart(text.strip(), scale)
    tidy = spell_out_round(written)
    if tidy.endswith("%") and scale in ("", "pct"):
        tidy, scale = tidy[:-1].rstrip(), "pct"
    tidy = plain_number(tidy)
    if number_problem(tidy):
        return spell_out_round(written)
    value = read_decimal(tidy) * SCALES.get(scale, Decimal(1))
    return int(value) if value == value.to_integral_value() else float(value)


def _apart(text: str, scale: str) -> tuple[str, str]:
    """A figure and its unit, which is that of the box where the text names no other: model sizes
    are known as 7B and 350M. Only boxes that count in thousands and more take such a letter."""
    match = _MAGNITUDE.fullmatch(text) if scale not in ("", "pct") else None
    if match is None:
        return text, scale
    word = match[2].lower()
    return match[1], _OF_MAGNITUDE.get(word) or _OF_MAGNITUDE[word[0]]


def numbers(text: str) -> int | float | str | list[int | float | str]:
    """One number, or a column of them as pasted from a spreadsheet.

    What may be two numbers or one, or thousands or decimals, stays text that asks which.
    """
    tidy = text.strip()
    if _BARE_LIST.fullmatch(tidy) and plain_number(tidy) == tidy:
        return [number(part) for part in tidy.split(",")]
    values = [number(spell_out(part)) for part in _BETWEEN_NUMBERS.split(tidy) if part]
    if len(values) != 1 or tidy.endswith(";"):
        return values
    question = spell_out_pair(tidy)
    return values[0] if question == tidy else question


def _insert(tree: dict[str, Any], path: list[str], value: Any) -> None:
    *groups, last = path
    here: Any = tree
    for name in groups:
        here = here.setdefault(name, {})
        if not isinstance(here, dict):
            return
    if value == {}:
        here.setdefault(last, value)
    else:
        here[last] = value


def _close_lists(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    below = {key: _close_lists(value) for key, value in tree.items()}
    positions = {key: read_position(key) for key in below}
    if below and None not in positions.values():
        return [below[key] for key in sorted(below, key=lambda key: positions[key] or 0)]
    return below


def to_segments(path: str) -> list[str]:
    """The names of a dotted path; one that is nested too deep is a single name, which nothing
    knows."""
    return path.split(".") if path.count(".") < MAX_DEPTH else [path]


def to_pattern(path: str) -> str:
    """A path with the positions in lists as `*`: `servers.0.name` is `servers.*.name`."""
    return ".".join("*" if read_position(s) is not None else s for s in to_segments(path))


def read(
    query: QueryDict, field_types: Mapping[str, str], default_share: DefaultShare = lambda _: None
) -> dict[str, Any]:
    """The request of a query string. `field_types` gives the type of value of each path, with
    list positions written as `*` and everything below a name as `**`: text, number, numbers,
    flag, choices, or nothing (an empty list or group).

    An empty value is an absent one; a path not in `field_types` is passed on as text, so that
    the core can refuse it by name.
    """
    tree: dict[str, Any] = {}
    for name in query:
        path, _, scale = name.partition("~")
        values = [value for value in query.getlist(name) if value.strip()]
        if not values:
            continue
        segments = to_segments(path)
        field_type = field_types.get(to_pattern(path)) or field_types.get(
            f"{segments[0]}.**", "text"
        )
        if path.endswith(_OF_BUDGETS):
            values = [spell_out(value.strip()) for value in values]
        value = _convert(field_type, values, scale)
        if scale == "pct" and "%" not in values[-1]:
            value = _ask_below_one(values[-1].strip(), value, default_share(path))
        _insert(tree, segments, value)
    request = _close_lists(tree)
    return request if isinstance(request, dict) else {}


DefaultShare = Callable[[str], float | None]
"""Path of a share → what is usual, 0 where nothing is; None of what is no share."""


def _ask_below_one(text: str, value: Any, usual: float | None) -> Any:
    """0.4 in a box of per cent may be 40 %: it is asked about, unless shares as small are usual."""
    if usual is None or not isinstance(value, float) or not 0 < abs(value) < 0.01:
        return value
    if usual and abs(value) * 10 >= abs(usual):
        return value
    return f"{text}: {text} % or {value * 10_000:.6g} %?"


def _convert(field_type: str, values: list[str], scale: str) -> Any:
    last = values[-1].strip()
    if field_type == "number":
        return number(last, scale)
    if field_type == "numbers":
        return numbers(last)
    if field_type == "choices":
        parts = (part.strip() for value in values for part in _SEPARATOR.split(value))
        return [part for part in parts if part]
    if field_type == "flag":
        return last in ("1", "true", "on", "yes")
    if field_type == "nothing":
        return _NOTHING.get(last, last)
    return last


_START_OF_RUN = re.compile(r"workload\.runs\.\d+\.start")
_NOTHING: Mapping[str, Any] = {"none": [], "default": {}}
"""Words in which an address writes an empty list and an empty group."""


def drop_empty(query: QueryDict, *without: str) -> QueryDict:
    """The address without empty values and without the names given."""
    tidy = QueryDict(mutable=True)
    for name, values in query.lists():
        filled = [value for value in values if value.strip()]
        if filled and name not in without:
            tidy.setlist(name, filled)
    return tidy


def with_start(query: QueryDict) -> QueryDict:
    """An address that names runs and no start begins with the first of them."""
    starts = [value for name, value in query.items() if _START_OF_RUN.fullmatch(name)]
    if "start" in query or not starts:
        return query
    dated = query.copy()
    dated["start"] = min(map(str, starts))
    return dated


def find_typed(query: QueryDict, path: str, scale: str = "") -> str:
    """What the address has for a path, in the unit `scale` whichever it is written in; a text that
    is no number as it is.
    """
    name = next((name for name in query if name.partition("~")[0] == path), "")
    text, written_in = query.get(name, ""), name.partition("~")[2]
    value = number(text, written_in) if text and written_in != scale else text
    if isinstance(value, str):
        return text
    return f"{(Decimal(str(value)) / SCALES.get(scale, Decimal(1))).normalize():f}"


def write(query: QueryDict | Mapping[str, Any], **changes: Any) -> str:
    """The same address with some names changed, a list by its name once for each value; None takes
    a name out."""
    pairs: list[tuple[str, str]] = []
    source = query.lists() if isinstance(query, QueryDict) else query.items()
    for name, value in source:
        if name not in changes:
            pairs += [(name, str(one)) for one in _list(value) if str(one).strip()]
    for name, value in changes.items():
        if value is not None:
            pairs += [(name, str(one)) for one in _list(value)]
    return urlencode(pairs)


def _list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list | tuple) else [value]


def flatten(request: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """The names and values of a request: the way back from a request to its address."""
    pairs: list[tuple[str, str]] = []
    for key, value in request.items():
        pairs += _flat(f"{prefix}{key}", value)
    return pairs


def _flat(name: str, value: Any) -> list[tuple[str, str]]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return flatten(value, f"{name}.") if value else [(name, "default")]
    if isinstance(value, list | tuple):
        if not value:
            return [(name, "none")]
        if any(isinstance(one, Mapping) for one in value):
            return [pair for i, one in enumerate(value) for pair in _flat(f"{name}.{i}", one)]
        if all(isinstance(one, int | float) for one in value):
            return [(name, " ".join(_text(one) for one in value) + ";" * (len(value) == 1))]
        return [(name, _text(one)) for one in value]
    return [(name, _text(value))]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return write_out(value) if isinstance(value, float) else without_invisible(str(value))


Schema = Mapping[str, Any]


def schema_forms(schema: Schema, definitions: Schema) -> Iterator[Schema]:
    if "$ref" in schema:
        yield from schema_forms(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        for choice in choices:
            yield from schema_forms(choice, definitions)
    elif schema.get("type") != "null":
        yield schema


def field_type(forms: list[Schema], definitions: Schema) -> str:
    """number, numbers, flag, choices, nothing or text."""
    types = {str(one.get("type")) for one in forms}
    lists = [one for one in forms if one.get("type") == "array"]
    if lists:
        items = schema_forms(lists[0].get("items", {}), definitions)
        below = {str(one.get("type")) for one in items}
        if below & {"number", "integer"}:
            return "numbers"
        return "nothing" if "object" in below else "choices"
    if types & {"number", "integer"}:
        return "number"
    if "boolean" in types:
        return "flag"
    return "nothing" if types == {"object"} else "text"
