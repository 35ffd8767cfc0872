"""The bundled catalog read from its files is the one that the database gives."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pricing import catalog
from pricing.bundled.catalog import bundled_catalog
from pricing.bundled.load import load
from tests.pricing.bundled.price_lists import offer, write_catalog


@pytest.mark.sweep
@pytest.mark.django_db
def test_it_is_the_catalog_of_the_database() -> None:
    load()
    stored, read = catalog.current(), bundled_catalog()
    assert len(read.offers) > 10_000
    assert tuple(read.offers.offers) == tuple(stored.offers.offers)
    assert [o.id for o in read.offers.offers] == [o.id for o in stored.offers.offers]
    assert read.regions == stored.regions
    assert read.exchange_rates == stored.exchange_rates
    assert read.revisions == tuple(replace(r, published_at=None) for r in stored.revisions)
    assert np.array_equal(read.offers.usd_per_hour, stored.offers.usd_per_hour)


@pytest.mark.django_db
def test_money_is_converted_with_the_rates_of_the_last_day_that_was_read(tmp_path: Path) -> None:
    load(write_catalog(tmp_path / "bundle", offer()))
    stored, read = catalog.current(), bundled_catalog(tmp_path / "bundle")
    assert read.exchange_rates == stored.exchange_rates
    assert read.revisions == tuple(replace(r, published_at=None) for r in stored.revisions)
