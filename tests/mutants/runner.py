"""Runs the tests of each mutant in a process of its own, forked where all that it needs is loaded.

First the tests run once on unchanged code: they must pass, and it is noted which functions each
enters (`reach`). Of a mutant those tests run that enter what it changes, up to the first failure.
Mutants of function bodies are forked from a process that has collected every test, others from
one that has only the libraries (`changed_code`).
"""

import contextlib
import importlib
import io
import os
import pickle
import resource
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from tests.mutants.changed_code import changes_bodies_alone, mutate_functions, mutate_import
from tests.mutants.mutations import Mutant
from tests.mutants.reach import Reach, measure_reach, select_tests
from tests.mutants.targets import modules

LIBRARIES = (
    "numpy", "pandas", "highspy", "pydantic", "django.test", "rest_framework", "hypothesis",
    "openpyxl", "xlsxwriter", "pytest_django.plugin", "playwright.sync_api",
    "markdown", "latex2mathml.converter", "celery", "allauth",
    "pricing.market.snapshot", "planner.sizing.demand",
    "planner.costing.assumptions.assumptions",
)  # fmt: skip
"""What the tests import and nothing here mutates; loaded once."""
LEAST_SECONDS, TIMES_AS_LONG = 10, 5
"""A mutant whose tests use so many seconds of the processor, and so many times what they use on
unchanged code, counts as killed: its loop does not end."""
OPTIONS = ("-q", "--assert=plain", "--hypothesis-seed=0", "-p", "no:cacheprovider")
"""Plain assertions: pytest would rewrite the modules whose doctests it runs, mutants left out."""
Job = tuple[Mutant, Sequence[str]]
"""A mutant and the list of its tests: files and folders."""
Found = Callable[[Mutant, bool], None]
"""Told of each mutant, in the order in which they end, whether a test noticed it."""
Items = Sequence[pytest.Item]
Name = TypeVar("Name")


def run(jobs: Sequence[Job], workers: int, found: Found) -> None:
    """Tells of each mutant whether a test noticed it; ends where tests fail without any."""
    _load_libraries()
    reached = _measure(jobs, workers)
    selected = {mutant: select_tests(mutant, tests, reached) for mutant, tests in jobs}
    in_place = {one: tests for one, tests in selected.items() if changes_bodies_alone(one)}
    _fork_all(
        {
            mutant: (partial(_import_and_test, mutant, tests), _limit(tests))
            for mutant, tests in selected.items()
            if mutant not in in_place
        },
        workers,
        found,
    )
    _with_collected(_files(in_place.values()), partial(_test_in_place, in_place, workers, found))


def _load_libraries() -> None:
    """Loads what all tests share, and nothing that is mutated."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in LIBRARIES:
        importlib.import_module(name)


def _measure(jobs: Sequence[Job], workers: int) -> list[Reach]:
    """What each test reaches, in the order in which pytest collects them."""
    files = sorted({test for _, tests in jobs for test in tests})
    paths = [path for path, _ in modules()]
    with TemporaryDirectory() as folder:

        def measure(items: Items) -> int:
            works = {
                name: (partial(_measure_some, some, paths, Path(folder) / f"{i:04}"), 600.0)
                for i, (name, some) in enumerate(_by_folder(items).items())
            }
            _fork_all(works, workers, _refuse_failure)
            return 0

        pid = _fork(lambda: _with_collected(files, measure), 1_200)
        if os.waitpid(pid, 0)[1]:
            sys.exit("The tests fail without any mutant: run them with pytest.")
        stored = sorted(Path(folder).iterdir())
        return [one for path in stored for one in pickle.loads(path.read_bytes())]


def _by_folder(items: Items) -> dict[str, list[pytest.Item]]:
    """Tests of one folder together: they read the same answers, which are kept once made."""
    folders: dict[str, list[pytest.Item]] = {}
    for item in items:
        folders.setdefault(str(item.path.parent), []).append(item)
    return folders


def _measure_some(items: Items, paths: Sequence[Path], to: Path) -> int:
    reached = list(measure_reach(items, paths))
    to.write_bytes(pickle.dumps(reached))
    return 0 if all(one.passed for one in reached) else 1


def _refuse_failure(folder: str, failed: bool) -> None:
    if failed:
        sys.exit(f"Tests in {folder} fail without any mutant: run them with pytest.")


def _import_and_test(mutant: Mutant, tests: Sequence[Reach]) -> int:
    mutate_import(mutant)
    return _with_collected(_files([tests]), partial(_run_up_to_a_failure, tests))


def _test_in_place(
    selected: Mapping[Mutant, Sequence[Reach]], workers: int, found: Found, items: Items
) -> int:
    by_test = {item.nodeid: item for item in items}

    def test(mutant: Mutant, tests: Sequence[Reach]) -> int:
        mutate_functions(mutant)
        return _run_up_to_a_failure(tests, [by_test[one.test] for one in tests])

    work = {one: (partial(test, one, tests), _limit(tests)) for one, tests in selected.items()}
    _fork_all(work, workers, found)
    return 0


def _run_up_to_a_failure(tests: Sequence[Reach], items: Items) -> int:
    """1 where a test fails. A mutant may have renamed the cases of a test: those come last."""
    place = {one.test: i for i, one in enumerate(tests)}
    ordered = sorted(items, key=lambda item: place.get(item.nodeid, len(place)))
    for item, following in zip(ordered, [*ordered[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return 1
    return 0


def _files(selections: Iterable[Sequence[Reach]]) -> list[str]:
    return sorted({one.file for tests in selections for one in tests})


def _limit(tests: Sequence[Reach]) -> float:
    """Seconds of the processor that the tests of a mutant may use."""
    return LEAST_SECONDS + TIMES_AS_LONG * sum(one.seconds for one in tests)


class _Plugin:
    """Does the work where pytest would run what it has collected."""

    def __init__(self, work: Callable[[Items], int]) -> None:
        self.work, self.status = work, 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if not session.testsfailed:  # else a file could not be imported
            self.status = self.work(session.items)
        return True


def _with_collected(files: Sequence[str], work: Callable[[Items], int]) -> int:
    """The status of the work; 1 where the tests cannot be collected."""
    if not files:
        return 0
    plugin = _Plugin(work)
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([*OPTIONS, *files], plugins=[plugin])
    return plugin.status


def _fork_all(
    works: Mapping[Name, tuple[Callable[[], int], float]],
    workers: int,
    ended: Callable[[Name, bool], None],
) -> None:
    """Does each work, within its seconds of the processor, in a process; so many at once."""
    waiting, running = list(reversed(works.items())), dict[int, Name]()
    while waiting or running:
        while waiting and len(running) < workers:
            name, (work, seconds) = waiting.pop()
            running[_fork(work, seconds)] = name
        pid, status = os.waitpid(-1, 0)
        if pid in running:
            ended(running.pop(pid), status != 0)


def _fork(work: Callable[[], int], seconds: float) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os._exit(work())
    finally:
        os._exit(1)
