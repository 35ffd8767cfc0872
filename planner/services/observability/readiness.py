"""Whether this process can serve: checks of django-health-check.

The database and its migrations decide. Without broker, cache or fresh prices pages are served all
the same, which only who asks strictly is told.
"""

from __future__ import annotations

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.utils import timezone
from health_check.base import HealthCheck
from health_check.checks import Cache, Database
from health_check.exceptions import ServiceUnavailable, ServiceWarning
from health_check.views import HealthCheckView

from pricing.discovery import all_providers
from pricing.freshness import freshness


def answer_readiness(request: HttpRequest) -> HttpResponse:
    """503 where nothing can be served; with `?strict=1` also where something is missing or old."""
    checks: list[type[HealthCheck]] = [Database, Migrations]
    if request.GET.get("strict") == "1":
        checks += [Prices] + [Broker] * bool(settings.CELERY_BROKER_URL)
        checks += [Cache] * bool(settings.CACHE_URL)
    request.GET = QueryDict("format=json")  # whatever the caller accepts
    response: HttpResponse = async_to_sync(_Readiness.as_view(checks=checks))(request)
    return response


class _Readiness(HealthCheckView):  # type: ignore[misc]
    """The state of each check, as JSON to whoever asks. The text of a failure names hosts and
    accounts: the log has it."""

    def render_to_response_json(self, status: int) -> HttpResponse:
        states = {type(one.check).__name__.lower(): _describe(one.error) for one in self.results}
        return JsonResponse(states, status=503 if status >= 500 else status)


def _describe(error: Exception | None) -> str:
    if error is None:
        return "ok"
    return "failed; see the server log" if error.__cause__ else str(error)


class _Look(HealthCheck):  # type: ignore[misc]
    """A check of ours, in the thread of the request, which is connected to the database."""

    async def run(self) -> None:
        await sync_to_async(self.look)()

    def look(self) -> None:
        raise NotImplementedError


class Migrations(_Look):
    def look(self) -> None:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if missing:
            raise ServiceUnavailable(f"{len(missing)} not applied; run `manage.py migrate`")


class Prices(_Look):
    """An empty market, or one with a part that is red. What came with the program and no adapter
    reads grows old whatever an operator does."""

    def look(self) -> None:
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


class Broker(_Look):
    def look(self) -> None:
        from kombu.connection import Connection

        with Connection(settings.CELERY_BROKER_URL, connect_timeout=2) as broker:  # type: ignore[no-untyped-call]
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=2)
