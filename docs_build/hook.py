"""MkDocs hook: adds the reference pages, which are made from the code and not written by hand."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs once it has collected the written pages."""
    import django
    from mkdocs.structure.files import File

    django.setup()
    from docs_build.reference import render_pages

    for path, text in render_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Called by MkDocs with the body of each page."""
    return stack_tables(html)


_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
_ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
_HEAD = re.compile(r"<th[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>|\"")


def name_columns(rows: str) -> tuple[str, int]:
    """The rows of a table with the name of its column in each cell, and how many columns it has."""
    heads = [_TAG.sub("", head).strip() for head in _HEAD.findall(rows)]
    return _ROW.sub(lambda row: f"<tr>{_name_cells(row[1], heads)}</tr>", rows), len(heads)


def stack_tables(html: str) -> str:
    """A page of the documentation whose tables are read downwards on a phone."""
    return _TABLE.sub(lambda m: f'<table class="stacked">{name_columns(m[1])[0]}</table>', html)


def _name_cells(row: str, heads: list[str]) -> str:
    """The first cell heads its row; of several others each names its column."""
    cells = _CELL.findall(row)
    if not cells:
        return row
    names = heads if len(heads) > 2 else [""] * len(heads)
    others = (
        f'<td data-head="{name}">{cell}</td>' if name else f"<td>{cell}</td>"
        for name, cell in zip(names[1:], cells[1:], strict=True)
    )
    return f'<th scope="row" class="fw-normal">{cells[0]}</th>{"".join(others)}'
