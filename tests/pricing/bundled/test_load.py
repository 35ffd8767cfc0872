"""Loading the shipped catalog: through the checks, once, and never over newer prices."""

import datetime as dt
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from pricing import models
from pricing.bundled import catalog
from pricing.bundled.load import load
from pricing.publish.batch import OfferBatch
from pricing.publish.publication import publish
from pricing.storage import reference, store
from tests.pricing.bundled.price_lists import offer, write_catalog

pytestmark = pytest.mark.django_db


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle of two offers, one of them retired, with one past price."""
    before = offer(usd_per_hour="98.32", as_of=dt.date(2023, 7, 31))
    retired = offer("p2.xlarge", "0.90", accelerator="nvidia-k80", sold_now=False)
    return write_catalog(tmp_path / "bundle", offer(), retired, past=(before,))


def loaded(folder: Path, **options: bool) -> dict[str, bool]:
    return {part.part: part.changed for part in load(folder, **options)}


def test_everything_is_published_the_first_time(bundle: Path) -> None:
    assert loaded(bundle) == {
        "exchange rates": True,
        "regions": True,
        "aws": True,
        "past prices": True,
    }
    latest = store.latest("aws")
    assert latest is not None
    assert (latest.origin, latest.offer_count, latest.sold_count) == ("bundled", 2, 1)
    assert {offer.instance_type: offer.sold_now for offer in store.read_offers(latest)} == {
        "p5.48xlarge": True,
        "p2.xlarge": False,
    }
    assert reference.regions()["aws", "us-east-1"].geography == "north-america"
    assert reference.exchange_rates().currencies == ("CNY", "USD")
    assert models.PastPrice.objects.count() == 1


def test_a_second_load_changes_nothing(bundle: Path) -> None:
    load(bundle)
    assert not any(loaded(bundle).values())
    assert models.Revision.objects.count() == 1


def test_trap_9_the_date_is_that_of_the_newest_price_not_of_the_load(bundle: Path) -> None:
    load(bundle)
    latest = store.latest("aws")
    assert latest is not None
    assert latest.as_of == dt.date(2026, 8, 1)


def test_trap_9_prices_of_a_live_refresh_stay_in_force(bundle: Path) -> None:
    load(bundle)
    latest = store.latest("aws")
    assert latest is not None
    offers = [replace(o, as_of=dt.date(2026, 8, 9)) for o in store.read_offers(latest)]
    day = dt.date(2026, 8, 9)
    publish(OfferBatch("aws", tuple(offers), day), today=day)
    told = {part.part: part for part in load(bundle)}
    assert not told["aws"].changed
    assert "stays in force" in told["aws"].note
    assert loaded(bundle, force=True)["aws"]


def test_the_shipped_catalog_loads_and_the_command_says_so() -> None:
    said = StringIO()
    call_command("load_catalog", stdout=said)
    shipped = catalog.read_report()["providers"]
    for name, found in shipped.items():
        latest = store.latest(name)
        assert latest is not None
        assert (latest.offer_count, latest.sold_count) == (found["offers"], found["sold_now"])
        assert f"{name}: {found['offers']} loaded (revision 1)" in said.getvalue()
        assert latest.withheld == {}
    said = StringIO()
    call_command("load_catalog", stdout=said)
    assert "loaded" not in said.getvalue()


def test_a_folder_without_a_catalog_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"exchange_rates\.csv"):
        call_command("load_catalog", str(tmp_path))


def publish_on(day: dt.date, usd_per_hour: str, origin: str = "live") -> None:
    offers = (offer(usd_per_hour=usd_per_hour, as_of=day), offer("p4d.24xlarge", "32", as_of=day))
    publish(OfferBatch("aws", offers, day, origin), force=True, today=day)


def in_force() -> tuple[str, dict[str, tuple[Decimal, dt.date | None]]]:
    latest = store.latest("aws")
    assert latest is not None
    offers = store.read_offers(latest)
    return latest.origin, {one.instance_type: (one.price_per_hour, one.as_of) for one in offers}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """Prices of 9 August, a file and a wheel of them; then the database is as on 1 August."""
    pytest.importorskip("pyarrow")
    publish_on(dt.date(2026, 8, 9), "60.5")
    for target in ("prices.parquet", "--wheel"):
        file = tmp_path / ("" if target == "--wheel" else target)
        call_command("prices", "export", str(file), *{target} & {"--wheel"}, stdout=StringIO())
    for model in (models.Price, models.Listing, models.Revision):
        model.objects.all().delete()
    publish_on(dt.date(2026, 8, 1), "55.04")
    return tmp_path


NEWER = {
    "p5.48xlarge": (Decimal("60.5"), dt.date(2026, 8, 9)),
    "p4d.24xlarge": (Decimal("32"), dt.date(2026, 8, 9)),
}


def test_newer_prices_of_a_file_replace_live_ones_and_older_ones_do_not(
    exported: Path, bundle: Path
) -> None:
    file = exported / "prices.parquet"
    call_command("load_catalog", str(bundle), "--latest", str(file), stdout=StringIO())
    assert in_force() == ("bundled", NEWER)
    publish_on(dt.date(2026, 8, 10), "61")
    said = StringIO()
    call_command("load_catalog", str(bundle), "--latest", str(file), stdout=said)
    assert in_force()[1]["p5.48xlarge"] == (Decimal("61"), dt.date(2026, 8, 10))
    assert "stays in force" in said.getvalue()


def test_a_file_is_compared_as_a_refresh_is(exported: Path, bundle: Path) -> None:
    publish_on(dt.date(2026, 8, 2), "20")
    said = StringIO()
    file = str(exported / "prices.parquet")
    call_command("load_catalog", str(bundle), "--latest", file, stdout=said)
    assert in_force()[1]["p5.48xlarge"] == (Decimal("20"), dt.date(2026, 8, 2))
    assert "waits: on demand" in said.getvalue()


def test_the_package_is_one_that_pip_installs_and_loads(
    exported: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel,) = exported.glob("gpu_cost_planner_prices-2026.8.9-py3-none-any.whl")
    site = exported / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target"]
    subprocess.run([*pip, str(site), str(wheel)], check=True, capture_output=True)
    monkeypatch.syspath_prepend(str(site))
    call_command("load_catalog", str(bundle), "--latest", stdout=StringIO())
    assert in_force() == ("bundled", NEWER)
    call_command("load_catalog", str(bundle), stdout=StringIO())
    assert in_force() == ("bundled", NEWER)


def test_what_is_no_price_file_of_one_day_is_refused(exported: Path, bundle: Path) -> None:
    publish_on(dt.date(2026, 8, 2), "56")
    history, text = exported / "history.parquet", exported / "text.parquet"
    call_command("prices", "history", str(history), stdout=StringIO())
    text.write_text("no prices")
    for name, words in (
        (str(history), "holds a history"),
        (str(text), "is not a Parquet file"),
        ("none.parquet", "neither a file nor installed"),
    ):
        with pytest.raises(CommandError, match=words):
            call_command("load_catalog", str(bundle), "--latest", name, stdout=StringIO())
