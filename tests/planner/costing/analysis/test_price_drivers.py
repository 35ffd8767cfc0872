"""Which price process moves which source."""

import datetime as dt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.costing.analysis.outcomes import PriceDrivers, find_drivers
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.price_processes.process import PriceKind, PriceProcess, find_process

H100, V100 = "nvidia-h100-80gb-sxm", "nvidia-v100-32gb"


def source(key: str, option: str, price: float = 8.0, **fields: Any) -> CapacitySource:
    provider, region = fields.pop("provider", "aws"), fields.pop("region", "east")
    offer: Any = SimpleNamespace(provider=provider, region=region)
    plain = {"accelerator": H100, "accelerators": 8}
    named = plain | fields
    return CapacitySource(
        key, key, option, capacity=8.0, price_per_hour=price,
        offer=None if option == "owned" else offer, is_spot=option == "spot", **named,
    )  # fmt: skip


def drivers(*sources: CapacitySource, keys: Any = None, year: int = 2027) -> PriceDrivers:
    inputs: Any = SimpleNamespace(
        sources=sources, by_key={one.key: one for one in sources},
        calendar=SimpleNamespace(start=dt.date(year, 1, 1)),
    )  # fmt: skip
    return find_drivers(inputs, keys)


def process(key: str, *sources: CapacitySource) -> PriceProcess:
    found = drivers(*sources)
    return found.processes[found.of_source[key]]


@pytest.mark.parametrize(
    ("option", "provider", "kind", "place"),
    [
        ("on_demand", "aws", PriceKind.LIST, "aws"),
        ("on_demand", "azure", PriceKind.LIST, "azure"),
        ("on_demand", "gcp", PriceKind.LIST, "gcp"),
        ("on_demand", "lambda", PriceKind.MARKET, "lambda"),
        ("reserved", "lambda", PriceKind.COMMITMENT, "lambda"),
        ("capacity_block", "aws", PriceKind.MARKET, "aws"),
        ("spot", "aws", PriceKind.SPOT, "aws/east"),
        ("owned", "aws", PriceKind.HARDWARE, ""),
    ],
)
def test_a_price_moves_as_its_option_and_provider_do(
    option: str, provider: str, kind: PriceKind, place: str
) -> None:
    one = source("a", option, provider=provider)
    found = process("a", one)
    assert (found.kind, found.place) == (kind, place)
    assert found.changes_per_year == find_process(H100, kind, 2027).changes_per_year


def test_the_year_asked_in_counts() -> None:
    """Lists of young families are cut more often."""
    of_years = {
        year: drivers(source("a", "on_demand"), year=year).processes[0] for year in (2023, 2035)
    }
    for year, found in of_years.items():
        assert found.changes_per_year == find_process(H100, PriceKind.LIST, year).changes_per_year
    assert of_years[2023].changes_per_year > of_years[2035].changes_per_year


def discount(*on_demand: CapacitySource, **fields: Any) -> float | None:
    found = process("spot", source("spot", "spot", 4.0, **fields), *on_demand).discount
    return None if found is None else float(np.exp(found))


def test_spot_is_at_a_discount_to_the_least_price_on_demand_of_its_region() -> None:
    here, cheap = source("a", "on_demand", 10.0), source("b", "on_demand", 8.0)
    elsewhere = source("c", "on_demand", 5.0, region="west")
    assert discount(here) == pytest.approx(0.4)
    assert discount(here, cheap, elsewhere) == pytest.approx(0.5)
    # Without one in its region that of its provider, else none.
    assert discount(elsewhere) == pytest.approx(0.8)
    assert discount(source("d", "on_demand", 5.0, provider="gcp")) is None
    assert discount(source("d", "on_demand", 5.0, accelerator=V100)) is None
    assert discount(source("d", "on_demand", 0.0)) is None
    assert discount(source("d", "reserved", 5.0)) is None
    assert process("spot", source("spot", "spot", 0.0), here).discount is None
    # By the accelerator.
    assert discount(source("a", "on_demand", 2.0, accelerators=1)) == pytest.approx(0.25)


def test_equal_processes_are_drawn_once_in_the_order_of_keys() -> None:
    sources = (
        source("c", "on_demand"), source("b", "owned"), source("a", "on_demand", 9.0),
        source("d", "on_demand", provider="gcp"), source("data", "", accelerator=""),
    )  # fmt: skip
    found = drivers(*sources)
    assert found.of_source == {"a": 0, "b": 1, "c": 0, "d": 2}
    assert [p.kind for p in found.processes] == ["list", "hardware", "list"]
    some = drivers(*sources, keys={"c", "d"})
    assert some.of_source == {"c": 0, "d": 1}
    assert drivers(*sources, keys=set()).processes == ()
