"""Plots of an answer, where matplotlib is installed, and what is said where it is not."""

from __future__ import annotations

import datetime as dt
from importlib.util import find_spec

import pytest

from gpu_cost_planner import InvalidInput, compare
from gpu_cost_planner import comparison as plots
from tests.planner.costing.market_of import CATALOG

REQUEST = {
    "start": "2027-01",
    "horizon_months": 3,
    "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 1000},
}
needs_matplotlib = pytest.mark.skipif(
    find_spec("matplotlib") is None, reason="the extra notebook is not installed"
)


@pytest.fixture(scope="module")
def answer():
    return compare(REQUEST, catalog=CATALOG, today=dt.date(2026, 11, 20))


@needs_matplotlib
def test_bars_are_the_totals(answer) -> None:
    axes = answer.plot_scenarios()
    totals = [float(one.total_cost) for one in answer.answer.feasible]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(totals)


@needs_matplotlib
def test_a_line_of_cash_ends_at_its_total(answer) -> None:
    ends = [line.get_ydata()[-1] for line in answer.plot_cash().get_lines()]
    totals = [float(one.total_cost) for one in answer.answer.feasible]
    assert ends == pytest.approx(totals)


def test_without_matplotlib_the_extra_is_named(answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda _name: None)
    with pytest.raises(InvalidInput, match=r"gpu-cost-planner\[notebook\]"):
        answer.plot_scenarios()
