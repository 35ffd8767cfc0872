"""MkDocs hook: adds the reference pages, which are made from the code and not written by hand."""

from __future__ import annotations

import os
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
    from docs_build.stacked_tables import stack_tables

    return stack_tables(html)
