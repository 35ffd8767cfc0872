"""Plots of an answer with matplotlib, from the extra notebook."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import accumulate
from typing import TYPE_CHECKING

from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.labels import SCENARIO_TITLES
from pricing.common.invalid_input import InvalidInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scenarios(answer: ComparisonAnswer) -> Axes:
    """The total of each feasible scenario as a bar, the advised one filled."""
    axes = _make_axes()
    scenarios = [one for one in answer.scenarios if one.feasible]
    names = [SCENARIO_TITLES[one.key] for one in scenarios]
    advised = answer.recommendation.scenario
    colours = ["tab:blue" if one.key == advised else "lightgray" for one in scenarios]
    axes.barh(names, [float(one.require_total()) for one in scenarios], color=colours)
    axes.invert_yaxis()
    axes.set_xlabel(f"total, {answer.currency}")
    return axes


def plot_cash(answer: ComparisonAnswer) -> Axes:
    """What each feasible scenario has cost up to each month, from the start on."""
    axes = _make_axes()
    for one in answer.feasible:
        months = range(len(one.cash_per_month))
        total = list(accumulate(float(amount) for amount in one.cash_per_month))
        axes.plot(months, total, label=SCENARIO_TITLES[one.key])
    axes.set_xlabel(f"months from {answer.start}; last: the end, with resale")
    axes.set_ylabel(f"paid so far, {answer.currency}")
    axes.legend()
    return axes


def _make_axes() -> Axes:
    if find_spec("matplotlib") is None:
        hint = "install it with pip install 'gpu-cost-planner[notebook]'"
        raise InvalidInput("plot", f"needs matplotlib; {hint}")
    from matplotlib import pyplot

    _, axes = pyplot.subplots(layout="constrained")
    return axes
