"""What is collected of the program itself: its examples."""

from __future__ import annotations

from pathlib import Path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Modules without an example are not searched for one, which takes seconds over all."""
    if collection_path.suffix != ".py" or collection_path.name.startswith(("test_", "conftest")):
        return None
    return True if b">>>" not in collection_path.read_bytes() else None
