"""Whether this process can serve: database and migrations, broker, cache, prices and their age."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from pricing.discovery import all_providers
from pricing.freshness import freshness

logger = logging.getLogger(__name__)
BROKER_TIMEOUT_SECONDS = 2.0
OK, DEGRADED, FAILED = "ok", "degraded", "failed"


@dataclass(frozen=True)
class Check:
    """What came of one look; `required` ones decide whether requests are to be sent here."""

    state: str
    detail: str = ""
    required: bool = False


@dataclass(frozen=True)
class Readiness:
    """All checks, and what they come to."""

    checks: Mapping[str, Check]

    @property
    def state(self) -> str:
        """failed where nothing can be served, degraded where something waits or is old."""
        states = [check.state for check in self.checks.values()]
        if any(check.required and check.state == FAILED for check in self.checks.values()):
            return FAILED
        return DEGRADED if any(state != OK for state in states) else OK


_OF_PAGES = "Pages are answered meanwhile; see that it runs and that {} names it."
REMEDIES = {
    "database": "Nothing is served; see that it runs and that DATABASE_URL names it.",
    "migrations": "Run `manage.py migrate`.",
    "prices": "Run `manage.py migrate`, then `manage.py load_catalog`.",
    "broker": _OF_PAGES.format("CELERY_BROKER_URL"),
    "cache": _OF_PAGES.format("CACHE_URL"),
    "uploads": "Large files of actuals are refused; see that UPLOAD_DIR names a folder that the "
    "account of the services may write.",
}
"""What whoever reads the log can do, by check."""


def check_readiness() -> Readiness:
    """The database decides; without broker, cache or fresh prices pages are served all the same."""
    checks = {"database": _run("database", _check_database, required=True)}
    if checks["database"].state == OK:
        checks["migrations"] = _run("migrations", _check_migrations, required=True)
        checks["prices"] = _run("prices", _check_prices)
        checks["uploads"] = _run("uploads", _check_uploads)
    if settings.CELERY_BROKER_URL:
        checks["broker"] = _run("broker", _check_broker)
    if settings.CACHE_URL:
        checks["cache"] = _run("cache", _check_cache)
    return Readiness(checks)


def _run(name: str, look: Callable[[], Check], *, required: bool = False) -> Check:
    """The check; an error is one that failed. Its text names hosts and accounts: it is logged, and
    not told to whoever asks."""
    try:
        check = look()
    except Exception as error:
        what = " ".join(str(error).split()).rstrip(".")
        logger.warning("The readiness check %s failed: %s. %s", name, what, REMEDIES[name])
        return Check(FAILED, f"{type(error).__name__}; see the server log", required)
    return Check(check.state, check.detail, required)


def _check_database() -> Check:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return Check(OK)


_migrated: set[str] = set()
"""Databases seen with every migration: they are not undone below a running process."""


def _check_migrations() -> Check:
    name = str(connection.settings_dict["NAME"])
    if name in _migrated:
        return Check(OK)
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        return Check(FAILED, f"{len(missing)} not applied; run `manage.py migrate`")
    _migrated.add(name)
    return Check(OK)


def _check_prices() -> Check:
    """An empty market, or one with a part that is red, is served with its age. What came with the
    program and no adapter reads grows old whatever an operator does."""
    rows = [row for row in freshness(timezone.now().date()) if row.revision is not None]
    if not rows:
        return Check(FAILED, "no prices are loaded; run `manage.py load_catalog`")
    read = [row for row in rows if row.provider in all_providers()]
    old = [
        f"{row.provider} {part.part}"
        for row in read
        for part in row.parts
        if getattr(part, "level", "") == "red"
    ]
    return Check(DEGRADED, f"old: {', '.join(old)}") if old else Check(OK)


def _check_broker() -> Check:
    from kombu.connection import Connection

    url, timeout = settings.CELERY_BROKER_URL, BROKER_TIMEOUT_SECONDS
    with Connection(url, connect_timeout=timeout) as broker:  # type: ignore[no-untyped-call]
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=timeout)
    return Check(OK)


def _check_cache() -> Check:
    """Reads and writes pass over a cache that is down; the server itself is asked."""
    from django_redis import get_redis_connection

    get_redis_connection("default").ping()
    return Check(OK)


def _check_uploads() -> Check:
    """The folder in which large files wait, or the one in which it will be made."""
    folder = Path(settings.MEDIA_ROOT)
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(f"{there} cannot be written")
    if shutil.disk_usage(there).free < settings.API_MAX_UPLOAD_BYTES:
        return Check(DEGRADED, "the disk has no room for the largest upload")
    return Check(OK)
