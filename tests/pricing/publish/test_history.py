import csv
import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest
import zstandard

from pricing import catalog
from pricing.common.invalid_input import InvalidInput
from pricing.market.offer_rows import OFFER_COLUMNS, to_row
from pricing.publish.history import load
from tests.pricing.make import offer

pytestmark = pytest.mark.django_db

BEFORE = offer("98.32", as_of=dt.date(2023, 8, 1))
AFTER = replace(BEFORE, price_per_hour=Decimal("55.04"), as_of=dt.date(2025, 6, 5))


def write(path, *offers, opener=open):
    with opener(path, "wt", newline="") as file:
        writer = csv.DictWriter(file, OFFER_COLUMNS)
        writer.writeheader()
        writer.writerows(to_row(o) for o in offers)
    return path


def prices() -> list[tuple[dt.date, Decimal]]:
    return [(p.date, p.offer.price_per_hour) for p in catalog.price_history(BEFORE.id)]


@pytest.mark.parametrize(
    ("name", "opener"),
    [("h.csv", open),
     ("h.csv.zst", zstandard.open)],
)  # fmt: skip
def test_a_price_cut_shows_in_the_history(tmp_path, name, opener):
    assert load(write(tmp_path / name, BEFORE, AFTER, opener=opener)) == {"aws": 2}
    assert prices() == [
        (dt.date(2023, 8, 1), Decimal("98.32")),
        (dt.date(2025, 6, 5), Decimal("55.04")),
    ]


def test_a_price_without_a_date_is_refused_and_nothing_recorded(tmp_path):
    load(write(tmp_path / "good.csv", BEFORE))
    with pytest.raises(InvalidInput, match="has no date"):
        load(write(tmp_path / "bad.csv", AFTER, replace(BEFORE, as_of=None)))
    assert prices() == [(dt.date(2023, 8, 1), Decimal("98.32"))]


def test_a_value_that_cannot_be_read_is_named_with_its_line(tmp_path):
    path = write(tmp_path / "bad.csv", BEFORE, AFTER)
    path.write_text(path.read_text().replace("55.04", "cheap"))
    with pytest.raises(InvalidInput, match=r"bad.csv line 3, price_per_hour: 'cheap'"):
        load(path)


def test_an_unknown_column_is_refused(tmp_path):
    (tmp_path / "bad.csv").write_text("provider,colour\naws,red\n")
    with pytest.raises(InvalidInput, match="column 'colour' is unknown; allowed are provider"):
        load(tmp_path / "bad.csv")
