"""Units of work of a simulation, counted by hand, and how many samples they allow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from planner.costing.analysis import simulation as fitting
from planner.costing.analysis.outcomes import RiskParameters
from planner.costing.analysis.sensitivity import case_units
from planner.costing.analysis.simulation import (
    drawing_units,
    fit_memory,
    fit_samples,
    fit_simulation,
    measuring_units,
    recourse_units,
)
from planner.costing.optimizer.work import WorkMeter


def test_samples_are_work_by_plan_and_month() -> None:
    assert drawing_units(100, prices=4, months=24) == pytest.approx(30 + 100 * 5 * 34 * 0.02)
    assert measuring_units(plans=3, sources=10) == 3 * (500 + 40)


def test_a_plan_that_starts_later_is_more_work_by_price_month_and_cohort() -> None:
    by_month = 0.008 + 3 * 0.002 + 2 * 0.0005
    by_cohort = 2 * (0.02 + 2 * 0.0003)
    expected = 30 + 100 * (34 * by_month + by_cohort)
    assert recourse_units(100, parts=3, later=2, months=24) == pytest.approx(expected)


def test_a_figure_of_the_tornado_is_work_by_source_and_month() -> None:
    inputs: Any = SimpleNamespace(sources=(1, 2, 3, 4), calendar=SimpleNamespace(length=50))
    assert case_units(inputs) == 300 * 3


def test_ten_million_months_of_prices_and_demand_fit_into_memory() -> None:
    assert fit_memory(1_000_000, prices=8, months=99) == 10_000
    assert fit_memory(10_000, prices=8, months=99) == 10_000
    assert fit_memory(100_000_000, prices=1, months=0) == 3_333_333


def test_fewer_than_a_hundred_samples_are_none() -> None:
    assert fit_samples(100, 10.0, 100.0) == 100
    assert fit_samples(99, 10.0, 100.0) == 0
    assert fit_samples(5_000, 1_000.0, 250.0) == 250
    assert fit_samples(5_000, 1_000.0, 99.5) == 0


# As many samples as the work allows for -------------------------------------------------------

PLANS: Any = [SimpleNamespace(feasible=True)] * 3 + [SimpleNamespace(feasible=False)]
INPUTS: Any = SimpleNamespace(calendar=SimpleNamespace(months=24), sources=(object(),) * 10)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Any]]:
    """The samples, and plans, of each simulation that is made."""
    calls: list[tuple[int, Any]] = []

    def simulation_of(inputs: Any, parameters: RiskParameters, plans: Any) -> str:
        calls.append((parameters.samples, plans))
        return "simulation"

    def planned(inputs: Any, parameters: RiskParameters, plans: Any) -> Any:
        """Four prices where only those of the plans are drawn, eight where all are."""
        drivers = SimpleNamespace(processes=(0,) * (8 if plans is None else 4))
        measured = SimpleNamespace(
            rent=SimpleNamespace(parts=(0,)), more=SimpleNamespace(parts=(0,)),
            on_demand=SimpleNamespace(parts=(0,)), later=(0, 0),
        )  # fmt: skip
        return SimpleNamespace(drivers=drivers, measure=lambda plans: [measured for _ in plans])

    monkeypatch.setattr(fitting, "simulation_of", simulation_of)
    monkeypatch.setattr(fitting, "planned_simulation", planned)
    return calls


def fitted(work: WorkMeter) -> Any:
    return fit_simulation(INPUTS, RiskParameters(1_000, 1), PLANS, work)


MEASURING = 6 * (500 + 10 * 4)
"""Three feasible plans, each of them discounted and not."""


def test_prices_are_drawn_before_plans_are_costed(made: Any) -> None:
    drawing = 30 + 1_000 * (4 + 1) * 34 * 0.02
    costing = 3 * recourse_units(1_000, parts=3, later=2, months=24)
    work = WorkMeter(MEASURING + ((drawing + costing) * 0.25 + 0.1) / 0.9)
    assert fitted(work) == "simulation"
    assert made == [(250, PLANS)]
    assert work.done == int(drawing * 0.25)
    assert not work.is_too_large


def test_what_memory_does_not_hold_is_noted(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "fit_memory", lambda samples, prices, months: 300)
    work = WorkMeter()
    fitted(work)
    assert made == [(300, PLANS)]
    assert work.is_too_large
    short = WorkMeter(MEASURING + 1_200)
    fitted(short)
    assert made[-1][0] < 300
    assert not short.is_too_large
