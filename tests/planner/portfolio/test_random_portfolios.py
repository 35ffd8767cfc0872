"""Random portfolios on a small market: what every answer promises."""

import os

import numpy as np
import pytest

from planner.portfolio.portfolio import plan_portfolio
from tests.planner.costing.market_of import CATALOG, H100, TODAY

MANY = range(1000, 1500)


def random_portfolio(seed):
    """2 to 8 projects of bursts, some with a window, over one to three years."""
    random = np.random.default_rng(seed)
    months = int(random.choice([12, 24, 36]))
    projects = []
    for i in range(int(random.choice([2, 2, 3, 3, 4, 5, 6, 8]))):
        hours, peak = np.zeros(months), np.zeros(months, int)
        for _ in range(int(random.integers(1, 4))):
            first, length = int(random.integers(0, months)), int(random.integers(1, 6))
            size = int(random.choice([1, 4, 8, 16]))
            hours[first : first + length] = size * 730 * random.uniform(0.3, 0.98)
            peak[first : first + length] = size
        project = {
            "name": f"project {i}",
            "workload": {
                "kind": "accelerator_hours",
                "accelerator": H100,
                "hours_per_month": hours.round(1).tolist(),
                "peak_accelerators": peak.tolist(),
            },
        }
        if random.random() < 0.2:
            project["window"] = {"start": "2027-01", "deadline": f"{2026 + months // 12}-12"}
        projects.append(project)
    return {
        "start": "2027-01",
        "horizon_months": months,
        "projects": projects,
        "what_if": False,
        "shares": "use" if random.random() < 0.2 else "shapley",
    }


def check(seed):
    request = random_portfolio(seed)
    answer = plan_portfolio(request, CATALOG, today=TODAY)
    turned = plan_portfolio(
        {**request, "projects": request["projects"][::-1]}, CATALOG, today=TODAY
    )
    shares = [one.share for one in answer.projects]

    assert turned == answer
    assert answer.net_present_cost <= answer.apart
    assert answer.gap <= 0.011
    assert sum(shares) == answer.net_present_cost
    assert all(one.share <= one.alone for one in answer.projects)
    assert sum(line.amount for line in answer.lines) == answer.total_cost
    for one in answer.projects:
        used = sum(use.accelerator_hours for use in answer.uses if use.project == one.name)
        assert used == pytest.approx(one.hours, rel=1e-6)


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "seed", MANY if os.environ.get("FUZZ") else [1000, pytest.param(1362, marks=pytest.mark.sweep)]
)
def test_random_portfolios_keep_their_promises(seed):
    check(seed)
