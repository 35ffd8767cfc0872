"""One plan for all projects, against planning each of them apart."""

import datetime as dt
import resource
import time
from typing import Any

import numpy as np

from planner.comparison import solve
from planner.comparison.results import ComparisonResults
from planner.contract.answer.portfolio import PortfolioAnswer
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.results import TARGET_ERROR
from pricing.bundled.catalog import bundled_catalog
from tests.bench.row import SHORT, Row

TODAY = dt.date(2026, 11, 20)
KINDS = ("nvidia-h100-80gb-sxm", "nvidia-a100-80gb-sxm")
SIZES = (3, 5, 8, 12, 24, 40)
"""Peaks that do and do not fill nodes of eight."""
MOST_MIB = 1024


def bursts(random: np.random.Generator, months: int, busy: float, sizes: tuple[int, ...]) -> Any:
    """Hours in bursts of two to four months until a fraction of the months is busy."""
    hours, peak = np.zeros(months), np.zeros(months, int)
    while (hours > 0).mean() < busy:
        length, size = int(random.integers(2, 5)), int(random.choice(sizes))
        first = int(random.integers(0, months - length + 1))
        hours[first : first + length] = round(size * 730 * random.uniform(0.8, 0.98), 1)
        peak[first : first + length] = size
    return {"hours_per_month": hours.tolist(), "peak_accelerators": peak.tolist()}


def portfolio(seed: int, count: int, months: int, busy: float, sizes: tuple[int, ...]) -> Any:
    """A request of so many projects; a third of more than eight works on the older kind."""
    random = np.random.default_rng(seed)
    projects = [
        {
            "name": f"project {i}",
            "workload": {
                "kind": "accelerator_hours",
                "accelerator": KINDS[count > 8 and i % 3 == 0],
                **bursts(random, months, busy, sizes),
            },
        }
        for i in range(count)
    ]
    return {"start": "2027-01", "horizon_months": months, "projects": projects}


def timed(request: Any, **fields: Any) -> tuple[PortfolioAnswer, float]:
    """The answer and its seconds."""
    began = time.perf_counter()
    asked_for = {**request, **fields}
    answer = plan_portfolio(asked_for, bundled_catalog(), today=TODAY)
    return answer, time.perf_counter() - began


def apart_s(request: Any) -> float:
    """Seconds that the scenarios of every project by itself take."""
    began = time.perf_counter()
    shared = {"start": request["start"], "horizon_months": request["horizon_months"]}
    for project in request["projects"]:
        results: ComparisonResults = solve(
            {**shared, "workload": project["workload"]}, bundled_catalog(), TODAY
        )
        _ = results.allowed_scenarios
    return time.perf_counter() - began


def plan_row(count: int, most_s: float, most_gap: float, most_mib: int | None = None) -> Row:
    """The joint plan with its books and shares by use."""
    request = portfolio(3, count, 60, 0.15, SIZES)
    answer, seconds = timed(request, shares="use", what_if=False)
    gap = answer.gap if answer.gap is not None else 1.0
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    hold = f"<= {most_s:.0f} s, gap <= {most_gap:.0%} (gap {gap:.2%})"
    if most_mib is not None:
        hold = f"{hold}, <= {most_mib} MiB ({mib:.0f} MiB)"
    ok = seconds <= most_s and gap <= most_gap and (most_mib is None or mib <= most_mib)
    name = f"portfolio of {count} projects x 60 months, against apart"
    return Row(name, seconds, apart_s(request), hold, ok, "s")


def shares_rows() -> list[Row]:
    """Sampled shares of 20 projects."""
    request = portfolio(3, 20, 60, 0.15, SIZES)
    answer, seconds = timed(request, what_if=False)
    by_use, plan_s = timed(request, shares="use", what_if=False)
    error = answer.shares_error
    ok = (
        seconds <= 60
        and error <= TARGET_ERROR
        and answer.net_present_cost == by_use.net_present_cost
    )
    hold = f"<= 60 s, error <= {TARGET_ERROR:.0%} ({error:.2%}, {answer.shares_orders} orders)"
    return [Row("shares of 20 projects, against by use", seconds, plan_s, hold, ok, "s")]


def bench() -> list[Row]:
    bundled_catalog()
    rows = [plan_row(20, 5, 0.01)]
    if not SHORT:
        rows.append(plan_row(100, 60, 0.02, MOST_MIB))
        rows += shares_rows()
    return rows
