"""Identifiers use the field's words: none of the former private ones come back.

The words stand in `docs/architecture/glossary.md`. Names are functions, classes, arguments,
variables and attributes of `planner`, `pricing` and `gpu_cost_planner`, migrations left out.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for package in ("planner", "pricing", "gpu_cost_planner")
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)
BANNED_NAMES = frozenset(
    {
        "asked",
        "at_rest",
        "attempt",
        "begun",
        "box",
        "doubts",
        "found",
        "futures",
        "given",
        "in_place",
        "keeping",
        "keep",
        "kept",
        "listening",
        "own_terms",
        "plain_json",
        "remedy",
        "said",
        "sent",
        "shortlist",
        "standing",
        "swing",
        "swings",
        "tail_weight",
        "told",
        "withheld",
        "worst_tenth",
    }
)
"""Refused as a whole name, a leading underscore or not."""
BANNED_WORDS = frozenset(
    {
        "beat",
        "beats",
        "begun",
        "blink",
        "cautions",
        "clash",
        "dearest",
        "door",
        "doors",
        "fleet",
        "glance",
        "moved_since",
        "overlay",
        "pulse",
        "recipe",
        "shortlist",
        "told",
    }
)
"""Refused as a word of a name too: `fleet_of`, `ClashError`."""
PUBLIC = {
    "planner/api/shapes.py": {"given", "remedy"},
    "planner/contract/answer/comparison.py": {"given"},
    "planner/costing/assumptions/assumptions.py": {"given"},
    "planner/models/project.py": {"given"},
    "planner/web/answer/assumptions.py": {"given"},
    "pricing/api/schema.py": {"withheld"},
    "pricing/models.py": {"remedy", "withheld"},
    "pricing/publish/refresh.py": {"remedy"},
}
"""Keys of the API and columns of the database, which clients and old rows know."""


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that the source gives to something, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname, node.lineno


def words(name: str) -> list[str]:
    """`ClashError` and `clash_error` are clash and error."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


@cache
def is_banned(name: str) -> bool:
    plain = name.strip("_")
    return plain in BANNED_NAMES or bool(BANNED_WORDS.intersection(words(plain)))


def test_identifiers_are_words_of_the_field() -> None:
    banned = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in SOURCES
        for name, line in names(ast.parse(path.read_text(encoding="utf-8")))
        if is_banned(name) and name not in PUBLIC.get(path.relative_to(ROOT).as_posix(), set())
    ]
    assert not banned, "; ".join(banned)


@pytest.mark.parametrize("name", ["found", "_kept", "fleet_of", "ClashError", "glance"])
def test_former_words_are_refused(name: str) -> None:
    assert is_banned(name)


@pytest.mark.parametrize("name", ["NOT_FOUND", "held_out_log_errors"])
def test_words_of_the_field_pass(name: str) -> None:
    assert not is_banned(name)


def test_every_public_exception_is_still_needed() -> None:
    for file, public in PUBLIC.items():
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        assert public <= {name for name, _ in names(tree)}, file
