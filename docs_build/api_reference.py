"""The API reference: every operation, from the OpenAPI document that the server gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from docs_build.markdown_table import format_table
from planner.api.views.documents import document

METHODS = ("get", "post", "put", "patch", "delete")


def render_operations() -> str:
    """A table of operations for each first part of the address."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for row in _operations():
        groups.setdefault(
            row[0].strip("`").split("/api/v1/")[-1].split("/")[0] or "root", []
        ).append(row)
    return "\n\n".join(
        f"## {group}\n\n{format_table(('operation', 'what it does', 'parameters'), rows)}"
        for group, rows in sorted(groups.items())
    )


def _operations() -> Iterator[tuple[str, str, str]]:
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                text = operation.get("summary") or operation.get("description", "")
                yield f"`{method.upper()} {path}`", text.split("\n\n")[0], _parameters(operation)


def _parameters(operation: Mapping[str, Any]) -> str:
    names = (
        one["name"] for one in operation.get("parameters", ()) if one["in"] in ("query", "header")
    )
    return ", ".join(f"`{name}`" for name in sorted(names))
