"""Shares that follow use for lack of work, never held against others."""

from __future__ import annotations

import pytest

from planner.comparison import TooMuchWork
from planner.costing.optimizer.work import WorkMeter
from planner.services.portfolio import portfolios
from planner.services.portfolio import portfolios as repricing
from planner.services.work_budget import Budget, spend_from
from pricing import catalog as catalogs
from tests.planner.portfolio.portfolios import relay
from tests.planner.workspace import Workspace, market

pytestmark = pytest.mark.django_db
IN_TURNS = relay(4, 24)
"""Projects that save together, so that the cost of every group counts."""


@pytest.fixture
def work():
    market()
    return Workspace("alpha")


@pytest.fixture
def little_work():
    """Too little for the plans of groups, as on a page that plans many projects."""
    budget = Budget(is_signed_in=lambda: True)
    with spend_from(budget):
        yield budget


def short_of_work(budget, saved):
    """Gives the budget what the plan alone takes of the kept request."""
    budget._meter = WorkMeter(10**9)
    portfolios.plan_again(saved, catalogs.current(), {"shares": "use", "what_if": False})
    budget._meter = WorkMeter(int(1.1 * budget._meter.done))


@pytest.mark.sweep
def test_shares_are_not_held_against_others_that_lack_of_work_gives(work, little_work):
    saved = work.portfolio(request=IN_TURNS)
    assert saved.read_answer().shares_method == "shapley"
    short_of_work(little_work, saved)
    with pytest.raises(TooMuchWork, match="As a job it may take more"):
        repricing.reprice_portfolio(saved)


@pytest.mark.sweep
def test_a_plan_kept_by_use_for_lack_of_work_is_priced_so(work, little_work):
    short_of_work(little_work, work.portfolio(request=IN_TURNS))
    saved = work.portfolio(request=IN_TURNS)
    assert "shares" not in saved.request
    assert saved.read_answer().shares_method == "use"
    little_work._meter = WorkMeter(10**9)
    _, changes = repricing.reprice_portfolio(saved)
    assert all(one.difference == 0 for one in changes)
