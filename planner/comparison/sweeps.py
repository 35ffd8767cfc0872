"""Sweeps: a request for each combination of some values, and the row that an answer comes to."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice, product
from typing import Any

from planner.contract.answer.common import ScenarioKey
from planner.contract.answer.comparison import ComparisonAnswer
from pricing.common.invalid_input import InvalidInput

Fields = dict[str, Any]


def vary(
    request: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]],
    start: int = 0,
    stop: int | None = None,
) -> Iterator[tuple[Fields, Fields]]:
    """The values and the request of each combination of the grid's values, the last field varying
    fastest; of those from `start` to `stop`.

    A field is a dotted path, a number in it a position in a list: `on_prem.servers.0.unit_price`.
    Raises `InvalidInput` for a path that leads nowhere.

    >>> grid = {"finance.discount_rate_per_year": [0.05, 0.1], "horizon_months": [12]}
    >>> next(vary({"name": "a"}, grid, 1))
    ({'finance.discount_rate_per_year': 0.1, 'horizon_months': 12},
     {'name': 'a', 'finance': {'discount_rate_per_year': 0.1}, 'horizon_months': 12})
    """
    for values in combine(grid, start, stop):
        varied = copy.deepcopy(dict(request))
        for field, value in values.items():
            *sections, last = field.split(".")
            place: Any = varied
            for name in sections:
                place = _enter(place, name, field)
            if isinstance(place, list):
                place[_index(place, last, field)] = value
            elif isinstance(place, dict):
                place[last] = value
            else:
                raise _not_inside(field, last)
        yield values, varied


def combine(
    grid: Mapping[str, Sequence[Any]], start: int, stop: int | None = None
) -> Iterator[Fields]:
    """The values of each combination."""
    for combination in islice(product(*grid.values()), start, stop):
        yield dict(zip(grid, combination, strict=True))


def _enter(place: Any, name: str, path: str) -> Any:
    if isinstance(place, list):
        return place[_index(place, name, path)]
    if isinstance(place, dict):
        if place.get(name) is None:
            place[name] = {}
        return place[name]
    raise _not_inside(path, name)


def _not_inside(path: str, name: str) -> InvalidInput:
    return InvalidInput(path, f"{name!r} is not inside a section or a list of the request")


def _index(place: list[Any], name: str, path: str) -> int:
    if not (name.isascii() and name.isdecimal() and len(name) < 6 and int(name) < len(place)):
        allowed = f"0 to {len(place) - 1}" if place else "none, the list is empty"
        raise InvalidInput(path, f"{name!r} is no place in the list; allowed are {allowed}")
    return int(name)


_FIGURES = (
    *("total_cost", "within_horizon", "owed_after", "net_present_cost"),
    "levelised_cost_per_accelerator_hour",
)
"""Of the advised scenario."""
_VERDICT = ("capital_to_approve", "obligation_to_sign")
_TOTALS = tuple(f"total_{key.value}" for key in ScenarioKey)
MONEY = (*_FIGURES, "saving", *_VERDICT, *_TOTALS)
COLUMNS = ("recommended", *MONEY, "payback", "confidence", "headline", "currency")
"""Figures of a sweep's row."""


def summarize(answer: ComparisonAnswer) -> Fields:
    """The row of an answer as plain JSON values; null where a figure has no meaning."""
    best = answer.recommendation
    advised = next((one for one in answer.scenarios if one.key == best.scenario), None)
    verdict = answer.verdict
    totals = {one.key: one.total_cost for one in answer.scenarios}
    row: Fields = dict.fromkeys(COLUMNS)
    row |= {name: _text(getattr(advised, name, None)) for name in _FIGURES}
    row |= {name: _text(getattr(verdict, name, None)) for name in _VERDICT}
    row |= {f"total_{key.value}": _text(totals.get(key)) for key in ScenarioKey}
    return row | {
        "recommended": best.scenario.value if best.scenario else None,
        "saving": _text(best.saving) if best.scenario else None,
        "payback": verdict.payback if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "headline": verdict.headline if verdict else best.headline,
        "currency": answer.currency,
    }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"
