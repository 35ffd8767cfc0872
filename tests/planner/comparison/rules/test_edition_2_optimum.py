"""Edition 2 on random requests, against a model of its own: what may be chosen is read off the
guide offer by offer, nothing is pruned, and HiGHS proves the optimum."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import ScenarioKey
from planner.costing.optimizer.problem import CommitmentOption, PlanProblem, RentalOption
from planner.costing.results.scenario_result import Scenario
from pricing.market.offers import Offer
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer
from tests.planner.costing.optimizer.plain_milp import proven_optimum

REQUESTS = 500 if os.environ.get("FUZZ") == "1" else 12
MONTH, MONTHS, LARGEST_NODE, NETWORK_GBPS = 730, 12, 8, 100
GAP = 0.01


@dataclass(frozen=True)
class Asked:
    """A random request and the market that it is asked of."""

    offers: tuple[Offer, ...]
    hours: list[float]
    peak: list[int] | None
    """None: not given, the work goes on evenly."""
    job: int
    any_node: bool
    margin: float
    total_budget: float | None

    @property
    def least_peak(self) -> list[float]:
        """Accelerators at once of each month: those given, else the mean, no fewer than a job."""
        if self.peak is not None:
            return [float(n) for n in self.peak]
        return [max(h / MONTH, float(self.job)) if h else 0.0 for h in self.hours]

    def fields(self) -> dict[str, Any]:
        limits: dict[str, Any] = {"undated_price_margin": self.margin}
        if self.any_node:
            limits["allow_any_node"] = True
        if self.total_budget is not None:
            limits["total_budget"] = self.total_budget
        return {
            "rules": 2,
            "horizon_months": MONTHS,
            "on_prem": {"servers": []},
            "finance": {"discount_rate_per_year": 0, "cloud_price_trend_per_year": 0},
            "constraints": limits,
            "workload": {
                "kind": "accelerator_hours", "accelerator": H100, "hours_per_month": self.hours,
                "accelerators_per_job": self.job,
            } | ({} if self.peak is None else {"peak_accelerators": self.peak}),
        }  # fmt: skip


def asked(seed: int) -> Asked:
    random = np.random.default_rng(seed)
    level = random.choice([4, 8, 16, 24])
    peak = np.maximum(1, np.round(level * random.uniform(0.4, 1.6, MONTHS))).astype(int)
    hours = np.floor(peak * random.choice([100.0, 400.0, 730.0], MONTHS))
    rate = float(hours.sum()) * 4.5
    is_level = seed % 3 == 0
    return Asked(
        offers=tuple(offers_of(random)),
        hours=np.floor(hours * random.uniform(0.3, 1.0)).tolist() if is_level else hours.tolist(),
        peak=None if is_level else peak.tolist(),
        job=int(random.choice([1, 1, 2, 3, 8, 16])),
        any_node=bool(random.random() < 0.25),
        margin=float(random.choice([0.0, 0.05, 0.05, 0.2])),
        total_budget=rate * float(random.choice([0.7, 1.0, 1.5]))
        if random.random() < 0.5
        else None,
    )


def offers_of(random: np.random.Generator) -> list[Offer]:
    found = []
    for i in range(int(random.integers(3, 8))):
        has_twin = random.random() < 0.3
        count = int(random.choice([1, 2, 4, 8]))
        price = round(3.0 * count * float(random.uniform(0.8, 1.6)), 4)
        network = random.choice([None, 25.0, 400.0])
        place = {"region": f"r{i}", "instance_type": f"m{count}", "network_gbps": network}
        seen = [dt.date(2026, 6, 18), None]
        kinds = [("on_demand", 1.0, {})]
        if random.random() < 0.5:
            term = int(random.choice([12, 36]))
            kinds.append(("reserved", 0.6 if term == 12 else 0.45, {"term_months": term}))
        if random.random() < 0.3:
            kinds.append(("spot", 0.3, {}))
        if random.random() < 0.2:
            kinds.pop(0)
        for option, factor, more in kinds:
            as_of = seen[int(random.random() < 0.4)]
            cost = f"{price * factor:.4f}"
            found.append(offer(cost, option, count, as_of=as_of, **place, **more))
            if has_twin and option == "on_demand" and count < 8:
                large = place | {"instance_type": "m8"}
                found.append(
                    offer(f"{float(cost) * 8 / count:.4f}", option, 8, as_of=as_of, **large)
                )
    return found


def admitted(request: Asked) -> list[Offer]:
    """What the guide lets a plan choose from."""
    sold = {(o.region, o.instance_type) for o in request.offers if o.purchase_option == "on_demand"}
    least = 1 if request.any_node else min(request.job, LARGEST_NODE)
    kept = [
        o
        for o in request.offers
        if o.purchase_option != "spot"
        and (o.purchase_option == "on_demand" or (o.region, o.instance_type) in sold)
        and o.accelerator_count >= least
        and (
            request.any_node
            or request.job <= o.accelerator_count
            or (o.network_gbps is None and o.accelerator_count >= LARGEST_NODE)
            or (o.network_gbps is not None and o.network_gbps >= NETWORK_GBPS)
        )
    ]
    return [o for o in kept if o.as_of or not any(stands_for(d, o, request.margin) for d in kept)]


def stands_for(dated: Offer, undated: Offer, margin: float) -> bool:
    alike = all(
        getattr(dated, name) == getattr(undated, name)
        for name in ("accelerator_count", "purchase_option", "term_months")
    )
    limit = float(undated.price_per_hour) * (1 + margin)
    return margin > 0 and bool(dated.as_of) and alike and float(dated.price_per_hour) <= limit


def usable(count: int, job: int) -> float:
    if job <= 1:
        return float(count)
    return float(floor(count / job) * job) if count >= job else job / ceil(job / count)


def own_model(request: Asked) -> PlanProblem:
    rentals, units = [], []
    for i, one in enumerate(admitted(request)):
        capacity = usable(int(one.accelerator_count), request.job)
        price = float(one.price_per_hour)
        flat = np.full(MONTHS, price)
        if one.purchase_option == "on_demand":
            in_parts = request.peak is None and one.accelerator_count <= 1
            rentals.append(
                RentalOption(f"rent {i}", capacity, capacity, flat, flat, in_parts=in_parts)
            )
        else:
            all_of_it = np.full(MONTHS, price * MONTH * one.term_months)
            units.append(
                CommitmentOption(
                    f"commit {i}", False, capacity, capacity, 0, one.term_months, all_of_it,
                    0 * flat, float(MONTH), np.zeros((MONTHS, MONTHS)), 0 * flat, 0 * flat,
                    payments=all_of_it,
                )
            )  # fmt: skip
    return PlanProblem(
        np.array(request.hours), np.array(request.least_peak), tuple(rentals), tuple(units),
        total_budget=request.total_budget, whole_nodes=True,
    )  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(REQUESTS))
def test_the_plan_is_the_optimum_of_what_the_guide_admits(seed: int) -> None:
    request = asked(seed)
    own = own_model(request)
    is_empty = not (own.rental_options or own.units)
    proven = (np.inf, np.inf) if is_empty else proven_optimum(own, time_limit_s=20.0, gap=1e-4)
    if proven is None:
        pytest.skip("the independent model did not end")
    found = compared(catalog(*request.offers), **request.fields())
    plan = found.scenarios[ScenarioKey.HYBRID]

    cost, bound = proven
    assert plan.feasible == np.isfinite(cost)
    if plan.feasible:
        assert bound <= plan.cost * (1 + 1e-6)
        assert plan.bound <= cost * (1 + 1e-6)
        assert plan.cost <= cost * (1 + GAP + 1e-6)
        assert paid(plan, found) == pytest.approx(plan.cost, rel=1e-6)
        assert not larger_ones_left(plan, found, request)


def paid(plan: Scenario, found: Compared) -> float:
    """What the plan's machines cost at the prices of the market: hours by price, whole terms."""
    total = 0.0
    for key, hours in plan.used_hours.items():
        offer = found.inputs.by_key[key].offer
        assert offer is not None
        price = float(offer.price_per_hour)
        units = plan.units_started.get(key)
        if units is None:
            total += price * float(hours.sum())
        else:
            total += price * MONTH * (offer.term_months or 0) * int(units.sum())
    return total


def larger_ones_left(plan: Scenario, found: Compared, request: Asked) -> bool:
    """Whether small machines are rented where one larger of the same place and price per
    accelerator would do in every month: at the hours of the peak a whole number of them."""
    peak = np.array(request.least_peak)
    busy = peak > 0
    at_peak = np.array(request.hours)[busy] / peak[busy]
    kept = [o for o in admitted(request) if o.purchase_option == "on_demand"]
    for key, hours in plan.used_hours.items():
        small = found.inputs.by_key[key].offer
        if small is None or small.purchase_option != "on_demand" or not hours.any():
            continue
        for large in kept:
            parts = large.accelerator_count / small.accelerator_count
            same = large.region == small.region and parts > 1 and parts == int(parts)
            each = float(large.price_per_hour) / (float(small.price_per_hour) * float(parts))
            fits = usable(int(large.accelerator_count), request.job) == parts * usable(
                int(small.accelerator_count), request.job
            )
            nodes = hours[busy] / at_peak / float(parts)
            if same and fits and abs(each - 1) < 1e-9 and np.allclose(nodes, nodes.round()):
                return True
    return False
