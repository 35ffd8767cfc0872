"""Energy and carbon of single sources, computed by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.analysis.carbon import (
    Energy,
    GridCarbon,
    SourceEnergy,
    calculate_energy,
    node_power_kw,
)
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.cost_model.terms import Term
from planner.costing.results.scenario_result import Scenario
from pricing.market.snapshot import Catalog
from tests.planner.costing.market_of import H100, offer

TERM = Term(2, 3, 0, 60)


def energy(one: CapacitySource, started: Any = (0, 0), used: Any = (0, 0)) -> Energy:
    plan = Scenario(
        ScenarioKey.HYBRID,
        feasible=True,
        units_started={one.key: np.array(started)} if any(started) else {},
        used_hours={one.key: np.array(used, dtype=float)} if any(used) else {},
    )
    inputs: Any = SimpleNamespace(by_key={one.key: one})
    return calculate_energy(plan, inputs, lambda _provider, _region: (500.0, "somewhere"))


def owned(**fields: Any) -> CapacitySource:
    plain = {"term": TERM, "power_kw": 10.0, "idle_power_kw": 2.0, "pue": 1.5}
    return CapacitySource("box", "box", "owned", H100, 8, 8.0, **(plain | fields))


def rented(option: str, **fields: Any) -> CapacitySource:
    terms = {"term_months": 12} if option == "reserved" else {}
    return CapacitySource(
        "rent", "rent", option, H100, 8, 8.0, offer=offer("40", option, **terms), **fields
    )


def test_servers_already_owned_draw_at_idle_what_they_do_not_work() -> None:
    """2 · 2 · 730 h in service, 1,000 of them at work."""
    found = energy(owned(existing=np.array([2, 2])), used=(600, 400))
    assert found.kwh == pytest.approx((10 * 1000 + 2 * 1920) * 1.5)
    assert found.kg_co2e == pytest.approx(found.kwh * 0.5)
    assert energy(owned(existing=np.array([2, 2]))).kwh == pytest.approx(2 * 2920 * 1.5)


def test_servers_bought_draw_from_the_month_they_are_started_in() -> None:
    found = energy(owned(), started=(0, 3))
    assert found.kwh == pytest.approx(2 * 3 * 730 * 1.5)
    (entry,) = found.by_source
    assert (entry.source, entry.place) == ("box", "")


def test_what_is_neither_started_nor_used_is_not_listed() -> None:
    assert energy(owned()).by_source == ()
    assert energy(rented("on_demand")).by_source == ()


def test_a_server_without_a_power_is_named() -> None:
    found = energy(owned(power_kw=0.0), started=(1, 0))
    assert (found.by_source, found.unknown_power, found.kwh) == ((), ("box",), None)


def test_an_idle_committed_node_draws_its_idle_share() -> None:
    """8 · 894 W = 7.152 kW as measured: 500 of 1,460 h at work, the others at 15 %."""
    found = energy(rented("reserved", term=TERM), started=(1, 0), used=(300, 200))
    assert found.kwh == pytest.approx((500 + 960 * 0.15) * 7.152 * 1.1)
    assert found.by_source[0].place == "aws us-east-1"


def test_hours_run_again_draw_power_and_idle_is_never_negative() -> None:
    found = energy(rented("spot", goodput=0.8), used=(80, 0))
    assert found.kwh == pytest.approx(100 * 7.152 * 1.1)


def test_a_tpu_draws_by_its_own_factor_and_load() -> None:
    """4 chips of 340 W: · 1.56 · 0.43."""
    assert node_power_kw("google-tpu-v4", 4) == pytest.approx(4 * 0.340 * 1.56 * 0.43)


def test_owned_servers_are_on_the_grid_given_else_on_the_eastern_american_one() -> None:
    nowhere = Catalog.of([])
    figure, source = GridCarbon(nowhere).intensity("", "") or (0.0, "")
    assert figure == 415.755
    assert "EPA 2023" in source
    assert GridCarbon(nowhere, 0.0).intensity("", "") == (0.0, "request")
    assert GridCarbon(nowhere).intensity("aws", "us-east-1") is None


def entry(kwh: float, kg: float | None, place: str) -> SourceEnergy:
    return SourceEnergy("one", place, kwh, kg, None, "", "")


def test_what_is_not_known_is_told_apart_from_what_is() -> None:
    known, dark = entry(100, 40, "a"), entry(50, None, "b")
    part = Energy((known, dark, dark))
    assert (part.kwh, part.kg_co2e, part.kg_co2e_of_known_grid) == (200, None, 40)
    assert part.kwh_of_unknown_grid == 100
    assert part.why_not == ("the carbon of the grid of b is not known",)
    powerless = Energy((known,), ("x",))
    assert (powerless.kwh, powerless.kg_co2e, powerless.kg_co2e_of_known_grid) == (100, None, 40)
    assert Energy((dark,)).kg_co2e_of_known_grid is None
