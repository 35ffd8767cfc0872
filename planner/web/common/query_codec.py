"""The address of a page is the request: `workload.tokens~bn=150` is workload.tokens = 1.5e11.

A name is the dotted path of the contract's request. A suffix says the unit a person types in:
`~pct` per cent, `~k` thousand, `~mn` million, `~bn` billion, `~tn` trillion. Nothing is judged
here: text that is no number goes to the core as it is, and is refused there by its path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

SCALES = {
    "pct": Decimal("0.01"),
    "k": Decimal(10**3),
    "mn": Decimal(10**6),
    "bn": Decimal(10**9),
    "tn": Decimal(10**12),
}
_SEPARATORS = re.compile(r"[\s,;]+")
_BETWEEN_NUMBERS = re.compile(r"[^\S\u00a0]*(?:[^\S\u00a0]|;|,(?!\d{3}\b))[^\S\u00a0]*")
"""White space, a semicolon, or a comma that does not group thousands."""
_GROUPED = re.compile(r"^[+-]?\d{1,3}([,_ \u00a0]\d{3})+(\.\d+)?$")


def number(text: str, scale: str = "") -> int | float | str:
    """What was typed as a number, exactly scaled; the text itself where it is none.

    >>> number("1,250,000"), number("8", "pct"), number("8 %"), number("7e9"), number("many")
    (1250000, 0.08, 0.08, 7000000000, 'many')
    """
    tidy = text.strip()
    if tidy.endswith("%") and scale in ("", "pct"):
        tidy, scale = tidy[:-1].rstrip(), "pct"
    if _GROUPED.match(tidy):
        tidy = re.sub(r"[,_ \u00a0]", "", tidy)
    try:
        value = Decimal(tidy)
    except InvalidOperation:
        return text.strip()
    if not value.is_finite():
        return text.strip()
    value *= SCALES.get(scale, Decimal(1))
    return int(value) if value == value.to_integral_value() else float(value)


def numbers(text: str) -> int | float | str | list[int | float | str]:
    """One number, or a column of them as pasted from a spreadsheet.

    >>> numbers("100"), numbers("100\\n200\\t0.5"), numbers("1,000\\n2,000"), numbers("100;")
    (100, [100, 200, 0.5], [1000, 2000], [100])
    >>> numbers("100 200 300"), numbers("10,20"), numbers("1,250,000")
    ([100, 200, 300], [10, 20], 1250000)
    """
    tidy = text.strip()
    values = [number(part) for part in _BETWEEN_NUMBERS.split(tidy) if part]
    is_one = len(values) == 1 and not tidy.endswith(";")
    return values[0] if is_one else values


def parts(text: str) -> list[str]:
    """A list typed in one line: `us-east-1, us-west-2`."""
    return [part for part in _SEPARATORS.split(text.strip()) if part]


Convert = Callable[[str], Any]


def _insert(tree: dict[str, Any], path: list[str], value: Any) -> None:
    """A name given both as a value and as a group keeps the value, which the core refuses."""
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
    """Mappings whose keys are all whole numbers become lists, in that order, gaps closed."""
    if not isinstance(tree, dict):
        return tree
    below = {key: _close_lists(value) for key, value in tree.items()}
    if below and all(key.isdigit() for key in below):
        return [below[key] for key in sorted(below, key=int)]
    return below


def read(query: QueryDict, field_types: Mapping[str, str]) -> dict[str, Any]:
    """The request of a query string. `field_types` gives the type of value of each path, with
    list positions written as `*` and everything below a name as `**`: text, number, numbers,
    words, flag, choices, or nothing (an empty list or group).

    An empty value is an absent one; a path not in `field_types` is passed on as text, so that
    the core can refuse it by name.
    """
    tree: dict[str, Any] = {}
    for name in query:
        path, _, scale = name.partition("~")
        values = [value for value in query.getlist(name) if value.strip()]
        if not values:
            continue
        segments = path.split(".")
        pattern = ".".join("*" if s.isdigit() else s for s in segments)
        field_type = field_types.get(pattern) or field_types.get(f"{segments[0]}.**", "text")
        _insert(tree, segments, _convert(field_type, values, scale))
    request = _close_lists(tree)
    return request if isinstance(request, dict) else {}


def _convert(field_type: str, values: list[str], scale: str) -> Any:
    last = values[-1].strip()
    if field_type == "number":
        return number(last, scale)
    if field_type == "numbers":
        return numbers(last)
    if field_type == "words":
        return [part for value in values for part in parts(value)]
    if field_type == "choices":
        return values
    if field_type == "flag":
        return last in ("1", "true", "on", "yes")
    if field_type == "nothing":
        return _NOTHING.get(last, last)
    return last


_NOTHING: Mapping[str, Any] = {"none": [], "default": {}}
"""Words in which an address writes an empty list and an empty group."""


FORMER_NAMES = {"risk.tail_weight": "risk.cvar_weight"}
"""Fields that older links call otherwise."""


def drop_empty(query: QueryDict, *without: str) -> QueryDict:
    """The address without empty values and without the names given, in today's names."""
    tidy = QueryDict(mutable=True)
    for name, values in query.lists():
        filled = [value for value in values if value.strip()]
        if filled and name not in without:
            tidy.setlist(FORMER_NAMES.get(name, name), filled)
    return tidy


def write(query: QueryDict | Mapping[str, Any], **changes: Any) -> str:
    """The same address with some names changed; None takes a name out."""
    pairs: list[tuple[str, str]] = []
    source = query.lists() if isinstance(query, QueryDict) else query.items()
    for name, value in source:
        if name in changes:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [(name, str(one)) for one in values if str(one).strip()]
    pairs += [(name, str(value)) for name, value in changes.items() if value is not None]
    return urlencode(pairs)


def flatten(request: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """The names and values of a request: the way back from a request to its address.

    >>> flatten({"workload": {"kind": "training", "runs": [{"count": 2}]}, "regions": ["a"]})
    [('workload.kind', 'training'), ('workload.runs.0.count', '2'), ('regions', 'a')]
    """
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
        return [(name, str(one)) for one in value]
    return [(name, _text(value))]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
