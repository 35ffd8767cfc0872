"""Edition 2 on random trainings: the cheapest plan on one kind of accelerator, against a model of
its own for each kind, and servers only where they pay back without their resale."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from planner.contract.answer.common import Category, ScenarioKey
from planner.costing.optimizer.problem import PlanProblem, RentalOption
from planner.costing.results.scenario_result import Scenario
from pricing.market.offers import Offer
from tests.planner.comparison.compared import Compared, compared
from tests.planner.costing.market_of import H100, catalog, offer
from tests.planner.costing.optimizer.plain_milp import proven_optimum

REQUESTS = 200 if os.environ.get("FUZZ") == "1" else 6
A100, L4 = "nvidia-a100-80gb-sxm", "nvidia-l4"
PRICES = {H100: 6.0, A100: 2.5, L4: 0.7}
MONTHS, LARGEST_NODE, NETWORK_GBPS, GAP = 12, 8, 100, 0.01


def market(random: np.random.Generator) -> list[Offer]:
    """Machines of several kinds and sizes, some without a network that anybody states."""
    found = []
    for i in range(int(random.integers(3, 8))):
        slug = str(random.choice(list(PRICES)))
        count = int(random.choice([1, 2, 4, 8]))
        price = PRICES[slug] * count * float(random.uniform(0.7, 1.6))
        network = random.choice([None, 50.0, 400.0])
        found.append(
            offer(
                f"{price:.4f}", count=count, accelerator=slug, region=f"r{i}",
                instance_type=f"{slug}.{count}.{i}", network_gbps=network,
            )
        )  # fmt: skip
    return found


def trained(seed: int, **fields: Any) -> tuple[Compared, list[Offer]]:
    random = np.random.default_rng(seed)
    offers = market(random)
    work = {
        "kind": "training",
        "parameters": float(random.choice([1e9, 7e9, 13e9])),
        "tokens": float(random.choice([1e8, 1e10, 3e11])),
        "optimizer": str(random.choice(["adamw", "lora"])),
    }
    plain: dict[str, Any] = {
        "rules": 2, "horizon_months": MONTHS, "workload": work, "on_prem": {"servers": []},
        "finance": {"discount_rate_per_year": 0, "cloud_price_trend_per_year": 0},
        "constraints": {"accelerators": list(PRICES)}, "cheaper_if": False,
    }  # fmt: skip
    return compared(catalog(*offers), **(plain | fields)), offers


def problems_of(slug: str, found: Compared, offers: list[Offer]) -> Iterator[PlanProblem]:
    """All the work on one kind: nodes that hold a job or eight of it, joined by a network where a
    run is wider than they are; of nodes that hold less than a job, those of one size. A run takes
    as many at once as hold it, and every accelerator of its nodes: of nodes that it mixes, whole
    multiples of the smallest."""
    demand = found.demand
    (one,) = [c for c in demand.candidates if c.accelerator == slug]
    job, speed = max(one.min_accelerators, 1), one.relative_throughput
    width = max(float(job), float(demand.peak_accelerators.max()) / speed)
    rentals = []
    for sold in offers:
        count = int(sold.accelerator_count)
        known = sold.network_gbps
        is_joined = count >= LARGEST_NODE if known is None else known >= NETWORK_GBPS
        large = count >= min(job, LARGEST_NODE)
        if sold.accelerator == slug and large and (width <= count or is_joined):
            flat = np.full(MONTHS, float(sold.price_per_hour))
            rentals.append(RentalOption(sold.id, count * speed, float(count), flat, flat))
    at_once = np.where(demand.hours_per_month > 0, job * speed, 0.0)  # no two runs at a time
    peak = np.maximum(demand.peak_accelerators, at_once)
    for together in {min(rental.accelerators, job) for rental in rentals}:
        alike = [one for one in rentals if min(one.accelerators, job) == together]
        for least in {one.accelerators for one in alike}:
            group = tuple(one for one in alike if one.accelerators >= least)
            full = np.ceil(peak / (least * speed) - 1e-9) * least * speed
            yield PlanProblem(demand.hours_per_month, full, group, (), whole_nodes=True)


def cheapest(found: Compared, offers: list[Offer]) -> tuple[float, float] | None:
    """Cost and bound of the cheapest plan on one kind; infinite without any, None where the
    independent model did not end."""
    best = np.inf, np.inf
    for candidate in found.demand.candidates:
        for problem in problems_of(candidate.accelerator, found, offers):
            proven = proven_optimum(problem, time_limit_s=20.0, gap=1e-4)
            if proven is None:
                return None
            best = min(best, proven)
    return best


@pytest.mark.one_in(3)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(REQUESTS))
def test_the_plan_is_the_cheapest_on_one_kind(seed: int) -> None:
    found, offers = trained(seed)
    proven = cheapest(found, offers)
    if proven is None:
        pytest.skip("the independent model did not end")
    cost, bound = proven
    plan = found.scenarios[ScenarioKey.CLOUD_MIX]
    assert plan.feasible == np.isfinite(cost)
    if plan.feasible:
        kinds = {found.inputs.by_key[key].accelerator for key in plan.used_hours}
        assert len(kinds) == 1
        assert bound <= plan.cost * (1 + 1e-6)
        assert plan.bound <= cost * (1 + 1e-6)
        assert plan.cost <= cost * (1 + GAP + 1e-6)


CAPITAL = (Category.CAPEX, Category.NETWORK_STORAGE, Category.SPARES, Category.INSTALL)


def unsold(plan: Scenario, margin: float) -> Decimal:
    """Total before any resale, with a margin on what the servers cost."""
    paid = sum((x.amount for x in plan.lines if x.category is not Category.RESIDUAL), Decimal(0))
    capital = sum((x.amount for x in plan.lines if x.category in CAPITAL), Decimal(0))
    return paid + capital * Decimal(str(margin))


@pytest.mark.one_in(3)
@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(REQUESTS))
def test_servers_are_advised_where_they_pay_back_without_resale(seed: int) -> None:
    """A choice among plans: of those that buy, only what costs less than renting as it is by a
    quarter of its price, or by the share that the request gives."""
    random = np.random.default_rng(seed)
    price = float(random.choice([60_000, 150_000, 250_000, 320_000]))
    server = {
        "server": "custom", "label": "box", "accelerator": H100, "accelerator_count": 8,
        "unit_price": price, "power_kw": 10,
    }  # fmt: skip
    hours = float(random.integers(1, 4)) * 8 * 730 * float(random.uniform(0.3, 1.0))
    months = int(random.integers(6, 37))
    stated = random.choice([None, 0.0, 0.1, 0.6])
    own: dict[str, Any] = {"servers": [server]}
    own |= {} if stated is None else {"payback_margin": float(stated)}
    margin = 0.25 if stated is None else float(stated)
    found = compared(
        catalog(offer("40")), hours, rules=2, horizon_months=months, on_prem=own, cheaper_if=False
    )
    renting = found.scenarios[ScenarioKey.CLOUD_MIX]
    for key, plan in found.allowed_scenarios.items():
        if any(line.category is Category.CAPEX for line in plan.lines):
            assert unsold(plan, margin) <= renting.total_cost, key
    owning = found.scenarios[ScenarioKey.HYBRID]
    if any(line.category is Category.CAPEX for line in owning.lines):
        pays_back = unsold(owning, margin) <= renting.total_cost
        assert (ScenarioKey.HYBRID in found.allowed_scenarios) == pays_back
    advised = found.scenarios[found.recommendation.scenario or ScenarioKey.HYBRID]
    least = min(s.net_present_cost for s in found.allowed_scenarios.values() if s.feasible)
    assert advised.net_present_cost <= least * Decimal("1.0101") + Decimal("0.05")
