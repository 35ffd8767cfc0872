"""The notebooks of the documentation run from top to bottom, and are stored without outputs."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read_code(path: Path) -> list[str]:
    cells = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """What a cell shows: the value of its last line, where that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def test_a_budget_a_purchase_a_portfolio_and_a_sweep_are_shown() -> None:
    names = {path.stem for path in NOTEBOOKS}
    assert names == {"fine-tuning-budget", "buy-or-rent", "portfolio", "what-if"}


@pytest.mark.sweep
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_something_in_every_cell(path: Path) -> None:
    names: dict[str, Any] = {}
    shown = [run_cell(source, names) for source in read_code(path)]
    assert all(value is not None for value in shown)
    tables = [value for value in shown if hasattr(value, "_repr_html_")]
    assert len(tables) >= 2
    assert all(len(value) for value in tables if hasattr(value, "columns"))
    assert all(table._repr_html_() for table in tables)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_no_outputs(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs")] == []
    assert len({cell["id"] for cell in cells}) == len(cells)
