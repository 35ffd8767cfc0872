"""A copy of the database in use comes back whole into an empty one, and nowhere else."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from planner.models import SavedComparison
from planner.services.housekeeping import backup
from tests.another_database import sqlite_at
from tests.planner.workspace import Workspace, market

FOREIGN = tuple(backup.SUFFIXES.values())
FILL = """
import sys
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from planner.services.portfolio.portfolios import portfolio_of_projects
from planner.models import SavedComparison
from tests.another_database import sqlite_at
from tests.planner.workspace import Workspace, market
market()
work = Workspace("alpha")
project = work.project()
for _ in range(2):
    work.saved(project)
call_command("backup", sys.argv[1])
"""
RETURN = """
import sys
import django; django.setup()
from django.core.management import call_command
call_command("restore", sys.argv[1])
from planner.models import SavedComparison
print([saved.read_plan().currency for saved in SavedComparison.objects.all()])
"""


def run(script: str, argument: Path, database: str) -> str:
    """What a process of its own prints, on a database of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(argument)],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "planner.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rehearse(database: str, another: str, folder: Path) -> None:
    """Back up one database, restore it into another, open what is saved there."""
    copied = run(FILL, folder, database)
    (file,) = folder.iterdir()
    assert copied.startswith(f"{file}: ")
    assert file.stat().st_mode & 0o777 == 0o600
    opened = run(RETURN, file, another)
    assert opened.endswith("['USD', 'USD']\n")


@pytest.mark.django_db
def test_an_sqlite_database_comes_back(tmp_path: Path, kept_database: Path) -> None:
    one, another = (tmp_path / f"{name}.sqlite3" for name in ("one", "another"))
    folder, out = tmp_path / "copies?mode=rwc#100%25", StringIO()
    if kept_database.exists():
        shutil.copy(kept_database, one)
    with sqlite_at(one):
        call_command("migrate", verbosity=0)
        market()
        work = Workspace("alpha")
        for _ in range(2):
            work.saved()
        call_command("backup", str(folder), stdout=out)
    (file,) = folder.iterdir()
    assert out.getvalue().startswith(f"{file}: ")
    assert file.stat().st_mode & 0o777 == 0o600
    with sqlite_at(another):
        call_command("restore", str(file), stdout=out)
        assert [one.read_plan().currency for one in SavedComparison.objects.all()] == ["USD"] * 2
    assert another.stat().st_mode & 0o777 == 0o600


@pytest.mark.faults
@pytest.mark.skipif("POSTGRES_REHEARSAL_URL" not in os.environ, reason="no PostgreSQL is named")
def test_a_postgresql_database_comes_back(tmp_path: Path) -> None:
    """Two empty databases: POSTGRES_REHEARSAL_URL, and the same with `_restored` behind."""
    url = os.environ["POSTGRES_REHEARSAL_URL"]
    rehearse(url, f"{url}_restored", tmp_path / "copies")


@pytest.mark.django_db
def test_a_foreign_file_and_a_database_in_use_are_refused(tmp_path: Path) -> None:
    for name in ("planner-1.dump", "planner-1.sqlite3"):
        (tmp_path / name).write_bytes(b"content")
    own = backup.SUFFIXES[connection.vendor]
    (foreign,) = (tmp_path / f"planner-1{suffix}" for suffix in FOREIGN if suffix != own)
    for file, message in (
        (foreign, f"those end in {own}"),
        (tmp_path / f"missing{own}", "is not a file"),
        (tmp_path / f"planner-1{own}", "The database is not empty"),
    ):
        with pytest.raises(CommandError, match=message):
            call_command("restore", str(file))


@pytest.mark.django_db
def test_a_whole_file_that_is_not_the_planner_s_is_refused(tmp_path: Path) -> None:
    """An interrupted copy of 0 bytes, and a database of another program that also migrates."""
    empty, other = tmp_path / "planner-1.sqlite3", tmp_path / "planner-2.sqlite3"
    empty.touch()
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE django_migrations (id INTEGER PRIMARY KEY)")
    for file, message in ((empty, "it holds no tables"), (other, "it holds no table planner_team")):
        with (
            sqlite_at(tmp_path / "new.sqlite3"),
            pytest.raises(CommandError, match=f"is not a planner's: {message}"),
        ):
            call_command("restore", str(file))
        with closing(sqlite3.connect(tmp_path / "new.sqlite3")) as database:
            assert database.execute("SELECT name FROM sqlite_master").fetchall() == []


@pytest.mark.parametrize("at", [100, 4096])
def test_a_damaged_file_is_refused(tmp_path: Path, at: int) -> None:
    file = tmp_path / "planner-1.sqlite3"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE price (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        database.executemany("INSERT INTO price (text) VALUES (?)", [("x" * 50,)] * 500)
        database.commit()
        backup._check_whole(database, file)
    content = bytearray(file.read_bytes())
    content[at : at + 400] = b"\xff" * 400
    file.write_bytes(content)
    with (
        closing(sqlite3.connect(file)) as database,
        pytest.raises(backup.BackupError, match="is damaged"),
    ):
        backup._check_whole(database, file)


def test_old_copies_go_and_other_files_stay(tmp_path: Path) -> None:
    for name in ("planner-old.dump", "planner-old.sqlite3", "other.dump", "planner-new.dump"):
        (tmp_path / name).write_bytes(b"")
        if "new" not in name:
            os.utime(tmp_path / name, (1_000_000_000,) * 2)
    assert backup.remove_old(tmp_path, 0) == []
    assert {path.name for path in backup.remove_old(tmp_path, 30)} == {
        "planner-old.dump",
        "planner-old.sqlite3",
    }
    assert {path.name for path in tmp_path.iterdir()} == {"other.dump", "planner-new.dump"}


@pytest.mark.django_db
def test_an_empty_database_is_not_copied_and_no_older_copy_goes(tmp_path: Path) -> None:
    older = tmp_path / "planner-20200101T000000Z.sqlite3"
    older.write_bytes(b"kept")
    os.utime(older, (0, 0))
    empty = tmp_path / "empty.sqlite3"
    sqlite3.connect(empty).close()
    empty.touch()
    with (
        sqlite_at(empty),
        pytest.raises(CommandError, match=r"empty.sqlite3 is not a planner's: it holds no tables"),
    ):
        call_command("backup", str(tmp_path), "--retain-days", "1")
    assert sorted(tmp_path.iterdir()) == [empty, older]
