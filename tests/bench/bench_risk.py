"""100,000 futures over 36 months against the same arithmetic in bare numpy, and the samples that
every comparison under edition 2 draws from fitted prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.comparison import solve
from planner.costing.analysis.monte_carlo import RiskParameters, draw_samples, simulate
from planner.costing.analysis.plan_exposure import Exposure
from planner.costing.analysis.simulation import simulation_of
from tests.bench.bench_compare import REQUESTS, TODAY, bundled, processor_ms
from tests.bench.row import SHORT, Row, median_ms

Floats = NDArray[np.float64]
SAMPLES = 20_000 if SHORT else 100_000
MONTHS = 36
HOLD = 1.3
FITTED_MS = 80.0


def exposures(count: int) -> list[Exposure]:
    months = np.arange(MONTHS)
    return [
        Exposure(
            fixed=1e6 + i,
            residual=-1e5,
            later_commitments=np.full(MONTHS, 100.0),
            hours=np.full(MONTHS, 6e4 + i),
            width=np.full(MONTHS, 90.0),
            rent=5.0 - 0.01 * months,
            spot=np.full(MONTHS, 0.5),
            data=np.full(MONTHS, 0.1),
            in_use=np.full(MONTHS, 0.4),
            max_spot_share=1.0,
            spot_share=np.zeros(MONTHS),
            on_demand_rent=5.0 - 0.01 * months,
        )
        for i in range(count)
    ]


def bare(ones: list[Exposure], hours: Floats, peak: Floats, spread: RiskParameters) -> Floats:
    """The futures drawn and costed as one would in a notebook: whole arrays, one after another."""
    random = np.random.Generator(np.random.PCG64(spread.seed))
    n, years = spread.samples, np.arange(MONTHS) / 12.0
    growth, price, resale, slip = random.standard_normal((4, n))
    gamma = random.standard_gamma(4.0, n) / 4.0
    rate = gamma * spread.spot_interruptions_per_month / 730.0
    spot = 1.0 / (
        1.0 - np.sqrt(2.0 * spread.checkpoint_save_hours * rate) - spread.restart_hours * rate
    )
    months = np.maximum(np.rint(spread.slip_months_sd * slip), 0).astype(int)
    table = np.zeros((months.max() + 1, MONTHS))
    for k in range(len(table)):
        table[k, k:] = hours[: MONTHS - k]
        table[k, -1] += hours[MONTHS - k :].sum()
    sd = spread.demand_growth_sd * years
    demand = np.exp(np.outer(growth, sd) - 0.5 * sd**2) * table[months]
    sd = spread.price_sd * years
    prices = np.exp(np.outer(price, sd) - 0.5 * sd**2)
    kept = np.exp(spread.residual_sd * resale - 0.5 * spread.residual_sd**2)
    cost = np.empty((len(ones), n))
    for i, one in enumerate(ones):
        served = np.minimum(one.hours, one.width * hours / peak)
        rented = np.maximum(demand - served, 0.0)
        cost[i] = (
            demand @ one.in_use + rented @ (one.data - one.in_use) + prices @ one.later_commitments
        )
        dear = rented * prices
        cost[i] += dear @ one.rent + spot * (dear @ one.spot) + one.fixed + one.residual * kept
    return cost


def bench() -> list[Row]:
    hours, peak = np.full(MONTHS, 70_000.0), np.full(MONTHS, 96.0)
    spread = RiskParameters(SAMPLES, 1, 0.2, 0.05, 1.0, 0.25, 0.16, 0.011, 0.25)
    rows = []
    for count in (1, 6):
        ones = exposures(count)
        ours = median_ms(lambda o=ones: simulate(o, hours, peak, spread, draw_samples(spread)))
        floor = median_ms(lambda o=ones: bare(o, hours, peak, spread))
        name = f"{SAMPLES:,} futures x {MONTHS} months, {count} scenarios"
        rows.append(Row(name, ours, floor, f"<= {HOLD} x bare numpy", ours <= HOLD * floor))
    return [*rows, *_fitted_prices()]


def _fitted_prices() -> list[Row]:
    """All scenarios of comparisons of 36 months over 2,000 samples, drawn and costed."""
    rows, catalog = [], bundled()
    for name, asked in REQUESTS.items():
        results = solve(asked | {"rules": 2, "sensitivity": False}, catalog, TODAY)
        plans = tuple(results.allowed_scenarios.values())
        parameters = results.risk_parameters
        assert parameters is not None
        feasible = [plan for plan in plans if plan.feasible]
        ours = processor_ms(
            lambda r=results, f=feasible, p=parameters: simulation_of(r.inputs, p, f).cost(f)
        )
        ok = ours <= FITTED_MS
        rows.append(Row(f"2,000 samples: {name}", ours, FITTED_MS, f"<= {FITTED_MS:g} ms", ok))
    return rows
