"""Which share of the work each source of a plan does. PURE."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from planner.contract.shares import NOISE, format_named_shares, format_shares, round_shares
from planner.costing.cost_model.capacity_source import CapacitySource
from planner.costing.model_inputs import ModelInputs
from planner.costing.results.scenario_result import Scenario

NONE, ALL = "none of the hours", "all of the hours"


def share_of_hours(
    plan: Scenario, source: CapacitySource, inputs: ModelInputs, before: int | None = None
) -> float:
    """Share of the plan's accelerator-hours that a source serves, or serves `before` a month: of
    machines that rent whole what the demand needs of them, so that the shares of all sources sum
    to 1."""
    hours = plan.used_hours.get(source.key)
    total_hours = float(plan.served_hours.sum())
    if hours is None or total_hours <= 0:
        return 0.0
    if source.term is None:
        hours = hours * _needed_share_of_rent(plan, inputs)
    return float(hours[:before].sum()) * source.capacity / total_hours


def _needed_share_of_rent(plan: Scenario, inputs: ModelInputs) -> NDArray[np.float64]:
    """[T] share of the hours rented that the demand needs: below 1 where machines rent whole."""
    needed = np.array(plan.served_hours, dtype=np.float64)
    rented = np.zeros(inputs.calendar.months)
    for key, hours in plan.used_hours.items():
        source = inputs.by_key[key]
        if source.term is None:
            rented += hours * source.capacity
        else:
            needed -= hours * source.capacity
    needed = np.maximum(needed, 0.0)
    return np.divide(needed, rented, out=np.ones_like(rented), where=rented > needed)


def shares_in_words(plan: Scenario, inputs: ModelInputs) -> dict[str, str]:
    """Which share of the hours each source serves that a plan uses, by its key; they add up as
    told."""
    used = (inputs.by_key[key] for key in plan.used_hours)
    return describe_shares({one.key: share_of_hours(plan, one, inputs) for one in used})


def describe_shares(shares: Mapping[str, float]) -> dict[str, str]:
    """Shares of the hours that make up a whole, by the keys of their sources.

    >>> describe_shares({"buy": 0.8749999996, "rent": 0.125})
    {'buy': '88% of the hours', 'rent': '12% of the hours'}
    >>> describe_shares({"buy": 0.996, "rent": 0.004})
    {'buy': 'more than 99% of the hours', 'rent': 'less than 1% of the hours'}
    >>> describe_shares({"buy": 1.0, "rent": 0.0})
    {'buy': 'all of the hours', 'rent': 'none of the hours'}
    """
    formatted = format_named_shares(shares)
    return {key: _of_the_hours(shares[key], words) for key, words in formatted.items()}


def split_rent(
    shares: Mapping[str, float], rented: Collection[str], before: float
) -> tuple[str, str]:
    """What is rented before servers serve, and beside them, in per cent: together as much as the
    rented sources as told.

    >>> split_rent({"buy": 0.694, "a": 0.153, "b": 0.153}, ["a", "b"], 0.2)
    ('20%', '10%')
    >>> split_rent({"buy": 0.8749999996, "rent": 0.125}, ["rent"], 0.125)
    ('12%', '0%')
    """
    names = sorted(shares)
    wholes = dict(zip(names, round_shares([shares[name] for name in names]), strict=True))
    in_all = sum(shares[name] for name in rented)
    scale = sum(wholes[name] for name in rented) / 100 / in_all if in_all else 0.0
    first, later = format_shares([before * scale, (in_all - before) * scale])
    return first, later


def _of_the_hours(share: float, words: str) -> str:
    if share <= NOISE:
        return NONE
    return ALL if share >= 1 - NOISE else f"{words} of the hours"
