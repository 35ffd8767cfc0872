"""Every number that sizing stands on says what it is, where it is from and of which year."""

import ast
import csv
import itertools
import re
from pathlib import Path

import pytest

import planner.sizing

PACKAGE = Path(planner.sizing.__file__).parent
YEAR = re.compile(r"\b(19|20)\d\d\b")
TABLES = sorted(PACKAGE.rglob("*.csv"))


def numbers(module):
    """(name, its docstring) of every constant of a module that holds a number."""
    body = ast.parse(module.read_text(encoding="utf-8")).body
    for statement, following in itertools.zip_longest(body, body[1:]):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, NUMERIC):
            names = [n.id for n in ast.walk(statement.targets[0]) if isinstance(n, ast.Name)]
            if names[0].lstrip("_").isupper() and holds_number(statement.value):
                yield ", ".join(names), docstring(following)


NUMERIC = (ast.Constant, ast.Tuple, ast.Dict, ast.BinOp, ast.UnaryOp)


def holds_number(value):
    constants = (n.value for n in ast.walk(value) if isinstance(n, ast.Constant))
    return any(isinstance(c, int | float) and not isinstance(c, bool) for c in constants)


def docstring(statement):
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return str(statement.value.value) if is_text else ""


@pytest.mark.parametrize("module", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_each_constant_names_its_source_and_year(module):
    bare = [name for name, text in numbers(module) if not YEAR.search(text)]
    assert bare == []


def test_the_check_finds_constants():
    assert sum(len(list(numbers(module))) for module in PACKAGE.rglob("*.py")) > 50


@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_each_row_of_a_table_has_a_source_and_a_year(table):
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    assert rows
    assert all(row["source"].strip() and YEAR.fullmatch(row["year"]) for row in rows)
