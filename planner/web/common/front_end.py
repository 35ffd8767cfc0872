"""The few files of the front-end packages that pages use, served from where npm put them.

A package's `dist` holds a hundred variants, some of which name files that it does not ship; only
what is listed in `FRONT_END_FILES` is found, collected and compressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.utils import matches_patterns
from django.core.files.storage import FileSystemStorage
from django.template import Engine
from django.urls import get_resolver, reverse
from whitenoise.storage import CompressedManifestStaticFilesStorage

PREFIX = "npm/"


class FrontEndFinder(BaseFinder):
    """Finds `npm/<name>/<path>` for the packages and paths of the settings."""

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        for name, (folder, files) in settings.FRONT_END_FILES.items():
            inner = path.removeprefix(f"{PREFIX}{name}/")
            if inner in files and inner != path and (Path(folder) / inner).is_file():
                location = str(Path(folder) / inner)
                return [location] if find_all else location
        return []

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        for name, (folder, files) in settings.FRONT_END_FILES.items():
            storage = FileSystemStorage(location=str(folder))
            storage.prefix = f"{PREFIX}{name}"  # type: ignore[attr-defined]
            for path in files:
                if (Path(folder) / path).is_file() and not matches_patterns(
                    path, ignore_patterns or ()
                ):
                    yield path, storage


class CollectedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Names with the hash of their content where `collectstatic` has been run, else plain ones,
    which are served from where they are."""

    def stored_name(self, name: str) -> str:
        if not settings.STATIC_IS_COLLECTED:
            return name
        try:
            stored: str = super().stored_name(name)
        except ValueError:
            return name
        return stored


ERRORS = (400, 403, 404, 500)


def load_pages() -> None:
    reverse("start")  # reads all addresses, those of included modules too
    for status in ERRORS:
        get_resolver().resolve_error_handler(status)
    engine = Engine.get_default()
    for folder in engine.dirs:
        for file in Path(folder).rglob("*.*"):
            engine.get_template(str(file.relative_to(folder)))
