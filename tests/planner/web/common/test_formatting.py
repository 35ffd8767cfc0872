"""Figures with units, and how old prices are, with and without a value."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

from django.http import HttpRequest
from django.utils import timezone

from planner.web.common import formatting, views
from pricing.revisions import PartFreshness

LISTED = PartFreshness("on_demand", "green", 8, 0, 12, 90, dt.date(2026, 11, 18), ())


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
    assert formatting.money(Decimal("-0.37")) == "\u22120.37\u00a0USD"
    assert formatting.money(Decimal("0.51")) == "1\u00a0USD"
    assert formatting.money(0) == "0\u00a0USD"


def test_the_age_of_a_part_is_told_with_that_of_its_oldest_price() -> None:
    assert formatting.part_age(LISTED) == "on demand 12 days (oldest 90 days)"
    assert formatting.part_age(replace(LISTED, oldest_age_days=12)) == "on demand 12 days"
    assert formatting.part_age(replace(LISTED, median_age_days=None)) == "on demand undated"


def test_the_head_dates_the_oldest_list_prices_of_the_large_clouds(monkeypatch) -> None:
    today = timezone.now().date()
    undated = replace(LISTED, median_age_days=None, level="red")
    parts = {"aws": LISTED, "azure": LISTED, "vast-ai": LISTED, "gcp": undated}
    rows = [SimpleNamespace(provider=name, parts=(part,)) for name, part in parts.items()]
    monkeypatch.setattr(views, "freshness", lambda: rows)
    context = views.page(HttpRequest())["freshness"]()
    shown = [(row["title"], row["day"], row["level"]) for row in context]
    day = today - dt.timedelta(days=12)
    assert shown == [("Google Cloud", None, "red"), ("AWS", day, "green"), ("Azure", day, "green")]
