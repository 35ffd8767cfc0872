"""Markdown tables out of rows of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def format_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a header."""
    lines = [_format_row(columns), "|" + "---|" * len(columns)]
    return "\n".join([*lines, *(_format_row(row) for row in rows)])


def _format_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"
