"""The same model is solved once for all tests of a process.

Requests that differ in a limit or a word lead to the same few models. A solution depends on
nothing but the model, how far the search goes and whether work is left: what it took is charged
again, step by step. Tests of the optimiser itself solve anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import pytest

from planner.costing.optimizer.model import Model, Solution
from planner.costing.optimizer.work import WorkMeter

MOST_LOOKS = 500.0
"""Columns, squared, for which a look of the search may count once more than what it charges."""
_solutions: dict[bytes, Solved] = {}
_solve = Model.solve


@dataclass(frozen=True)
class Solved:
    solution: Solution
    charges: list[float]
    enough: float
    """Units of work with which no limit of it is felt."""


class Recorder(WorkMeter):
    """A part of a meter that notes each charge."""

    def __init__(self, parent: WorkMeter) -> None:
        super().__init__(parent=parent, stops=False)
        self.charges: list[float] = []

    def charge(self, units: float) -> None:
        self.charges.append(units)
        super().charge(units)


def solve_once(model: Model, work: WorkMeter, **options: Any) -> Solution:
    """In the place of `Model.solve`; nothing is kept that work, or patience, ended."""
    key = _key(model, options)
    solved = _solutions.get(key)
    if solved is None or min(work.remaining, work.stop_after) < solved.enough:
        recorder = Recorder(work)
        solution = _solve(model, recorder, **options)
        if not recorder.left_out:
            enough = sum(recorder.charges) * (2 + model.column_count**2 / MOST_LOOKS)
            _solutions[key] = Solved(_copy(solution), recorder.charges, enough)
        return solution
    for units in solved.charges:
        work.charge(units)
    work.check()
    return _copy(solved.solution)


def _copy(solution: Solution) -> Solution:
    values = solution.values
    return solution if values is None else replace(solution, values=values.copy())


def _key(model: Model, options: dict[str, Any]) -> bytes:
    digest = blake2b(digest_size=16)
    for parts in (model._columns, model._rows, model._entries):
        for part in parts:
            for values in part:
                digest.update(b"|")
                digest.update(np.ascontiguousarray(values))
    for name, value in sorted(options.items()):
        digest.update(f"{name}={value.tobytes() if hasattr(value, 'tobytes') else value}".encode())
    return digest.digest()


@contextmanager
def solving_once() -> Iterator[None]:
    """Not where mutants are tested: a test has to enter all that it needs."""
    with pytest.MonkeyPatch.context() as patch:
        if "tests.mutants.runner" not in sys.modules:
            patch.setattr(Model, "solve", solve_once)
        yield
