"""Which modules are mutated, and the tests that state what those do.

Of these a mutant meets those alone that reach the function it changes (`reach.py`).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

_ANALYSIS = "tests/planner/costing/analysis"
_COMPARED = "tests/planner/comparison"
_EXPORTS = "tests/planner/exports"
_KEPT = "tests/golden/test_kept_answers.py"

TARGETS: Mapping[str, tuple[str, ...]] = {
    "planner/costing/cost_model": (
        "tests/planner/costing/cost_model",
        _ANALYSIS,
        f"{_COMPARED}/test_break_even.py",
        f"{_COMPARED}/test_rental.py",
        f"{_COMPARED}/test_purchase.py",
        f"{_COMPARED}/finance/test_worked_example.py",
        f"{_COMPARED}/existing/test_existing.py",
        f"{_COMPARED}/level/test_other_costs.py",
        _KEPT,
    ),
    "planner/exports": (
        _EXPORTS,
        "tests/golden/test_csv.py",
        "tests/golden/test_focus.py",
        "tests/golden/test_workbook.py",
    ),
    "planner/web/common/query_codec.py": ("tests/planner/web/common/test_query_codec.py",),
    "planner/costing/analysis": (
        _ANALYSIS,
        f"{_COMPARED}/test_risk.py",
        f"{_COMPARED}/test_drivers.py",
        f"{_COMPARED}/test_break_even.py",
        f"{_COMPARED}/test_project_end.py",
        f"{_COMPARED}/finance",
        _KEPT,
    ),
}
"""Part, a folder or a module → the tests of its modules."""


def modules() -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Each module to mutate, with its own doctests and the tests of its part."""
    for part, tests in TARGETS.items():
        for path in sorted(Path(part).glob("*.py")) or [Path(part)]:
            if path.read_text().strip():
                yield path, (str(path), *tests)
