"""The Python examples of the documentation run, page by page, on a small market."""

import datetime as dt
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from gpu_cost_planner import compare
from planner.contract.validation import parse
from planner.sizing.estimate import EstimateRequest, estimate
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


def test_the_hours_that_the_estimate_guide_names_are_those_of_its_example() -> None:
    page = (ROOT / "docs" / "guides" / "estimate.md").read_text()
    block = re.search(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert block
    request = tomllib.loads(block[1])
    for count, words in ((512, "about {} of the 2,190 hours"), (256, "would take {} hours")):
        size = estimate(parse(EstimateRequest, request | {"accelerators": count})).size
        assert size
        assert words.format(f"{size.wall_clock_hours:,.0f}") in page
    del request["accelerators"]
    least = estimate(parse(EstimateRequest, request)).size
    assert least
    assert f"without a number, {least.accelerators} are taken" in page


def test_the_first_answer_that_the_documents_show_is_the_answer() -> None:
    """At the bundled prices; the day is one on which the documents were read."""
    example = ROOT / "tests" / "examples" / "finetune.toml"
    verdict = compare(str(example), today=dt.date(2026, 11, 23)).verdict
    assert verdict
    for page in ("README.md", "docs/getting-started.md"):
        shown = " ".join((ROOT / page).read_text().split())
        assert verdict.sentence in shown, page
        assert all(reason in shown for reason in verdict.reasons), page
