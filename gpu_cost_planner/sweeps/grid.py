"""The requests of a sweep: one for each combination of values."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from gpu_cost_planner.plain import plain_values
from planner.contract.request.comparison import read_request
from pricing.common.invalid_input import InvalidInput

Fields = dict[str, Any]


@dataclass(frozen=True)
class Variation:
    """One request of a sweep."""

    values: Mapping[str, Any]
    """Dotted field → its value here."""
    request: Fields

    def key(self, context: str) -> str:
        """Name of its result in a journal: the same for the same request in the same context."""
        text = json.dumps([context, self.request], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def list_variations(
    request: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]
) -> list[Variation]:
    """A request for each combination of the grid's values, the last field varying fastest.

    A field is a dotted path, a number in it a place in a list: `on_prem.servers.0.unit_price`.
    Raises `InvalidInput` for a field without values, a path that leads nowhere, and a request
    whose fields are refused; what the market refuses is found when it is compared.

    >>> work = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 100}
    >>> grid = {"finance.discount_rate_per_year": [0.05, 0.1], "horizon_months": [12]}
    >>> [dict(one.values) for one in list_variations({"workload": work}, grid)]
    [{'finance.discount_rate_per_year': 0.05, 'horizon_months': 12},
     {'finance.discount_rate_per_year': 0.1, 'horizon_months': 12}]
    """
    if not grid:
        raise InvalidInput("grid", "is empty; give at least one field with its values")
    return list(_build(request, {name: _list(name, values) for name, values in grid.items()}))


def _list(field: str, values: Any) -> list[Any]:
    """The values of a field: of a list, a range, an array or a series."""
    is_list = isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping)
    listed = [plain_values(one) for one in values] if is_list else []
    if not listed:
        raise InvalidInput(field, f"{values!r} is no list of values; give at least one")
    return listed


def _build(request: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]) -> Iterator[Variation]:
    for combination in product(*grid.values()):
        values = dict(zip(grid, combination, strict=True))
        varied = copy.deepcopy(dict(request))
        for field, value in values.items():
            _set(varied, field, value)
        read_request(varied)
        yield Variation(values, varied)


def _set(fields: Fields, path: str, value: Any) -> None:
    """Set a dotted field; sections that are absent are made, lists are not."""
    *sections, last = path.split(".")
    place: Any = fields
    for name in sections:
        place = _enter(place, name, path)
    if isinstance(place, list):
        place[_index(place, last, path)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise InvalidInput(path, f"{last!r} is not inside a section or a list of the request")


def _enter(place: Any, name: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_index(place, name, path)]
    if isinstance(place, dict):
        if place.get(name) is None:
            place[name] = {}
        return place[name]
    raise InvalidInput(path, f"{name!r} is not inside a section or a list of the request")


def _index(place: list[Any], name: str, path: str) -> int:
    if not name.isdecimal() or int(name) >= len(place):
        allowed = f"0 to {len(place) - 1}" if place else "none, the list is empty"
        raise InvalidInput(path, f"{name!r} is no place in the list; allowed are {allowed}")
    return int(name)
