"""The bundled catalog read from its files is the one that the database gives."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pricing import catalog
from pricing.bundled.catalog import bundled_catalog
from pricing.bundled.load import load
from tests.pricing.bundled.price_lists import PriceLists, price
from tools.bundle.build import build, write

SOURCE = """
import sys
from pricing.bundled.catalog import bundled_catalog
known = bundled_catalog()
loaded = {name.partition(".")[0] for name in sys.modules}
print(len(known.offers), sorted(loaded & {"django", "pandas", "httpx", "boto3", "psycopg"}))
"""


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
    lists = PriceLists(tmp_path / "lists")
    lists.prices(price("aws", "us-east-1", "p5.48xlarge", "55.04"))
    write(build(lists.write()), tmp_path / "bundle")
    load(tmp_path / "bundle")
    stored, read = catalog.current(), bundled_catalog(tmp_path / "bundle")
    assert read.exchange_rates == stored.exchange_rates
    assert read.revisions == tuple(replace(r, published_at=None) for r in stored.revisions)


@pytest.mark.sweep
def test_it_needs_neither_django_nor_network() -> None:
    """Of the whole library it is held in `tests/gpu_cost_planner/test_planning.py`."""
    done = subprocess.run(
        [sys.executable, "-c", SOURCE], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(len(bundled_catalog().offers)), "[]"]


def test_it_is_read_once_in_a_process() -> None:
    assert bundled_catalog() is bundled_catalog()
