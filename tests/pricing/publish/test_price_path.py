"""How many files a price crosses from a cloud's list to a page.

Counted while a refresh and a page run. A file counts where a function of it holds the figure
itself (a number equal to it, as a local or as what is returned), not where it passes on a row or
an offer unread. What a page request does is counted in `tests/planner/test_request_path.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from django.test import Client

from pricing.providers.aws import provider
from pricing.publish import refresh
from pricing.publish.refresh import RefreshOptions
from tests.planner.web.asking import text
from tests.pricing.providers.aws_tools import hide_own_settings
from tests.pricing.servers.aws import FakeAws
from tests.pricing.servers.aws_market import small

pytestmark = [pytest.mark.django_db, pytest.mark.sweep]
ROOT = Path(__file__).parents[3]
MOST_FILES_OF_A_PRICE = 20
ON_DEMAND = (
    "/plan/?workload.kind=accelerator_hours&workload.accelerator=H100&workload.hours_per_month=4000"
    "&workload.peak_accelerators=8&start=2027-01&horizon_months=6&constraints.providers=aws"
    "&constraints.purchase_options=on_demand"
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
    assert f"{price:,.2f}\N{NO-BREAK SPACE}USD per machine-hour" in text(page)
    assert "planner/costing/results/ledger.py" in crossed
    assert len(crossed) <= MOST_FILES_OF_A_PRICE, sorted(crossed)


def is_figure(value: Any, price: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return abs(float(value) - price) < 1e-9 * price
