"""Which cases of a table run in `make test`, and which in `make sweep`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.conftest import pytest_itemcollected


class Case:
    """As much of a collected test as is asked for."""

    def __init__(self, number: int, *marks: pytest.MarkDecorator) -> None:
        self.nodeid = f"tests/test_table.py::test_a_row[{number}]"
        self.marks: list[Any] = [one.mark for one in marks]

    def get_closest_marker(self, name: str) -> Any:
        return next((one for one in self.marks if one.name == name), None)

    def add_marker(self, marker: pytest.MarkDecorator) -> None:
        self.marks.append(marker.mark)


def left_to_the_sweep(monkeypatch: pytest.MonkeyPatch, *marks: pytest.MarkDecorator) -> list[int]:
    monkeypatch.setattr("tests.conftest._cases", Counter())
    cases = [Case(number, *marks) for number in range(7)]
    for case in cases:
        pytest_itemcollected(case)  # type: ignore[arg-type]
    return [number for number, case in enumerate(cases) if case.get_closest_marker("sweep")]


def test_every_third_case_runs_the_first_among_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FUZZ", raising=False)
    assert left_to_the_sweep(monkeypatch, pytest.mark.one_in(3)) == [1, 2, 4, 5]
    assert left_to_the_sweep(monkeypatch) == []


def test_the_long_form_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUZZ", "1")
    assert left_to_the_sweep(monkeypatch, pytest.mark.one_in(3)) == []
