"""A price that is not in the catalog is not a thing that is not sold."""

import csv
import datetime as dt
from collections.abc import Sequence

import numpy as np
import pytest

from pricing.market import machine_types
from pricing.market.coverage import CoverageRow, PriceState, compute_coverage
from pricing.market.offer_filters import EVERY_MACHINE, TABLE, machine_family
from pricing.market.offer_table import OfferTable
from pricing.market.offers import Offer, PurchaseOption
from tests.pricing.make import A100, H100, datasheet, offer

DAY = dt.date(2026, 9, 1)
SPOT = PurchaseOption.SPOT


def covered(*offers: Offer, **asked: Sequence[str]) -> dict[tuple[str, str], CoverageRow]:
    """(provider, purchase option) → what is known of H100."""
    table = OfferTable.from_offers(offers, datasheet=datasheet)
    asked = {"accelerators": [H100]} | asked
    rows = table.select(accelerators=asked["accelerators"], sold_now=True)
    found = compute_coverage(table, rows, **asked)
    return {(row.provider, row.purchase_option): row for row in found}


def test_prices_are_counted_with_their_oldest_and_newest_day() -> None:
    known = covered(
        offer(as_of=DAY),
        offer(as_of=DAY - dt.timedelta(90), region="eu-west-1"),
        offer(as_of=None, region="us-west-2"),
        offer(as_of=dt.date(2020, 1, 1), region="x", sold_now=False),
    )["aws", "on_demand"]
    assert (known.state, known.count, known.undated) == (PriceState.PRICED, 3, 1)
    assert (known.oldest, known.newest) == (DAY - dt.timedelta(90), DAY)


def test_prices_without_a_day_have_none() -> None:
    known = covered(offer(as_of=None))["aws", "on_demand"]
    assert (known.count, known.undated, known.oldest, known.newest) == (1, 1, None, None)


def test_savings_plans_for_p5_are_sold_at_an_unknown_price() -> None:
    known = covered(offer())["aws", "savings_plan"]
    assert (known.state, known.machines) == (PriceState.SOLD_PRICE_UNKNOWN, ("p5",))
    assert not known.needs_account
    assert "Savings Plans" in known.source


def test_capacity_blocks_are_read_with_an_account() -> None:
    assert covered(offer())["aws", "capacity_block"].needs_account


def test_what_no_source_says_of_a_machine_is_not_known() -> None:
    assert covered(offer())["aws", "reserved"].state is PriceState.UNKNOWN


def test_a_machine_that_cannot_be_had_under_an_option_is_not_sold_under_it() -> None:
    a2 = offer(
        provider="gcp", instance_type="a2-highgpu-8g", accelerator=A100, region="us-central1"
    )
    known = covered(a2, accelerators=[A100])["gcp", "dws_calendar_mode"]
    assert known.state is PriceState.NOT_SOLD
    assert ("gcp", "reserved") not in covered(a2, accelerators=[A100])


def test_an_option_asked_for_by_name_is_answered_for_every_provider() -> None:
    known = covered(offer(), purchase_options=["low_priority"])
    assert {key: row.state for key, row in known.items()} == {
        ("aws", "low_priority"): PriceState.NOT_SOLD
    }


def test_a_provider_without_a_machine_is_left_out() -> None:
    stratus = offer(provider="stratus", instance_type="h8")
    assert {provider for provider, _ in covered(stratus)} == {"stratus"}
    assert {provider for provider, _ in covered(offer(), providers=["azure"])} == set()


def test_a_provider_nobody_described_has_the_options_of_its_prices() -> None:
    stratus = offer(provider="stratus", instance_type="h8")
    assert set(covered(stratus, offer())) >= {("stratus", "on_demand"), ("aws", "reserved")}
    assert ("stratus", "reserved") not in covered(stratus)


def test_an_empty_catalog_has_no_coverage() -> None:
    table = OfferTable.from_offers([], datasheet=datasheet)
    assert compute_coverage(table, np.arange(0)) == ()


def test_every_row_of_the_table_names_a_provider_an_option_a_day_and_a_source() -> None:
    with TABLE.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        assert PurchaseOption(row["purchase_option"])
        assert dt.date.fromisoformat(row["as_of"]) <= dt.date(2026, 11, 20)
        assert row["source"]
        assert row["sold"] in ("yes", "no", "unknown")
    every_option = {(p, o.value) for p in ("aws", "azure", "gcp") for o in PurchaseOption}
    assert {(row["provider"], row["purchase_option"]) for row in rows} == every_option


@pytest.mark.parametrize("provider", ["aws", "gcp"])
def test_every_family_of_the_table_is_one_of_a_known_machine(provider: str) -> None:
    known = {machine_family(name) for name in machine_types.all_machine_types(provider)}
    known |= {machine_family(one.instance_type) for one in machine_types.attached_machine_types()}
    known |= {machine_family(one.name) for one in machine_types.tpu_slices()}
    with TABLE.open(newline="", encoding="utf-8") as lines:
        named = {
            family
            for row in csv.DictReader(lines)
            if row["provider"] == provider
            for family in row["machines"].split()
        }
    assert named - known - {EVERY_MACHINE} == set()
