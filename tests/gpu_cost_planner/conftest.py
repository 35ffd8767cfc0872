from collections.abc import Iterator

import pytest

from tests.planner.answers_once import compare_once
from tests.planner.solved_once import solving_once


@pytest.fixture(autouse=True, scope="module")
def _solved_once() -> Iterator[None]:
    """Equal models share their solution."""
    with solving_once():
        yield


@pytest.fixture(autouse=True)
def _answers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Library, command and tools of assistants share the answers of equal questions."""
    for module in ("planner.comparison", "gpu_cost_planner.assistants.tools"):
        monkeypatch.setattr(f"{module}.compare", compare_once)
