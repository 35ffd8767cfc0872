"""Commitments on TPUs are sold, and are told by the name of the TPU."""

from __future__ import annotations

import pytest

from planner.costing.inputs.missing_prices import describe_missing
from pricing.market.coverage import CoverageRow, PriceState
from pricing.market.sold_options import find_sold_option


@pytest.mark.parametrize("machine", ["v5litepod-16", "v5p-32", "v6e-16", "tpu7x-16"])
@pytest.mark.parametrize("option", ["committed_use", "dws_calendar_mode"])
def test_google_sells_terms_on_todays_tpus(machine: str, option: str) -> None:
    known = find_sold_option("gcp", option, machine)
    assert known is not None
    assert known.is_sold


@pytest.mark.parametrize("machine", ["v2-32", "v3-32", "v4-32"])
def test_older_ones_are_not_reserved_by_date(machine: str) -> None:
    known = find_sold_option("gcp", "dws_calendar_mode", machine)
    assert known is not None
    assert known.is_sold is False


def test_slices_go_by_the_name_of_their_tpu() -> None:
    row = CoverageRow(
        "google-tpu-v5e",
        "gcp",
        "committed_use",
        PriceState.SOLD_PRICE_UNKNOWN,
        machines=("v5litepod",),
        needs_account=True,
    )
    (words,) = describe_missing([row])
    assert words.startswith("Google Cloud sells committed use for Google TPU v5e; their prices")
