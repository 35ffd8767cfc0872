from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction

from tests.planner.api.world import World


@pytest.fixture(autouse=True)
def _quick_settings(settings):
    """Jobs done at once, no rate limits."""
    settings.TASKS_INLINE = True
    settings.API_REQUESTS_PER_MINUTE = 0
    settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 0
    cache.clear()


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """One world for a module; what a request does is undone."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield World()
        transaction.set_rollback(True)
