"""Dotted paths of fields in a request, in which a number is a position in a list. PURE."""

from __future__ import annotations

from typing import TypeVar, cast

from planner.contract.validation import RequestModel

T = TypeVar("T")


def with_value(part: T, path: str, value: object) -> T:
    """A request, or a part of it, with another value at a path.

    >>> from planner.contract.request.on_prem import OnPrem
    >>> own = OnPrem.model_validate({"already_owned": [{"server": "dgx-h100", "units": 4}]})
    >>> with_value(own, "already_owned.0.units", 2).already_owned[0].units
    2
    >>> with_value(own, "already_owned", ()).already_owned
    ()
    """
    first, _, rest = path.partition(".")
    if isinstance(part, tuple):
        at = int(first)
        return cast(T, (*part[:at], with_value(part[at], rest, value), *part[at + 1 :]))
    assert isinstance(part, RequestModel)
    changed = with_value(getattr(part, first), rest, value) if rest else value
    return cast(T, part.model_copy(update={first: changed}))
