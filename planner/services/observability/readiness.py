"""Whether this process can serve: database and migrations, broker, cache, prices and their age.

Each is a check of django-health-check. The database decides; without broker, cache or fresh prices
pages are served all the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from health_check.base import HealthCheck
from health_check.checks import Cache, Database
from health_check.exceptions import ServiceUnavailable, ServiceWarning

from pricing.discovery import all_providers
from pricing.freshness import freshness

logger = logging.getLogger(__name__)
OK, DEGRADED, FAILED = "ok", "degraded", "failed"
REQUIRED = ("database", "migrations")
"""Without these no request is to be sent here."""
_OF_PAGES = "Pages are answered meanwhile; see that it runs and that {} names it."
REMEDIES = {
    "database": "Nothing is served; see that it runs and that DATABASE_URL names it.",
    "migrations": "Run `manage.py migrate`.",
    "prices": "Run `manage.py migrate`, then `manage.py load_catalog`.",
    "broker": _OF_PAGES.format("CELERY_BROKER_URL"),
    "cache": _OF_PAGES.format("CACHE_URL"),
}
"""What whoever reads the log can do, by check."""


@dataclass
class Look(HealthCheck):  # type: ignore[misc]
    """A check of ours, in the thread of the request."""

    look: Callable[[], None] = field(repr=False)

    async def run(self) -> None:
        try:
            await sync_to_async(self.look)()
        except (ServiceWarning, ServiceUnavailable):
            raise
        except Exception as error:
            raise ServiceUnavailable("") from error


def check_readiness() -> dict[str, Any]:
    """The state of this process and of each check, as `/readyz` gives it."""
    checks = _run({"database": Database()})
    if checks["database"]["state"] == OK:
        looks = {"migrations": _migrations, "prices": _prices}
        if settings.CELERY_BROKER_URL:
            looks["broker"] = _broker
        others: dict[str, HealthCheck] = {name: Look(look) for name, look in looks.items()}
        if settings.CACHE_URL:
            others["cache"] = Cache()
        checks |= _run(others)
    states = {check["state"] for check in checks.values()}
    state = OK if states == {OK} else DEGRADED
    if any(checks.get(name, {}).get("state") == FAILED for name in REQUIRED):
        state = FAILED
    return {"status": state, "checks": checks}


def _run(checks: dict[str, HealthCheck]) -> dict[str, dict[str, Any]]:
    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(check.get_result() for check in checks.values()))

    results = zip(checks, async_to_sync(all_at_once)(), strict=True)
    return {name: _describe(name, result.error) for name, result in results}


def _describe(name: str, error: Any) -> dict[str, Any]:
    """The text of a failure names hosts and accounts: it is logged, and not told to who asks."""
    state, detail = OK, ""
    if error:
        state = DEGRADED if isinstance(error, ServiceWarning) else FAILED
        detail = error.message
        if cause := error.__cause__:
            what = " ".join(str(cause).split()).rstrip(".")
            logger.warning("The readiness check %s failed: %s. %s", name, what, REMEDIES[name])
            detail = f"{type(cause).__name__}; see the server log"
    return {"state": state, "detail": detail, "required": name in REQUIRED}


_migrated: set[str] = set()
"""Databases seen with every migration: they are not undone below a running process."""


def _migrations() -> None:
    name = str(connection.settings_dict["NAME"])
    if name in _migrated:
        return
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        raise ServiceUnavailable(f"{len(missing)} not applied; run `manage.py migrate`")
    _migrated.add(name)


def _prices() -> None:
    """An empty market, or one with a part that is red, is served with its age. What came with the
    program and no adapter reads grows old whatever an operator does."""
    rows = [row for row in freshness(timezone.now().date()) if row.revision is not None]
    if not rows:
        raise ServiceUnavailable("no prices are loaded; run `manage.py load_catalog`")
    old = [
        f"{row.provider} {part.part}"
        for row in rows
        if row.provider in all_providers()
        for part in row.parts
        if getattr(part, "level", "") == "red"
    ]
    if old:
        raise ServiceWarning(f"old: {', '.join(old)}")


def _broker() -> None:
    from kombu.connection import Connection

    with Connection(settings.CELERY_BROKER_URL, connect_timeout=2) as broker:  # type: ignore[no-untyped-call]
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=2)
