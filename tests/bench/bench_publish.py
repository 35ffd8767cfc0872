"""Storing a revision of 100,000 prices against the bare bulk upsert of the same rows.

The hold is on storing what passed the checks; reading what is in force and checking against it
come before that and are shown beside it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.row import SHORT, Row

ROOT = Path(__file__).parents[2]
SIZE = 20_000 if SHORT else 100_000
HOLDS = {"sqlite": 0.6, "postgresql": 0.7}
"""Least share of the floor's rows per second."""


def bench() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        rows += _rows("sqlite", f"sqlite:///{folder}/bench.sqlite3")
    with _postgresql() as url:
        if url:
            rows += _rows("postgresql", url)
    return rows


def _rows(database: str, url: str) -> Iterator[Row]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.publish_worker", str(SIZE)],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "LOG_LEVEL": "ERROR", "DEBUG": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    told = json.loads(done.stdout.splitlines()[-1])
    hold = HOLDS[database]
    for key, name in (("first", "first time"), ("changed", "every price changed")):
        checking, storing, bare = told[key]
        ours, whole, floor = (SIZE / s / 1000 for s in (storing, checking + storing, bare))
        title = f"{SIZE:,} prices on {database}, {name}"
        yield Row(f"store {title}", ours, floor, f">= {hold}", ours >= hold * floor, "rows/ms")
        yield Row(f"check and store {title}", whole, floor, "(shown)", True, "rows/ms")
    written = told["rows"][0]
    yield Row(f"publish again on {database}, no change", written, 0, "0", written == 0, "rows")


@contextmanager
def _postgresql() -> Iterator[str]:
    """An empty database of its own: beside the one of DATABASE_URL, else on this machine's
    server; empty text where there is none."""
    import psycopg

    given = os.environ.get("DATABASE_URL", "")
    server = given.rpartition("/")[0] if given.startswith("postgres") else "postgres://127.0.0.1"
    name = f"bench_publish_{os.getpid()}"
    try:
        admin = psycopg.connect(f"{server}/postgres", autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        yield ""
        return
    with admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            login = server.replace("postgres://127", f"postgres://{admin.info.user}@127")
            yield f"{login}/{name}"
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
