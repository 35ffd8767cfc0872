from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from tests.planner.answers_once import compare_in_steps_once, plan_once
from tests.planner.solved_once import solving_once

if TYPE_CHECKING:
    from tests.planner.workspace import Workspace


@pytest.fixture(autouse=True)
def _answers_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a database, pages, API and services share the answers of equal questions."""
    if "db" in request.fixturenames or request.node.get_closest_marker("django_db"):
        name = "planner.services.projects.comparisons.compare_in_steps"
        monkeypatch.setattr(name, compare_in_steps_once)
        monkeypatch.setattr("planner.services.portfolio.portfolios.plan_portfolio", plan_once)


@pytest.fixture(autouse=True, scope="module")
def _solved_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Equal models share their solution, but where the optimiser, or that it answers twice alike,
    is tested."""
    solves_anew = {"optimizer", "test_worst_requests.py"} & {*request.path.parts}
    with nullcontext() if solves_anew else solving_once():
        yield


@pytest.fixture
def months_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads of months that lie ahead count as of months that are over, whatever the day."""
    name = "planner.services.actuals.actuals.find_open_months"
    monkeypatch.setattr(name, lambda project, currency: frozenset())


@pytest.fixture
def work(db) -> Workspace:
    """A small market, and a team at work in it; `make pure` has no Django to import them with."""
    from tests.planner.workspace import Workspace, market

    market()
    return Workspace("alpha")
