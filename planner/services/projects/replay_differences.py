"""Where an answer that is computed again says something else than the saved one. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from planner.contract.answer.changes import ReplayDifference
from planner.services.projects.replay_versions import find_fields_left_out

_LAST_DIGITS = 1e-9
"""Relative difference of two numbers that are no money below which they are one."""


def list_answer_differences(
    saved: Mapping[str, Any], replayed: Mapping[str, Any], version: int
) -> Iterator[ReplayDifference]:
    """Where a replayed comparison does not say what the saved one does, which was saved in the form
    of `version`."""
    names = find_fields_left_out(version)
    return list_differences("", _comparable(saved, names), _comparable(replayed, names))


def _comparable(answer: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    """An answer without what is left out, its sensitivities in the order of their fields: two
    that reach equally far stand in the order that the last digits of their figures gave."""
    bars = sorted(answer.get("sensitivity") or (), key=lambda bar: str(bar["field"]))
    return {**_leave_out(dict(answer), left_out), "sensitivity": _leave_out(bars, left_out)}


def _leave_out(value: Any, names: frozenset[str]) -> Any:
    """JSON without the fields of these names, however deep they stand."""
    if isinstance(value, dict):
        return {k: _leave_out(v, names) for k, v in value.items() if k not in names}
    if isinstance(value, list):
        return [_leave_out(v, names) for v in value]
    return value


def list_differences(path: str, saved: Any, replayed: Any) -> Iterator[ReplayDifference]:
    """Where `replayed` does not say what was kept. What an answer says more today is no difference,
    nor are the last digits of a number that is no money: they vary by processor."""
    if isinstance(saved, dict) and isinstance(replayed, dict):
        for name, value in saved.items():
            yield from list_differences(f"{path}.{name}".strip("."), value, replayed.get(name))
    elif (rows := _by_field(saved)) and (other := _by_field(replayed)) and len(rows) == len(other):
        yield from list_differences(path, rows, other)
    elif isinstance(saved, list) and isinstance(replayed, list) and len(saved) == len(replayed):
        for index, pair in enumerate(zip(saved, replayed, strict=True)):
            yield from list_differences(f"{path}.{index}", *pair)
    elif saved != replayed and not _is_nearly_equal(saved, replayed):
        yield ReplayDifference(field=path, kept=saved, replayed=replayed)


def _by_field(rows: Any) -> dict[str, Any]:
    """Rows that each name a field of their own, by that field: rows of one size change places with
    the last digits; empty for anything else."""
    if not isinstance(rows, list) or not all(isinstance(r, dict) and "field" in r for r in rows):
        return {}
    by_field = {row["field"]: row for row in rows}
    return by_field if len(by_field) == len(rows) else {}


def _is_nearly_equal(saved: Any, replayed: Any) -> bool:
    numbers = isinstance(saved, int | float) and isinstance(replayed, int | float)
    return numbers and math.isclose(saved, replayed, rel_tol=_LAST_DIGITS)
