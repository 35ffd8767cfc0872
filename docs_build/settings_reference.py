"""The settings reference: every environment variable that planner/settings.py reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs_build.markdown_table import format_table
from planner.environment import SECRETS, VARIABLES

SETTINGS = Path(__file__).parent.parent / "planner" / "settings.py"
KINDS = {
    "flag": "0 or 1",
    "number": "whole number",
    "words": "list, by comma",
    "text": "text",
    "database": "text",
    "choice": "one of",
    "cron": "schedule",
    "networks": "list, by comma",
    "hosts": "list, by comma",
    "origins": "list, by comma",
    "mails": "list, by comma",
    "address": "address",
    "host": "text",
    "mail": "text",
    "mail_backend": "text",
    "folder": "folder",
    "group_roles": "list, by comma",
}


@dataclass(frozen=True)
class Variable:
    """One environment variable as the settings read it."""

    name: str
    kind: str
    default: str


def read_variables(source: str | None = None) -> list[Variable]:
    """Each variable once, in the order of the settings; the default as the code says it."""
    tree = ast.parse(SETTINGS.read_text() if source is None else source)
    variables: dict[str, Variable] = {}
    for call in _calls(tree):
        assert isinstance(call.func, ast.Attribute)
        name = ast.literal_eval(call.args[0])
        default = _default(call.args[1]) if len(call.args) > 1 else ""
        variables.setdefault(name, Variable(name, call.func.attr, default))
    return list(variables.values())


def render_settings() -> str:
    """The table of the reference page."""
    rows = (
        (f"`{v.name}`", KINDS[v.kind], f"`{v.default}`" if v.default else "", _meaning(v.name))
        for v in read_variables()
    )
    return format_table(("variable", "value", "default", "meaning"), rows)


def _meaning(name: str) -> str:
    hint = f"; or `{name}_FILE`, a file that holds it" if name in SECRETS else ""
    return VARIABLES[name] + hint


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls of `env.text` and its like, in the order in which they stand."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    ours = [
        call
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id == "env"
        and call.func.attr != "needs"
    ]
    yield from sorted(ours, key=lambda call: (call.lineno, call.col_offset))


def _default(node: ast.expr) -> str:
    """The default in plain text; a setting it depends on by its name."""
    if isinstance(node, ast.IfExp):
        return f"{_default(node.body)} ({ast.unparse(node.test)})"
    if isinstance(node, ast.Tuple):
        return _default(node.elts[0])
    if isinstance(node, ast.Constant):
        return str(int(node.value) if isinstance(node.value, bool) else node.value)
    return ast.unparse(node)
