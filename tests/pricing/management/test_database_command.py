"""Commands on a database that is not migrated: what is wrong and what to do, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = (
    ("pull_quotas",),
    ("verify_prices",),
    ("load_catalog",),
    ("refresh_prices", "--dry-run", "--region", "us-east-1"),
)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(c, marks=pytest.mark.sweep if i else (), id=c[0])
        for i, c in enumerate(COMMANDS)
    ],
)
def test_an_unmigrated_database_is_named_with_its_remedy(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    environment = os.environ | {"DATABASE_URL": f"sqlite:///{tmp_path / 'empty.sqlite3'}"}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "The database is not migrated (no such table" in done.stderr
    assert "Run `manage.py migrate`" in done.stderr
    assert "Traceback" not in done.stderr
