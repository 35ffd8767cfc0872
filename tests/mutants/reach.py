"""Which tests reach which functions, and how long each takes: measured once, on unchanged code."""

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from types import FrameType

import pytest

from tests.mutants.changed_code import changed_functions, changes_bodies_alone
from tests.mutants.mutations import Mutant

Function = tuple[str, str]
"""Module's path and qualified name."""


@dataclass(frozen=True)
class Reach:
    """What one test reaches."""

    test: str
    """Its node in pytest's words."""
    seconds: float
    """Of the processor."""
    functions: frozenset[Function]
    passed: bool

    @property
    def file(self) -> str:
        """File of the test."""
        return self.test.partition("::")[0]


@dataclass
class Tracer:
    """Notes the functions of some modules that a thread enters."""

    paths: dict[str, str]
    """Absolute path → path in the repository."""
    entered: set[Function] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        path = self.paths.get(frame.f_code.co_filename)
        if path is not None:
            self.entered.add((path, frame.f_code.co_qualname.partition(".<locals>")[0]))


def measure_reach(items: Sequence[pytest.Item], modules: Sequence[Path]) -> Iterator[Reach]:
    """Runs each test and tells which functions of the modules it enters."""
    tracer = Tracer({str(path.resolve()): str(path) for path in modules})
    threading.settrace(tracer)  # type: ignore[arg-type]
    for item, following in zip(items, [*items[1:], None], strict=True):
        tracer.entered.clear()
        failed, start = item.session.testsfailed, time.process_time()
        sys.settrace(tracer)  # type: ignore[arg-type]
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            sys.settrace(None)
        seconds = time.process_time() - start
        passed = item.session.testsfailed == failed
        yield Reach(item.nodeid, seconds, frozenset(tracer.entered), passed)


def select_tests(mutant: Mutant, tests: Sequence[str], reached: Sequence[Reach]) -> list[Reach]:
    """The tests that can notice a mutant, of one file together, the quickest file first.

    What a module holds outside functions matters to those that enter it or a module that imports
    it, and to every one of the list where none does.
    """
    listed = [one for one in reached if _is_listed(one, tests)]
    path = str(mutant.path)
    if changes_bodies_alone(mutant):
        changed = {(path, name) for name in changed_functions(mutant)}
        return _quickest_first(one for one in listed if one.functions & changed)
    readers = {path} | {
        at
        for at in {at for one in listed for at, _ in one.functions}
        if _imports(at, mutant.module)
    }
    entering = [one for one in listed if any(at in readers for at, _ in one.functions)]
    return _quickest_first(entering or listed)


@cache
def _imports(path: str, module: str) -> bool:
    return f"from {module} import" in Path(path).read_text()


def _is_listed(one: Reach, tests: Sequence[str]) -> bool:
    return any(one.file == test or one.file.startswith(test + os.sep) for test in tests)


def _quickest_first(tests: Iterable[Reach]) -> list[Reach]:
    """What the tests of a file set up together they need once, so they stay together."""
    by_file = [list(group) for _, group in groupby(tests, key=lambda one: one.file)]
    by_file.sort(key=lambda group: sum(one.seconds for one in group))
    return [one for group in by_file for one in group]
