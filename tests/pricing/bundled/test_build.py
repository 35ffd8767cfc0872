"""Adding price lists to a catalog: what is taken, what is not, and nothing lost."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pricing.bundled import catalog
from pricing.market.offer_rows import read_csv
from pricing.market.offers import Offer
from tests.pricing.bundled.price_lists import H100, offer, write_catalog, write_list
from tools import bundle

PLAN = {"purchase_option": "savings_plan", "term_months": "36", "payment_option": "no_upfront"}


def added(tmp_path: Path, *rows: Mapping[str, str]) -> tuple[dict[str, Offer], dict[str, int]]:
    """Offers by id, and rows by outcome, once a list of `rows` is added to an H100 on demand."""
    folder = write_catalog(tmp_path / "catalog", offer())
    assert bundle.main([str(write_list(tmp_path / "new.csv", *rows)), "--to", str(folder)]) == 0
    report = json.loads((folder / catalog.REPORT).read_text())["files"]["new.csv"]
    assert report["rows"] == len(rows)
    outcomes = {name: counted["count"] for name, counted in report["outcomes"].items()}
    offers = [*catalog.read_offers(folder), *catalog.read_other_clouds(folder)]
    return {one.id: one for one in offers}, outcomes


def test_a_price_takes_its_machine_from_the_table_of_its_cloud(tmp_path: Path) -> None:
    offers, outcomes = added(tmp_path, PLAN | {"price_per_hour": "23.77728"})
    plan = offers["aws:us-east-1:p5.48xlarge:savings_plan:36m:no_upfront"]
    assert (plan.accelerator, plan.accelerator_count, plan.vcpus) == (H100, 8, 192)
    assert (float(plan.price_per_hour), str(plan.as_of), plan.sold_now) == (
        23.77728,
        "2026-09-01",
        True,
    )
    assert outcomes == {"taken": 1}


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"left_out": "part of a machine"}, "part of a machine"),
        ({"instance_type": "p99.large"}, "unknown machine or accelerator"),
        ({"region": "mars-1"}, "region unknown: add it to regions.csv"),
        (PLAN | {"price_per_hour": "60"}, "contradicts the price on demand"),
        (PLAN | {"price_per_hour": "2.972"}, "contradicts the price on demand"),
        ({"as_of": "2026-07-01", "price_per_hour": "98.32"}, "older than what is known: history"),
    ],
)
def test_what_is_not_sold_is_counted_by_its_reason(
    tmp_path: Path, row: dict[str, str], outcome: str
) -> None:
    offers, outcomes = added(tmp_path, row)
    assert list(offers) == ["aws:us-east-1:p5.48xlarge:on_demand"]
    assert outcomes == {outcome: 1}


def test_a_longer_term_is_no_dearer(tmp_path: Path) -> None:
    year = {"term_months": "12", "price_per_hour": "34.7"}
    _, outcomes = added(tmp_path, PLAN | {"price_per_hour": "44"}, PLAN | year)
    assert outcomes == {"contradicts its like of another term": 1, "taken": 1}


def test_a_share_of_on_demand_is_near_that_of_its_family(tmp_path: Path) -> None:
    far, small = {"region": "us-west-2"}, {"instance_type": "p5.4xlarge"}
    _, outcomes = added(
        tmp_path,
        far,
        small | {"price_per_hour": "6.88"},
        PLAN | {"price_per_hour": "23.8"},
        PLAN | small | {"price_per_hour": "2.97"},
        PLAN | far | {"price_per_hour": "44"},
    )
    assert outcomes == {"contradicts its like elsewhere": 1, "taken": 4}


def test_of_two_prices_the_newer_is_sold_and_the_older_is_history(tmp_path: Path) -> None:
    offers, _ = added(tmp_path, {"price_per_hour": "50"}, {"as_of": "2025-07-01", **PLAN})
    assert float(offers["aws:us-east-1:p5.48xlarge:on_demand"].price_per_hour) == 50
    past = list(read_csv(tmp_path / "catalog" / catalog.PAST_PRICES))
    assert [float(one.price_per_hour) for one in past] == [55.04]


def test_trap_11_retired_machines_and_stale_prices_are_shown_and_never_sold(tmp_path: Path) -> None:
    offers, _ = added(
        tmp_path,
        {"instance_type": "p2.xlarge", "price_per_hour": "0.9"},
        {"instance_type": "p4d.24xlarge", "price_per_hour": "22", "as_of": "2025-07-01"},
    )
    assert {one.instance_type for one in offers.values() if one.sold_now} == {"p5.48xlarge"}
    assert len(offers) == 3


def test_a_smaller_cloud_names_its_accelerator_itself(tmp_path: Path) -> None:
    cloud = {"provider": "civo", "region": "all-regions", "instance_type": "8x H100"}
    offers, _ = added(tmp_path, cloud | {"accelerator": "H100", "accelerator_count": "8"})
    assert offers["civo:all-regions:8x H100:on_demand"].accelerator == H100


@pytest.mark.parametrize("amount", ["", "n/a"])
def test_a_price_that_is_no_number_is_refused_with_file_and_line(
    tmp_path: Path, amount: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_catalog(tmp_path / "catalog", offer())
    prices = write_list(tmp_path / "new.csv", {"price_per_hour": amount})
    assert bundle.main([str(prices), "--to", str(folder)]) == 2
    assert "new.csv line 2, price_per_hour" in capsys.readouterr().err
