"""The Python examples of the documentation run, page by page, on a small market."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.planner.workspace import market

ROOT = Path(settings.BASE_DIR)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = {
    path.relative_to(ROOT).as_posix(): blocks
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if (blocks := "\n".join(PYTHON.findall(path.read_text()))) and "compare(request" in blocks
}
pytestmark = pytest.mark.django_db


def run_example(page: str) -> dict[str, Any]:
    """The names that a page's example defines, on a market whose price rose once."""
    market(as_of=dt.date(2026, 10, 1))
    market("57.00", as_of=dt.date(2026, 11, 1))
    names: dict[str, Any] = {}
    exec(compile(PAGES[page], page, "exec"), names)  # the repository's own pages
    return names


@pytest.mark.sweep
@pytest.mark.parametrize("page", PAGES)
def test_an_example_runs(page: str) -> None:
    assert run_example(page)["answer"].recommendation.scenario


def test_the_notebook_s_figures_are_those_of_the_answer() -> None:
    names = run_example("docs/guides/notebook.md")
    totals = {s.key.value: s.total_cost for s in names["answer"].answer.feasible}
    assert names["totals"].to_dict() == totals
    by_quarter = names["by_quarter"]["on_demand"].dropna()
    assert [str(quarter) for quarter in by_quarter.index[[0, -1]]] == ["2027Q1", "2028Q4"]
    assert by_quarter.sum() == pytest.approx(float(totals["on_demand"]))


def test_the_notebook_s_prices_are_those_in_force() -> None:
    names = run_example("docs/guides/notebook.md")
    assert names["at_month_end"].tolist() == [55.04, 57.0]
    assert names["in_force"]["price_per_hour"].tolist() == [55.04, 57.0]
    assert names["in_force"]["revision"].tolist() == [1, 2]
