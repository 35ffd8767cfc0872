"""`python -m tools.policy_histories`: the policy on price histories, held against fixed plans.

Each window begins at the prices of its month, with price processes fitted on what was seen before
it. The policy is then costed on the prices that came, beside the plan that was best by what was
known at the start, and the best plan in hindsight. Nothing but prices is unsure.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from gpu_cost_planner.planning import bundled_catalog
from planner.comparison import solve
from planner.contract.copies import replace
from planner.costing.analysis.outcomes import planned_outcomes
from planner.costing.analysis.simulation import cost_plans, simulation_of
from planner.costing.policy.least_squares import Paths, best_fixed, fit_policy, follow
from planner.costing.policy.policy import FITTED_ON, WORTH_TELLING, list_decisions
from planner.costing.price_processes import process
from tools.price_processes import fit, histories

H100_RENTS = {"2023-07": 7.0, "2024-02": 2.85, "2024-10": 2.99, "2025-10": 1.70, "2026-03": 2.35,
              "2026-06": 2.65}  # fmt: skip
"""USD per GPU-hour at GPU clouds: scarcity of 2023 (its low end), Latent Space, SemiAnalysis
(2024-10-07, 2026-04-02 and June 2026), as quoted by neighborhoodsf.com and techreaderdaily.com;
between them the logarithm is a straight line."""
LISTS = {
    "H100 list, AWS": ("list", "us-east-1", "p5.48xlarge"),
    "A100 list, AWS": ("list", "us-east-1", "p4d.24xlarge"),
    "H100 spot, Google": ("spot", "us-central1", "a3-highgpu-8g"),
    "A100 spot, Google": ("spot", "us-central1", "a2-highgpu-1g"),
}
SERVERS = {"H100 SXM": 290_000, "A100 40GB": 150_000}
"""USD for a server of eight: middle of the quotes of 2023 to 2026 in `server_quotes.csv`."""
WINDOWS = (12, 18, 24)
CHOICES = {
    "rent or buy": (1.0, 0.0, True),
    "the same, half of the time": (0.5, 0.0, True),
    "rent or sign for a year at 80 %, without spot": (1.0, 0.8, False),
    "rent, buy or sign for a year at 70 %, without spot": (1.0, 0.7, True),
}
"""Share of the hours worked, price of a year's contract over the rent (0: none), and whether
servers may be bought."""


@dataclass(frozen=True)
class Window:
    """What became of one window; costs are net present."""

    worth: float
    """Share that the policy was expected to save."""
    policy: float
    fixed: float
    """The plan that was best by what was known at the start."""
    hindsight: float

    @property
    def followed(self) -> float:
        """The policy where waiting is told, else the plan."""
        return self.policy if self.worth >= WORTH_TELLING else self.fixed


def read_rents() -> dict[str, pd.Series[float]]:
    """USD an hour for eight accelerators, by month."""
    months = pd.period_range(min(H100_RENTS), max(H100_RENTS), freq="M")
    points = pd.Series(H100_RENTS).rename(lambda text: pd.Period(text, freq="M"))
    line = points.map(math.log).reindex(months).interpolate()
    rents = {"H100 rents of GPU clouds": 8.0 * line.map(math.exp)}
    table = histories.read()
    for name, (kind, place, machine) in LISTS.items():
        row = table[(table.kind == kind) & (table.place == place) & (table.machine == machine)]
        seen = histories.observations(row)
        named = [pd.Period(ordinal=month, freq="M") for month in seen.month]
        prices = pd.Series(seen.log_price.map(math.exp).to_numpy(), index=pd.PeriodIndex(named))
        every = pd.period_range(min(named), max(named), freq="M")
        rents[name] = prices.reindex(every).ffill() * (8.0 if machine.endswith("-1g") else 1.0)
    return rents


_PROCESSES = process.all_processes()
"""Those of today, for kinds of which nothing was seen before."""


@cache
def _moves() -> histories.Moves:
    return histories.find_moves(histories.observations(histories.read()))


@cache
def _processes(month: int) -> Mapping[Any, Any]:
    return {**_PROCESSES, **fit.fit(_moves(), month)}


def ask(name: str, rent: float, start: str, months: int, choice: str) -> dict[str, Any]:
    """The request at the start of a window."""
    share, contract, buys = CHOICES[choice]
    machine = "H100 SXM" if name.startswith("H100") else "A100 40GB"
    provider = "market" if "clouds" in name else "gcp" if "Google" in name else "aws"
    option = "spot" if "spot" in name else "on_demand"
    plain = {"provider": provider, "accelerator": machine, "accelerator_count": 8}
    offers = [{"label": "Rent", "purchase_option": option, "usd_per_hour": rent}]
    if contract:
        year = {"purchase_option": "reserved", "term_months": 12, "usd_per_hour": rent * contract}
        offers.append({"label": "Year", **year})
    server = {"server": "custom", "accelerator": machine, "accelerator_count": 8, "power_kw": 10,
              "unit_price": SERVERS[machine], "lead_time_months": 3}  # fmt: skip
    work = {"kind": "accelerator_hours", "accelerator": machine, "interruptible": True,
            "hours_per_month": 5840 * share, "peak_accelerators": 8}  # fmt: skip
    return {
        "start": start, "horizon_months": months, "use_catalog": False, "workload": work,
        "custom_offers": [plain | one for one in offers],
        "on_prem": {"servers": [server] if buys else []}, "sensitivity": False,
        "risk": {"hours_spread": 0, "slip_months_sd": 0, "spot_interruptions_per_month": 0},
    }  # fmt: skip


def judge(name: str, prices: pd.Series[float], months: int, choice: str) -> Window | None:
    """One window over the first months of some prices; None where there is nothing to decide."""
    start = prices.index[0]
    request = ask(name, round(float(prices.iloc[0]), 4), str(start), months, choice)
    with mock.patch.object(process, "all_processes", return_value=_processes(start.ordinal)):
        results = solve(request, bundled_catalog(), dt.date(start.year, start.month, 1))
        chosen, simulation = results.choice, results.simulation
        assert chosen is not None
        assert simulation is not None
        decisions = list_decisions(chosen, simulation, 3)
        if decisions is None:
            return None
        fresh = replace(simulation.parameters, seed=simulation.parameters.seed + FITTED_ON)
        plans = [decisions.waiting, *(bundle.plan for bundle in decisions.bundles)]
        drawn = simulation_of(simulation.inputs, fresh, plans)
    policy = fit_policy(replace(decisions, simulation=drawn).paths())
    foreseen = decisions.paths()
    sequence, names = best_fixed(foreseen)
    fixed = min(sequence, float(chosen.expected.min()))
    came = planned_outcomes(simulation.drivers, months)
    factors = prices.reindex(pd.period_range(start, periods=months + 1, freq="M")).ffill()
    came.prices[came.is_rent, 0, :] = (factors / prices.iloc[0]).to_numpy()
    seen = replace(simulation, outcomes=came)
    paths = replace(decisions, simulation=seen).paths()
    plan = chosen.candidates[int(np.argmin(chosen.expected))].plan
    cost = float(cost_plans(seen.measure([plan]), seen.market, came)[0, 0, 0])
    return Window(
        worth=1.0 - float(follow(policy, foreseen).mean()) / fixed,
        policy=float(follow(policy, paths)[0]),
        fixed=_cost_of(names, paths) if sequence == fixed else cost,
        hindsight=min(best_fixed(paths)[0], cost),
    )


def _cost_of(names: tuple[str, ...], paths: Paths) -> float:
    position, cost = 0, 0.0
    for name, moves in zip(names, paths.moves, strict=True):
        move = next(one for one in moves if (one.start, one.name) == (position, name))
        position, cost = move.end, cost + float(move.cost[0])
    return cost


def list_windows(choice: str) -> Iterator[tuple[str, str, int, Window]]:
    """Every window of every history, with its name, first month and length."""
    for name, prices in read_rents().items():
        if "spot" in name and "spot" in choice:
            continue
        for months in WINDOWS:
            for first in range(len(prices) - months):
                window = judge(name, prices.iloc[first:], months, choice)
                if window is not None:
                    yield name, str(prices.index[first]), months, window


def main() -> int:
    for choice in CHOICES:
        rows = list(list_windows(choice))
        told = [row for row in rows if row[3].worth >= WORTH_TELLING]
        ratios = np.array([row[3].followed / row[3].fixed for row in rows])
        behind = np.mean([row[3].followed / row[3].hindsight for row in rows])
        worth = np.mean([max(row[3].worth, 0.0) for row in rows])
        print(f"{choice}: {len(rows)} windows, worth {worth:.1%}, told in {len(told)}, followed "
              f"over fixed {ratios.mean():.3f}, worst {ratios.max():.3f}, over hindsight "
              f"{behind:.3f}", flush=True)  # fmt: skip
        for name, start, months, window in told:
            ratio = window.followed / window.fixed
            print(f"  {name}, {months} months from {start}: {ratio:.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
