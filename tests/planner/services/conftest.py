from __future__ import annotations

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def _quick_settings(settings):
    """Jobs done at once, no rate limits."""
    settings.TASKS_INLINE = True
    settings.API_REQUESTS_PER_MINUTE = 0
    settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = 0
    cache.clear()
