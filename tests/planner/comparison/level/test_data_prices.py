"""Prices of data that nobody stated are said where they may decide the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pricing.market.snapshot import Region
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer

HERE = offer("40", region="eu-west-1")
THERE = offer("30", provider="gcp", region="us-central1", instance_type="a3-highgpu-8g")
HOME = {"provider": "aws", "region": "eu-west-1"}


def warned(months: int = 12, **data: Any) -> list[str]:
    regions = {("aws", "eu-west-1"): Region("europe", "IE")}
    found = compared(
        replace(catalog(HERE, THERE), regions=regions),
        hours=5840,
        horizon_months=months,
        on_prem={"servers": []},
        data={"storage_gib": 50_000, "home": HOME, **data},
    )
    return [text for text in found.warnings if "GiB" in text]


def test_a_set_that_is_moved_anew_each_month_is_said_to_be() -> None:
    """10 USD an hour less pay for 50,000 GiB a month at 0.09, 0.085 and 0.05 … USD."""
    moved = [text for text in warned() if "taken to the work" in text]
    assert len(moved) == 1
    assert moved[0].startswith(
        "All 50,000 GiB of the data are taken to the work anew in each of 12 months, which costs "
    )
    assert not any("taken to" in text for text in warned(transfer_gib_per_month=50_000))
    assert not any("taken to" in text for text in warned(months=1))


def test_disks_here_and_object_storage_there_are_told_apart() -> None:
    (text,) = [one for one in warned() if "disks" in one]
    assert text.startswith(
        "A GiB of data is kept for 0.08 USD a month at AWS, by an assumption for disks as the "
        "catalog has no price of storage there, and for 0.02 at Google Cloud, the list price of "
        "object storage: 4,000 USD a month or 1,000 USD."
    )
    own = {"item": "storage", "price_per_gib": 0.023}
    for stated in ({"prices": [own]}, {"storage_per_gib_month": 0.023}, {"storage_gib": 500}):
        assert not any("disks" in one for one in warned(**stated))
