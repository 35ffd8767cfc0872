"""Runs the tests of each mutant in a process of its own; no file is changed.

Most mutants change the body of a function: they are forked from a process that has imported every
module and test, and the function gets the changed body. What else a module holds (constants,
defaults, class bodies) is changed where it is imported: those are forked from a process that has
only the libraries.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from inspect import CO_OPTIMIZED
from types import CodeType, FunctionType

from tests.mutants.mutations import Mutant

LIBRARIES = (
    "numpy", "pandas", "highspy", "pydantic", "django.test", "rest_framework", "hypothesis",
    "openpyxl", "xlsxwriter", "pytest", "pytest_django.plugin", "playwright.sync_api",
    "markdown", "latex2mathml.converter", "celery", "allauth",
    "pricing.market.snapshot", "planner.contract.answer.versions", "planner.sizing.demand",
    "planner.costing.optimizer.stochastic", "planner.costing.assumptions.assumptions",
)  # fmt: skip
"""What the tests import and nothing here mutates; loaded once."""
TIMEOUT_SECONDS = 240
"""A mutant that runs longer counts as killed: its loop does not end."""
OPTIONS = ("-x", "-q", "--assert=plain", "--hypothesis-seed=0", "-p", "no:cacheprovider")
"""Plain assertions: pytest would rewrite the modules whose doctests it runs, mutants left out."""
Job = tuple[Mutant, Sequence[str]]


class _Loader(SourceFileLoader):
    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(mutant.path.resolve()))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.mutant.source, self.path, "exec")


class _Finder(MetaPathFinder):
    """Finds the mutant where its module is imported."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        is_package = self.mutant.path.stem == "__init__"
        location = [str(self.mutant.path.resolve().parent)] if is_package else None
        return importlib.util.spec_from_file_location(
            fullname,
            self.mutant.path.resolve(),
            loader=_Loader(fullname, self.mutant),
            submodule_search_locations=location,
        )


def load_libraries() -> None:
    """Loads what all tests share, and nothing that is mutated."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in LIBRARIES:
        importlib.import_module(name)


def load_tests(jobs: Sequence[Job]) -> None:
    """Imports every test of the jobs, and with them all that is mutated."""
    import pytest

    everything = dict.fromkeys(test for _, tests in jobs for test in tests)
    silent = io.StringIO()
    with contextlib.redirect_stdout(silent):
        status = pytest.main(["--collect-only", *OPTIONS, *everything])
    if status:
        sys.exit(silent.getvalue())


def run(jobs: Sequence[Job], workers: int) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant, in the order in which they end, and whether a test noticed it."""
    on_import = [job for job in jobs if not changes_bodies_alone(job[0])]
    yield from _run(on_import, workers, mutate_import)
    load_tests(jobs)
    in_place = [job for job in jobs if changes_bodies_alone(job[0])]
    yield from _run(in_place, workers, mutate_functions)


def _run(
    jobs: Sequence[Job], workers: int, mutate: Callable[[Mutant], None]
) -> Iterator[tuple[Mutant, bool]]:
    waiting, running = list(reversed(jobs)), dict[int, Mutant]()
    while waiting or running:
        while waiting and len(running) < workers:
            mutant, tests = waiting.pop()
            running[_fork(partial(_run_tests, mutant, tests, mutate))] = mutant
        pid, status = os.waitpid(-1, 0)
        if pid in running:
            yield running.pop(pid), os.waitstatus_to_exitcode(status) != 0


def _fork(work: Callable[[], int]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.alarm(TIMEOUT_SECONDS)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os._exit(work())
    finally:
        os._exit(1)


def _run_tests(mutant: Mutant, tests: Sequence[str], mutate: Callable[[Mutant], None]) -> int:
    import pytest

    mutate(mutant)
    return int(pytest.main([*OPTIONS, *tests]))


# Mutants where a module is imported -----------------------------------------------------------


def mutate_import(mutant: Mutant) -> None:
    """From now on the module of a mutant is imported as the mutant."""
    sys.meta_path.insert(0, _Finder(mutant))


# Mutants of functions already imported --------------------------------------------------------


def changes_bodies_alone(mutant: Mutant) -> bool:
    """Whether a mutant differs from its module in nothing but the bodies of functions."""
    original = compile(mutant.path.read_text(), "", "exec")
    return _outside_functions(original) == _outside_functions(compile(mutant.source, "", "exec"))


def _outside_functions(code: CodeType) -> list[object]:
    """Instructions and constants of a module and of its classes."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    plain = [(type(one), one) for one in code.co_consts if not isinstance(one, CodeType)]
    outside: list[object] = [code.co_code, plain, code.co_names]
    for one in inner:
        if not one.co_flags & CO_OPTIMIZED:
            outside += _outside_functions(one)
        elif one.co_name.startswith("<"):
            outside.append((one.co_code, one.co_consts))
    return outside


def mutate_functions(mutant: Mutant) -> None:
    """Gives the functions of an imported module the bodies of the mutant."""
    module = sys.modules[mutant.module]
    bodies = dict(_bodies(compile(mutant.source, str(mutant.path.resolve()), "exec")))
    for function in _functions(vars(module), module.__name__):
        if function.__qualname__ in bodies:
            function.__code__ = bodies[function.__qualname__]


def _bodies(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """Qualified name → body of each function of a module or class."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & CO_OPTIMIZED:
                yield one.co_qualname, one
            else:
                yield from _bodies(one)


def _functions(names: Mapping[str, object], module: str) -> Iterator[FunctionType]:
    for one in list(names.values()):
        if isinstance(one, type) and one.__module__ == module:
            yield from _functions(vars(one), module)
        for wrapped in (one, *(getattr(one, name, None) for name in _WRAPPED)):
            if isinstance(wrapped, FunctionType) and wrapped.__module__ == module:
                yield wrapped


_WRAPPED = ("__func__", "__wrapped__", "fget", "func")
"""Where methods, cached functions and properties keep what they wrap."""
