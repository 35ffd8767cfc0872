"""A provider that gives what a test tells it to, and can fail on the way."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pricing.ingest.provider import FetchContext, Provider
from pricing.market.offers import Offer
from tests.pricing.make import A100, T4, offer

Item = Any


def some_offers(provider: str = "nimbus", regions: int = 3) -> list[Offer]:
    """Twelve offers: two families in on demand and spot, in each of three regions."""
    base = [
        offer("40", instance_type="h8.xlarge"),
        offer("20", instance_type="a8.xlarge", accelerator=A100),
        offer("0.5", 1, instance_type="t1.xlarge", accelerator=T4),
        offer("4", 8, instance_type="t1.8xlarge", accelerator=T4),
    ]
    return [
        replace(one, provider=provider, region=f"region-{n}")
        for n in range(regions)
        for one in base
    ]


class FakeProvider(Provider):
    """`items` are given in order; an exception among them is raised, a function is called."""

    def __init__(
        self,
        items: Iterable[Item] | None = None,
        name: str = "nimbus",
        server_ahead: dt.timedelta | None = None,
    ) -> None:
        self.name = name
        self.title = name.title()
        self.items = some_offers(name) if items is None else list(items)
        self.server_ahead = server_ahead
        self.seen: FetchContext | None = None

    def fetch(self, context: FetchContext) -> Iterator[Item]:
        self.seen = context
        day = context.retrieved_at.date()
        if self.server_ahead is not None:
            context.server_time(dt.datetime.now(dt.UTC) + self.server_ahead)
        for n, item in enumerate(self.items):
            context.progress("pages", n, len(self.items))
            if isinstance(item, BaseException):
                raise item
            if isinstance(item, Callable):  # type: ignore[arg-type]
                item()
                continue
            yield replace(item, as_of=day) if isinstance(item, Offer) else item
