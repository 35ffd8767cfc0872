"""Copies of the whole database while it is in use, and their way back into an empty one."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient
from django.utils import timezone

PREFIX = "planner-"
MAX_FINDINGS = 10_000_000
SUFFIXES = {"sqlite": ".sqlite3", "postgresql": ".dump"}
TABLES = frozenset({"django_migrations", "planner_team", "pricing_revision"})
"""Tables of every version of the planner, by which a copy is known as one of its own."""


class BackupError(Exception):
    """A copy could not be made or brought back; the text says why and what to do."""


def back_up(folder: Path) -> Path:
    """A new file in `folder`, readable by its owner alone. It has its name once it is whole."""
    suffix = _suffix()
    target = folder / f"{PREFIX}{timezone.now():%Y%m%dT%H%M%SZ}{suffix}"
    part = target.with_suffix(f"{suffix}.part")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            if connection.vendor == "sqlite":
                with (
                    closing(_open_to_read(Path(_name()))) as source,
                    closing(sqlite3.connect(part)) as copy,
                ):
                    source.backup(copy)
                    _check_whole(copy, part)
            else:
                _run("pg_dump", "--format=custom", "--no-owner", f"--file={part}")
            # Not before: a connection makes a file of SQLite that is not there.
            _check_ours(connection.introspection.table_names(), f"The database {_name()}")
            part.rename(target)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise BackupError(
            f"{_name()} cannot be copied to {target} ({error}). See that the disks of both are "
            "mounted and have room; no copy was made, and none was removed."
        ) from None
    return target


def remove_old(folder: Path, days: int) -> list[Path]:
    """Removes copies in `folder` that are older than `days`; 0 keeps them all."""
    if days <= 0:
        return []
    moment = (timezone.now() - dt.timedelta(days=days)).timestamp()
    copies = [path for suffix in SUFFIXES.values() for path in folder.glob(f"{PREFIX}*{suffix}")]
    old = [path for path in copies if path.stat().st_mtime < moment]
    for path in old:
        path.unlink()
    return old


def restore(file: Path) -> None:
    """Brings a copy back into the database of the settings, which must be empty."""
    suffix = _suffix()
    if not file.is_file():
        raise BackupError(f"{file} is not a file.")
    if file.suffix != suffix:
        raise BackupError(
            f"{file.name} is no copy of a {connection.vendor} database; those end in {suffix}."
        )
    if connection.introspection.table_names():
        raise BackupError(
            "The database is not empty; name a new one in DATABASE_URL. The present one stays as "
            "it is, to go back to."
        )
    connection.close()
    if connection.vendor == "sqlite":
        with closing(_open_to_read(file)) as source:
            _check_whole(source, file)
            names = source.execute("SELECT name FROM sqlite_master").fetchall()
            _check_ours([name for (name,) in names], str(file))
            with suppress(OSError):  # another account's, who decides who reads it
                Path(_name()).chmod(0o600)
            with closing(sqlite3.connect(_name())) as target:
                source.backup(target)
    else:
        _run("pg_restore", "--no-owner", "--exit-on-error", str(file), database_option=True)
        _check_ours(connection.introspection.table_names(), str(file))


def _suffix() -> str:
    suffix = SUFFIXES.get(connection.vendor)
    if suffix is None:
        raise BackupError(f"{connection.vendor} databases are backed up by their own tools.")
    return suffix


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def _open_to_read(file: Path) -> sqlite3.Connection:
    """Whatever signs its name holds, which in an address would say something else."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)


def _check_ours(tables: Collection[str], what: str) -> None:
    if lacking := sorted(TABLES.difference(tables)):
        holds = f"no table {lacking[0]}" if tables else "no tables"
        raise BackupError(
            f"{what} is not a planner's: it holds {holds}. Check DATABASE_URL, or name a file that "
            "`manage.py backup` wrote; nothing was copied or removed."
        )


def _check_whole(database: sqlite3.Connection, file: Path) -> None:
    """Raise `BackupError` where SQLite finds damage.

    SQLite 3.40 takes columns of tables without row ids, as that of the prices, for
    NULL. Their columns cannot be NULL, and everything else that it finds counts.
    """
    try:
        lines = (line for (line,) in database.execute(f"PRAGMA integrity_check({MAX_FINDINGS})"))
        findings = [line for line in lines if not line.startswith(("ok", "NULL value in "))]
    except sqlite3.DatabaseError as error:
        findings = [str(error)]
    if findings:
        raise BackupError(f"{file} is damaged: {findings[0]}.")


def _run(tool: str, *arguments: str, database_option: bool = False) -> None:
    """One of PostgreSQL's tools on the database of the settings; the password is not among its
    arguments, which everybody on the machine sees."""
    command, environment = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    *options, name = command[1:]
    place = [*options, "--dbname", name] if database_option else [*options, name]
    if shutil.which(tool) is None:
        raise BackupError(f"{tool} is not here; install PostgreSQL's client programs.")
    done = subprocess.run(  # noqa: S603 - no shell, our own settings
        [tool, *place, *arguments],
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BackupError(f"{tool} failed: {done.stderr.strip()[-500:]}")
