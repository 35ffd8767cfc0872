"""How far a price and a request travel: files that a price crosses, calls against the imports.

Counted while a refresh and a page run. A file counts for a price where a function of it holds the
figure itself (a number equal to it, as a local or as what is returned), not where it passes on a
row or an offer unread. A request climbs back where a module calls into one that imports it and
that it does not import: a callback; a pair of modules counts once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import grimp
import pytest
from django.core.management import call_command
from django.test import Client

from pricing.providers.aws import provider
from pricing.publish import refresh
from pricing.publish.refresh import RefreshOptions
from tests.planner.web.asking import text
from tests.pricing.providers.aws_tools import hide_own_settings
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import small

pytestmark = [pytest.mark.django_db, pytest.mark.sweep]
ROOT = Path(__file__).parent.parent
MOST_FILES_OF_A_PRICE = 20
MOST_CLIMBS = 3
ON_DEMAND = (
    "/plan/?workload.kind=accelerator_hours&workload.accelerator=H100&workload.hours_per_month=4000"
    "&workload.peak_accelerators=8&start=2027-01&horizon_months=6&constraints.providers=aws"
    "&constraints.purchase_options=on_demand"
)
TRAINING = (
    "/plan/?workload.kind=training&workload.parameters~bn=7&workload.tokens~bn=140"
    "&workload.accelerator=H100&start=2027-01&horizon_months=24"
)


@contextmanager
def watching(see: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    sys.setprofile(see)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_a_price_crosses_few_files(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_own_settings(monkeypatch)
    crossed = set()

    def see(frame: FrameType, event: str, returned: Any) -> None:
        path = frame.f_code.co_filename
        if event == "return" and path.startswith((f"{ROOT}/planner/", f"{ROOT}/pricing/")):
            values = (returned, *frame.f_locals.values())
            if any(is_figure(value, price) for value in values):
                crossed.add(str(Path(path).relative_to(ROOT)))

    with FakeAws(small()) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        offers = server.market.offers(account=True)
        price = next(
            float(o.price_per_hour)
            for o in offers
            if o.purchase_option == "on_demand" and o.accelerator.startswith("nvidia-h100")
        )
        with watching(see):
            refresh.refresh([provider], RefreshOptions(extra={"sleep": lambda _seconds: None}))
            page = Client().get(ON_DEMAND)
    assert f"{price:,.2f}\N{NO-BREAK SPACE}USD per node-hour" in text(page)
    assert "planner/costing/results/ledger.py" in crossed
    assert len(crossed) <= MOST_FILES_OF_A_PRICE, sorted(crossed)


def is_figure(value: Any, price: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return abs(float(value) - price) < 1e-9 * price


@pytest.mark.parametrize("more", ["", "&explain=true&risk.samples=500&risk.tail_weight=1"])
def test_a_page_climbs_back_at_most_three_times(more: str) -> None:
    call_command("load_catalog", verbosity=0)
    client, calls = Client(), set()
    client.get("/")  # What is made once for all pages is made.

    def see(frame: FrameType, event: str, _returned: Any) -> None:
        if event == "call" and (called := module_of(frame)):
            caller = calling_module(frame)
            if caller and caller != called:
                calls.add((caller, called))

    with watching(see):
        assert client.get(TRAINING + more).status_code == 200
    assert len(calls) > 300
    climbs = [
        (caller, called)
        for caller, called in calls
        if not graph().chain_exists(importer=caller, imported=called)
        and graph().chain_exists(importer=called, imported=caller)
    ]
    assert len(climbs) <= MOST_CLIMBS, climbs


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("planner", "pricing", cache_dir=None)


def module_of(frame: FrameType) -> str:
    """The module of ours that a frame is in, else nothing."""
    name = frame.f_globals.get("__name__", "")
    return name if name in graph().modules else ""


def calling_module(frame: FrameType) -> str:
    """The nearest of ours that called, through whatever library."""
    above = frame.f_back
    while above is not None:
        if name := module_of(above):
            return name
        above = above.f_back
    return ""
