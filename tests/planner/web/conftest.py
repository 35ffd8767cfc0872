from __future__ import annotations

import pytest

from tests.planner.workspace import market


@pytest.fixture
def prices(db):
    """A small market, published."""
    market()
