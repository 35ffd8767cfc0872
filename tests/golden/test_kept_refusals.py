"""Requests that are wrong in one place keep their refusals: each field of rich requests is left out
or given a value of each wrong sort in turn, and `kept_refusals.json` holds what is said of it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from planner.contract.request.comparison import read_request
from planner.contract.request.portfolio import read_portfolio
from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput
from tests.golden.answers import RICH
from tests.golden.kept import assert_kept

ABSENT = object()
WRONG: tuple[Any, ...] = (
    *(ABSENT, None, -1, 0, 1.5, 3e12, "", "nowhere", "2027-13", True),
    *([], {}, [-1], {"unknown": 1}),
)
"""One of each sort that is wrong somewhere: the fields that take it say nothing."""
READERS = {
    **{f"comparison, {name}": (read_request, one) for name, one in RICH["comparisons"].items()},
    **{
        f"estimate, {name}": (estimate, {"workload": one})
        for name, one in RICH["workloads"].items()
    },
    "portfolio": (read_portfolio, RICH["portfolio"]),
}


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field of a request, of a list its first entry."""
    if path:
        yield path
    inner = part.items() if isinstance(part, dict) else enumerate(part[:1])
    for key, value in inner if isinstance(part, dict | list) else ():
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))
        else:
            yield (*path, key)


def changed(request: Any, path: tuple[Any, ...], value: Any) -> Any:
    again = json.loads(json.dumps(request))
    part = again
    for key in path[:-1]:
        part = part[key]
    if value is ABSENT:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return again


def refusals(read: Any, request: Any) -> Iterator[tuple[str, list[str]]]:
    for path in places(request):
        for value in WRONG:
            shown = "absent" if value is ABSENT else json.dumps(value)
            try:
                read(changed(request, path, value))
            except InvalidInput as refusal:
                said = [f"{one.field}: {one.message} ({one.code})" for one in refusal.all()]
                yield f"{'.'.join(map(str, path))} = {shown}", said


@pytest.mark.parametrize("name", READERS)
def test_refusals_keep_their_words(name: str) -> None:
    read, request = READERS[name]
    read(request)
    assert_kept("kept_refusals.json", name, dict(refusals(read, request)))
