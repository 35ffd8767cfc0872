"""Trainings among other projects: machines whole, for the hours of the work alone."""

from typing import Any

import pytest

from planner.contract.answer.portfolio import PortfolioAnswer
from tests.planner.portfolio.portfolios import planned, project

STEADY = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 2400}
RUNS = [("2027-03", "2027-07"), ("2027-09", "2028-01"),
        ("2028-03", "2028-07")]  # fmt: skip
LARGE = {"kind": "training", "parameters": 13e9, "tokens": 6e11, "accelerator": "H100",
         "experiments_factor": 1.5, "precision": "bf16", "sequence_length": 4096,
         "runs": [{"start": first, "deadline": last} for first, last in RUNS]}  # fmt: skip
SMALL = {"kind": "training", "parameters": 7e9, "tokens": 1.4e11}
QUOTED = {"server": "custom", "accelerator": "H100", "accelerator_count": 8, "power_kw": 10.2,
          "unit_price": 265_000, "idle_power_kw": 2.6}  # fmt: skip


def plan(*names: str, **fields: Any) -> PortfolioAnswer:
    works = {"steady": STEADY, "large": LARGE, "small": SMALL}
    request = {
        "start": "2027-01", "horizon_months": 36, "what_if": False, "shares": "use",
        "on_prem": {"servers": [QUOTED]}, "projects": [project(n, works[n]) for n in names],
    }  # fmt: skip
    return planned(request, **fields)


@pytest.mark.sweep
def test_a_training_beside_others_costs_no_more_than_by_itself() -> None:
    """Calendar-mode B200 for sixteen days serve it alone; beside others it had to take machines for
    all the hours that the reference would take, and no plan was called cheaper."""
    all_three, others, small = (
        plan("steady", "large", "small"),
        plan("steady", "large"),
        plan("small"),
    )
    costs = [one.net_present_cost for one in (all_three, others, small)]
    assert None not in costs
    together, rest, own = (float(cost) for cost in costs if cost is not None)
    assert together <= (rest + own) * (1 + 1e-9)
    assert all_three.gap is not None
    assert together * (1 - all_three.gap) <= rest + own + 0.01
