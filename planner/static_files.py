"""Whether `collectstatic` has been run on what is there now. Settings ask it: no Django here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

MANIFEST = "staticfiles.json"


def is_collected(root: Path, sources: Iterable[Path]) -> bool:
    """Whether the manifest in `root` is there and no older than any file of `sources`.

    Without it, or after an upgrade that brought newer files, the files are served from where they
    are: without a year in the browser's cache, but as they should be.
    """
    try:
        collected_at = (root / MANIFEST).stat().st_mtime
    except OSError:
        return False
    return all(file.stat().st_mtime <= collected_at for file in _list_files(sources))


def _list_files(sources: Iterable[Path]) -> Iterator[Path]:
    for source in sources:
        if source.is_dir():
            yield from (file for file in source.rglob("*") if file.is_file())
        elif source.is_file():
            yield source
