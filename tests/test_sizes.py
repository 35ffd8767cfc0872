"""Files and folders stay small enough to take in: few lines a file, few modules a folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_LINES = 350
MAX_FILES = 20
SUFFIXES = (".py", ".html", ".js", ".css")
PLACES = ("planner", "pricing", "gpu_cost_planner", "docs_build", "tests", "templates", "static")
SOURCES = sorted(
    path.relative_to(ROOT)
    for place in PLACES
    for path in (ROOT / place).rglob("*")
    if path.suffix in SUFFIXES and "migrations" not in path.parts
)


def test_the_sources_are_found() -> None:
    assert {path.parts[0] for path in SOURCES} == set(PLACES)
    assert {path.suffix for path in SOURCES} == set(SUFFIXES)


@pytest.mark.parametrize("place", PLACES)
def test_no_file_is_longer_than_350_lines(place: str) -> None:
    lengths = {
        str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines())
        for path in SOURCES
        if path.parts[0] == place
    }
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}


@pytest.mark.parametrize("place", PLACES)
def test_no_folder_holds_more_than_20_modules(place: str) -> None:
    counts = Counter(
        str(path.parent)
        for path in SOURCES
        if path.parts[0] == place and (place != "tests" or path.name != "__init__.py")
    )
    assert {folder: n for folder, n in counts.items() if n > MAX_FILES} == {}
