"""`make budget`: the processor time of the tests by file, and every test above the ceiling.

Processor time, of this process and of those that it waited for, so that a busy machine says much
the same as a quiet one. It reports; nothing fails by it.
"""

import os
import time
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest

CEILING_S = 1.0
"""What a test may take without a reason: a hundredth of what all may take together."""
MOST_FILES = 25
_PROPERTY = "processor_s"


def _spent_s() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def _measured(item: pytest.Item) -> Generator[None, Any, Any]:
    began_s = _spent_s()
    try:
        return (yield)
    finally:
        item.user_properties.append((_PROPERTY, _spent_s() - began_s))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _measured(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _measured(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    return (yield from _measured(item))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "teardown":
                times = (value for name, value in report.user_properties if name == _PROPERTY)
                tests[report.nodeid] += sum(times)
    files: Counter[str] = Counter()
    for test, seconds in tests.items():
        files[test.partition("::")[0]] += seconds
    _write(terminalreporter, f"Processor time of the tests: {sum(files.values()):.0f} s", files)
    dear = Counter({test: seconds for test, seconds in tests.items() if seconds > CEILING_S})
    _write(terminalreporter, f"Tests above {CEILING_S:.1f} s: {len(dear)}", dear)


def _write(terminal: Any, title: str, seconds: Counter[str]) -> None:
    terminal.section(title)
    for name, value in seconds.most_common(MOST_FILES):
        terminal.write_line(f"{value:7.2f} {name}")
