"""Loads what pages are made from as a process starts, so that an upgrade cannot mix two versions.

While a new version is put in place, processes of the former one go on answering. What they would
load at their first request for a page is of the new version by then, and does not fit: their
views give another context than the new templates read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.template import Engine
from django.urls import URLResolver, get_resolver

ERRORS = (400, 403, 404, 500)


def load_pages() -> None:
    """Imports all views, those of errors too, and compiles the project's templates."""
    resolver = get_resolver()
    _import_views(resolver.url_patterns)
    for status in ERRORS:
        resolver.resolve_error_handler(status)
    engine = Engine.get_default()
    for name in list_templates(engine):
        engine.get_template(name)


def list_templates(engine: Engine) -> list[str]:
    """Names of the templates in the project's own folders."""
    return [
        str(file.relative_to(folder))
        for folder in engine.dirs
        for file in sorted(Path(folder).rglob("*"))
        if file.is_file()
    ]


def _import_views(patterns: Iterable[Any]) -> None:
    """Included lists of addresses are imported when they are first looked at."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            _import_views(pattern.url_patterns)
