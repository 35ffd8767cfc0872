"""A small AWS, and nothing of this machine's own AWS settings."""

from collections.abc import Iterator

import pytest

from tests.pricing.providers.aws_tools import hide_own_settings
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import small


@pytest.fixture
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_own_settings(monkeypatch)


@pytest.fixture
def server(own_settings: None) -> Iterator[FakeAws]:
    with FakeAws(small()) as running:
        yield running
