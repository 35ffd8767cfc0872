"""The faults that need processes of their own: killed, racing, without room."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.sweep  # Other processes are started, killed and waited for.
KILLS = 50 if os.environ.get("FAULTS") == "1" else 4


@pytest.fixture(scope="module")
def database(tmp_path_factory, kept_database) -> Iterator[str]:
    """A database of the kind under test, for other processes alone."""
    tmp_path = tmp_path_factory.mktemp("faults")
    if connection.vendor == "sqlite":
        if kept_database.exists():
            shutil.copy(kept_database, tmp_path / "faults.sqlite3")
        yield f"sqlite:///{tmp_path / 'faults.sqlite3'}"
        return
    import psycopg

    name = f"faults_{os.getpid()}_{tmp_path.name[-20:]}".lower().replace("-", "_")
    given = connection.settings_dict
    place = {"host": given["HOST"], "port": given["PORT"] or 5432}
    login = {"user": given["USER"], "password": given["PASSWORD"] or None}
    with psycopg.connect(dbname="postgres", autocommit=True, **place, **login) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        secret = f":{given['PASSWORD']}" if given["PASSWORD"] else ""
        yield f"postgres://{given['USER']}{secret}@{place['host']}:{place['port']}/{name}"
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="module")
def seen(database: str) -> dict[str, Any]:
    """What one process saw of each."""
    modes = ("full", "0", "race", "8", "kill", str(KILLS))
    done = subprocess.run(
        [sys.executable, "-m", "tests.pricing.publish.fault_worker", *modes],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database, "LOG_LEVEL": "CRITICAL"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def never_mixed_or_partial(seen: dict[str, Any]) -> None:
    assert seen["wrong"] == []
    assert seen["reads"] > 0
    assert seen["outcomes"].get("interrupted", 0) > 0, "no kill hit a refresh"
    assert seen["after"] == "published"


@pytest.mark.faults
def test_kill_9_at_random_moments_leaves_no_mixed_or_partial_revision_and_no_lock(seen):
    never_mixed_or_partial(seen["kill"])


def test_of_8_simultaneous_runs_one_publishes_and_the_others_stop(seen):
    assert seen["race"] == {"published": 1, "busy": 7, "others": 0, "revisions": 1, "wrong": []}


def test_a_disk_that_fills_up_leaves_the_last_revision_in_force(seen):
    seen = seen["full"]
    assert (seen["outcome"], seen["seen"], seen["wrong"]) == ("failed", 400, [])
    assert "the disk is full" in seen["message"]
    assert seen["remedy"] == "Free disk space and refresh again."
    assert seen["after"] == "published"
