"""Copies of the whole database while it is in use, and their way back into an empty one."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient
from django.utils import timezone

from pricing.publish.refresh import is_disk_full

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
    moment = timezone.now().strftime("%Y%m%dT%H%M%SZ")
    target = folder / f"{PREFIX}{moment}{suffix}"
    part = target.with_suffix(f"{suffix}.part")
    try:
        if not folder.parent.exists():
            raise BackupError(
                f"{folder} cannot be made, since {folder.parent} is not there. Check the path, and "
                "that its disk is mounted; no copy was made."
            )
        folder.mkdir(mode=0o700, exist_ok=True)
        make_private(part)
        try:
            if connection.vendor == "sqlite":
                with (
                    closing(_open_to_read(Path(_name()))) as source,
                    closing(sqlite3.connect(part)) as copy,
                ):
                    source.backup(copy)
                    _check_whole(copy, part)
                    tables = _tables(copy)
            else:
                _run("pg_dump", "--format=custom", "--no-owner", f"--file={part}")
                tables = _dumped_tables(_list_dump(part))
            _check_ours(tables, f"The database {_name()}")
            part.rename(target)
        finally:
            part.unlink(missing_ok=True)
    except sqlite3.Error as error:
        if is_disk_full(error):
            raise BackupError(
                f"The disk of {folder} has no room for a copy; make room or name another folder. "
                "No copy was made, and none was removed."
            ) from None
        raise BackupError(
            f"The database {_name()} cannot be read ({error}). Check DATABASE_URL, and that the "
            "file is there and may be read."
        ) from None
    except OSError as error:
        raise BackupError(f"{part} cannot be written: {error.strerror or error}.") from None
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
            _check_ours(_tables(source), str(file))
            with suppress(OSError):  # another account's, who decides who reads it
                Path(_name()).chmod(0o600)
            with closing(sqlite3.connect(_name())) as target:
                source.backup(target)
    else:
        _check_ours(_dumped_tables(_list_dump(file)), str(file))
        _run("pg_restore", "--no-owner", "--exit-on-error", str(file), database_option=True)


def _suffix() -> str:
    suffix = SUFFIXES.get(connection.vendor)
    if suffix is None:
        raise BackupError(f"{connection.vendor} databases are backed up by their own tools.")
    return suffix


def _name() -> str:
    return str(connection.settings_dict["NAME"])


def make_private(path: Path) -> None:
    """A new empty file that its owner alone reads, before anything is written to it."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _open_to_read(file: Path) -> sqlite3.Connection:
    """Whatever signs its name holds, which in an address would say something else."""
    return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)


def _tables(database: sqlite3.Connection) -> set[str]:
    return {name for (name,) in database.execute("SELECT name FROM sqlite_master")}


def _list_dump(file: Path) -> str:
    return _run_tool(["pg_restore", "--list", str(file)], {})


def _dumped_tables(listing: str) -> set[str]:
    return {match[1] for match in re.finditer(r"^\d+; \d+ \d+ TABLE \S+ (\S+) ", listing, re.M)}


def _check_ours(tables: set[str], what: str) -> None:
    if lacking := sorted(TABLES - tables):
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
    _run_tool([tool, *place, *arguments], environment or {})


def _run_tool(command: Sequence[str], environment: dict[str, str]) -> str:
    if shutil.which(command[0]) is None:
        raise BackupError(f"{command[0]} is not here; install PostgreSQL's client programs.")
    done = subprocess.run(  # noqa: S603 - no shell, our own settings
        command, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout
