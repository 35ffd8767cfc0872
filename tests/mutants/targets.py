"""Which modules are mutated, and which tests cover each: the quickest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

COST_MODEL = (
    "tests/planner/costing/cost_model",
    "tests/planner/comparison/test_rental.py",
    "tests/planner/comparison/test_purchase.py",
    "tests/planner/comparison/test_carbon.py",
    "tests/planner/comparison/test_break_even.py",
    "tests/golden/test_csv.py",
)
EXPORTS = (
    "tests/planner/exports/test_focus.py",
    "tests/golden/test_csv.py",
    "tests/golden/test_focus.py",
    "tests/golden/test_workbook.py",
    "tests/planner/exports/test_tables.py",
)
QUERY_CODEC = ("tests/planner/web/common/test_query_codec.py",)
ANALYSIS = (
    "tests/planner/costing/analysis",
    "tests/planner/comparison/test_carbon.py",
    "tests/planner/comparison/test_break_even.py",
    "tests/planner/comparison/test_risk.py",
    "tests/planner/comparison/test_sensitivity.py",
    "tests/planner/comparison/test_robust.py",
)
TARGETS = {
    "planner/costing/cost_model": COST_MODEL,
    "planner/exports": EXPORTS,
    "planner/web/common/query_codec.py": QUERY_CODEC,
    "planner/costing/analysis": ANALYSIS,
}

OWN_TESTS = {"planner/exports/saved_context.py": ("tests/planner/exports/test_standing.py",)}
"""Tests with a database, run for the one module that needs them."""


def modules() -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Each module to mutate, with its own doctests and the tests that cover it."""
    for name, tests in TARGETS.items():
        place = Path(name)
        paths = [place] if place.suffix == ".py" else sorted(place.glob("*.py"))
        for path in paths:
            if path.read_text().strip():
                yield path, (str(path), *OWN_TESTS.get(str(path), ()), *tests)
