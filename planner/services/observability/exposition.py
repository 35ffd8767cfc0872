"""All measures in the text form of Prometheus; those of several processes of one machine summed."""

from __future__ import annotations

import logging

from django.conf import settings
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    generate_latest,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector

from planner.services.observability.database_measures import DatabaseMeasures

__all__ = ["CONTENT_TYPE_LATEST", "render_measures", "serve_measures"]
logger = logging.getLogger(__name__)


def render_measures() -> bytes:
    """What the processes counted, and what the database knows."""
    database = CollectorRegistry(auto_describe=False)
    database.register(DatabaseMeasures())
    return generate_latest(_counted()) + generate_latest(database)


def serve_measures(port: int) -> None:
    """Serves what a worker counted on a port of its own, in a thread."""
    start_http_server(port, registry=_counted())
    logger.info("Measures are served on port %d.", port)


def _counted() -> CollectorRegistry:
    """Of this process, or of all that write to `PROMETHEUS_MULTIPROC_DIR`."""
    if not settings.PROMETHEUS_MULTIPROC_DIR:
        return REGISTRY
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry
