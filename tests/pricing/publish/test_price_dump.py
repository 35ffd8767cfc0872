"""A Parquet file of all prices gives what each list was on any day."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from pricing.market.offers import Offer
from pricing.publish import history, publication
from pricing.publish.batch import OfferBatch
from pricing.publish.history import write_prices
from tests.pricing.make import A100, offer

pytestmark = pytest.mark.django_db
parquet = pytest.importorskip("pyarrow.parquet")
DAYS = tuple(dt.date(2026, 9, day) for day in (1, 5, 9))
FIRST = (offer("55.04"), offer("20.48", Fraction(1, 6), instance_type="half", accelerator=A100))
LISTS = (
    FIRST,
    (replace(FIRST[0], price_per_hour=Decimal("50.000000001")), FIRST[1]),
    (replace(FIRST[0], price_per_hour=Decimal("60")), offer("9", instance_type="new")),
)


@pytest.fixture
def published() -> None:
    past = [
        replace(FIRST[0], price_per_hour=Decimal(price), as_of=dt.date(year, 1, 1))
        for price, year in (("98.32", 2024), ("80", 2026), ("1", 2027))
    ]
    unlisted = offer("3", instance_type="unlisted", as_of=dt.date(2026, 2, 1))
    history.replace_past_prices("aws", [*past, unlisted])
    for day, offers in zip(DAYS, LISTS, strict=True):
        dated = tuple(replace(one, as_of=day) for one in offers)
        publication.publish(OfferBatch("aws", dated, day), today=day, force=True)


def read(path: Path, *args: Any) -> list[dict[str, Any]]:
    write_prices(path, *args)
    return parquet.read_table(path).to_pylist()


def prices(rows: list[dict[str, Any]]) -> dict[str, Decimal]:
    return {row["offer_id"]: row["price_per_hour"] for row in rows}


def of(offers: tuple[Offer, ...]) -> dict[str, Decimal]:
    return {one.id: one.price_per_hour for one in offers}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["--on", "2023-01-01"], "no price was in force on 2023-01-01"),
        (["--provider", "aws", "--on", "2023-02-01"], "no price of aws was in force on 2023-02-01"),
    ],
)
def test_where_no_price_matches_no_file_is_written(published, tmp_path, asked, words):
    path = tmp_path / "x.parquet"
    with pytest.raises(CommandError, match=f"^{words}; no file was written$") as refused:
        call_command("prices", "export", str(path), *asked, stdout=StringIO())
    assert refused.value.returncode == 2
    assert not path.exists()


def test_the_whole_dump_holds_each_price_once_with_its_days(published, tmp_path):
    rows = read(tmp_path / "x.parquet")
    spans = [
        (str(row["price_per_hour"].normalize()), row["from_day"], row["to_day"], row["revision"])
        for row in rows
        if row["offer_id"] == FIRST[0].id
    ]
    assert spans == [
        ("98.32", dt.date(2024, 1, 1), dt.date(2026, 1, 1), None),
        ("8E+1", dt.date(2026, 1, 1), DAYS[0], None),
        ("55.04", DAYS[0], DAYS[1], 1),
        ("50.000000001", DAYS[1], DAYS[2], 2),
        ("6E+1", DAYS[2], None, 3),
    ]
    gone = next(row for row in rows if row["instance_type"] == "half")
    assert (gone["accelerator_count"], gone["to_day"]) == ("1/6", DAYS[2])


def test_the_command_writes_the_file_and_names_what_it_cannot_do(published, tmp_path):
    out = StringIO()
    path = tmp_path / "prices.parquet"
    call_command(
        "prices", "export", str(path), "--provider", "aws", "--on", "2026-09-06", stdout=out
    )
    assert out.getvalue().strip() == f"{path}: 2 prices"
    for args, words in (
        (("--provider", "nimbus"), "'nimbus' has no prices"),
        (("--on", "tomorrow"), "not a day such as"),
        (("--on", "2999-12-31"), "the latest day is 20"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("prices", "export", str(path), *args)
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("prices", "export", str(tmp_path / "no" / "x.parquet"))
