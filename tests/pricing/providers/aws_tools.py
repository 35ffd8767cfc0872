"""Fetching from the fake AWS, with nothing of this machine's own AWS settings."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from pricing.ingest.provider import FetchContext, NotRead, SkippedRow
from pricing.market.offers import Offer
from pricing.providers.aws import provider
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import NOW


def hide_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)


def bare(offer: Offer) -> Offer:
    """Without the source and SKU, which the truth does not state; a Compute plan's SKU it does."""
    sku = offer.sku if offer.is_compute_plan else ""
    return replace(offer, sku=sku, source="")


@dataclass
class Found:
    """What a fetch gave, by kind; `not_read` without the other partition."""

    offers: list[Offer]
    skipped: list[SkippedRow]
    not_read: list[NotRead]
    partition: NotRead | None = None

    def prices(self) -> dict[str, Offer]:
        """By id, without the source, which the truth does not state."""
        return {offer.id: bare(offer) for offer in self.offers}

    def reasons(self) -> set[str]:
        return {row.reason for row in self.skipped}

    def details(self, reason: str) -> set[str]:
        return {row.detail for row in self.skipped if row.reason == reason}


def account(server: FakeAws) -> dict[str, str]:
    return {"AWS_ENDPOINT_URL": server.url}


def public_files(server: FakeAws) -> dict[str, str]:
    return {"AWS_PRICE_LIST_URL": server.url}


def context(settings: Mapping[str, str], **changes: Any) -> FetchContext:
    extra = {"sleep": lambda _seconds: None, "call_timeout_s": 2} | changes.pop("extra", {})
    return FetchContext(settings, NOW, extra=extra, **changes)


def fetch(settings: Mapping[str, str], **changes: Any) -> Found:
    found = Found([], [], [])
    for item in provider.fetch(context(settings, **changes)):
        if isinstance(item, Offer):
            found.offers.append(item)
        elif isinstance(item, SkippedRow):
            found.skipped.append(item)
        elif "China" in item.reason:
            found.partition = item
        else:
            found.not_read.append(item)
    return found
