"""Figures with units, and how old prices are, with and without a value."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

from planner.web.common import formatting
from pricing.revisions import Freshness, PartFreshness

PARTS = (
    PartFreshness("on_demand", "green", 8, 0, 12, 90, dt.date(2026, 11, 18), ()),
    PartFreshness("spot", "green", 2, 0, 3, 3, dt.date(2026, 11, 17), ()),
)
FRESHNESS = Freshness(
    provider="aws",
    title="AWS",
    revision=1,
    origin="live",
    as_of=dt.date(2026, 11, 20),
    oldest_price_as_of=dt.date(2026, 11, 8),
    age_days=12,
    level="green",
    parts=PARTS,
    offers=10,
    undated_prices=0,
    last_run="published",
    last_run_at=None,
    message="",
    quarantined_parts=0,
)
UNDATED = replace(
    FRESHNESS, age_days=None, parts=(PartFreshness("on_demand", "red", 8, 8, None, None, None, ()),)
)


def test_a_quantity_without_a_value_has_no_unit() -> None:
    assert formatting.quantity(2000.0, "GiB") == "2,000 GiB"
    assert formatting.quantity(0, "days") == "0 days"
    assert formatting.quantity(None, "GiB") == "not known"


def test_hours_below_1_are_told_in_minutes() -> None:
    assert formatting.worked(524.2, "machine") == "524 machine-hours"
    assert formatting.worked(3.44, "machine") == "3.4 machine-hours"
    assert formatting.worked(9.96, "machine") == "10 machine-hours"
    assert formatting.worked(1.02, "machine") == "1 machine-hour"
    assert formatting.worked(0.24, "machine") == "14 machine-minutes"
    assert formatting.worked(1 / 60, "machine") == "1 machine-minute"
    assert formatting.worked(0.001, "accelerator") == "less than 1 accelerator-minute"
    assert formatting.worked(None, "machine") == "not known"
    assert formatting.duration(524.2) == "524 h"
    assert formatting.duration(3.44) == "3.4 h"
    assert formatting.duration(0.5) == "30 min"
    assert formatting.duration(0) == "0 min"
    assert formatting.duration(0.001) == "less than 1 min"
    assert formatting.duration(None) == "not known"


def test_cells_and_sums_below_1_keep_their_hundredths() -> None:
    assert formatting.cell(524.2) == "524"
    assert formatting.cell(9.96) == "10.0"
    assert formatting.cell(3.86) == "3.9"
    assert formatting.cell(0.246) == "0.25"
    assert formatting.cell(0.001) == "less than 0.01"
    assert formatting.cell(0) == "0"
    assert formatting.cell(None) == "not known"
    assert formatting.money(Decimal("0.37")) == "0.37\u00a0USD"
    assert formatting.money(Decimal("-0.37")) == "-0.37\u00a0USD"
    assert formatting.money(Decimal("0.51")) == "1\u00a0USD"
    assert formatting.money(0) == "0\u00a0USD"


def test_the_age_of_prices_is_told_in_two_lengths() -> None:
    assert formatting.price_age(FRESHNESS) == "on demand 12 days (oldest 90 days), spot 3 days"
    assert formatting.price_age_short(FRESHNESS) == "12 days old"


def test_prices_without_a_date_have_no_age() -> None:
    assert formatting.price_age(UNDATED) == "the prices carry no date"
    assert formatting.price_age_short(UNDATED) == "undated"
