"""The table of docs/operations/settings.md: every environment variable of the planner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from pydantic.fields import FieldInfo

from docs_build.markdown_table import format_table
from planner.environment import Environment


def render_settings() -> str:
    """The table, in the order of `planner/environment.py`."""
    return format_table(("variable", "value or example", "default", "meaning"), _rows())


def _rows() -> Iterator[tuple[str, str, str, str]]:
    for name, field in Environment.model_fields.items():
        default = field.default
        text = (
            str(int(default))
            if isinstance(default, bool)
            else ""
            if default in (None, [])
            else str(default)
        )
        yield f"`{name}`", _value(field), f"`{text}`" if text else "", str(field.description)


def _value(field: FieldInfo) -> str:
    bounds = [str(getattr(bound, "ge", getattr(bound, "le", ""))) for bound in field.metadata]
    if field.annotation is int:
        return " to ".join(bounds)
    if bool in (field.annotation, *get_args(field.annotation)):
        return "0 or 1"
    choices = [choice for choice in get_args(field.annotation) if isinstance(choice, str)]
    return ", ".join(f"`{choice}`" for choice in choices or field.examples or ())


if __name__ == "__main__":
    print(render_settings())
