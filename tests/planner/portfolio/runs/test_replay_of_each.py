"""A portfolio computed again keeps what each of its projects rests on, not the first alone."""

from __future__ import annotations

from planner.costing.assumptions.editions import RUN_EDITION
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.preparation import RUNS_EDITION
from pricing.bundled.catalog import bundled_catalog
from tests.planner.portfolio.portfolios import H100, TODAY, burst, project

TRAINING = {
    "kind": "training",
    "parameters": 13_000_000_000,
    "tokens": 60_000_000_000,
    "sequence_length": 4096,
    "accelerator": H100,
    "runs": [{"start": "2027-01", "deadline": "2027-04"}],
}


def plan(**fields):
    request = {
        "start": "2027-01",
        "horizon_months": 4,
        "projects": [
            project("a", burst(4, 0, 4)),
            project("b", TRAINING, constraints={"max_spot_share": 0.25}),
        ],
    }
    return plan_portfolio(request, bundled_catalog(), today=TODAY, **fields)


def test_a_project_after_the_first_keeps_its_edition():
    """Its editions were not named, so that a saved portfolio with a training after stated hours
    replayed by those of before: 50,406 USD more, with gap 0 in both."""
    today = plan()
    assert [row.value for row in today.assumptions if row.field == RUN_EDITION] == [6]
    assert plan(previous_assumptions=today.assumptions) == today
    later = (RUN_EDITION, RUNS_EDITION)
    before = tuple(row for row in today.assumptions if row.field not in later)
    replayed = plan(previous_assumptions=before)
    assert replayed.assumptions == before
    assert replayed.net_present_cost != today.net_present_cost
