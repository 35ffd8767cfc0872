"""Budgets that are in the way, as the lines of a plan count them."""

import numpy as np
import pytest

from planner.costing.budgets_in_books import Budgets
from planner.costing.optimizer.problem import ConflictingConstraint, Plan
from tests.planner.comparison.compared import compared
from tests.planner.costing.market_of import catalog, offer


def test_a_budget_that_the_search_lowered_is_asked_for_with_what_lines_were_over_it() -> None:
    """The plan's lines come to 5 more than the budget, with it eased too. Below what they may come
    to, the optimiser finds none, and asks for less than the request states."""
    hours = np.full(24, 730.0)
    results = compared(catalog(offer("40")), 730 * 8, constraints={"total_budget": 700_795})
    (rental,) = results.inputs.rentals
    plan = Plan(True, 700_800.0, 700_800.0, rented_hours={rental.key: hours})
    conflict = ConflictingConstraint("total_budget", 700_790, 700_793, is_sufficient=False)
    refused = Plan(False, np.inf, 0.0, why_not=(str(conflict),), conflicts=(conflict,))
    turns = iter((plan, plan, refused))
    budgets = Budgets(results.inputs, results.inputs.problem)
    last = budgets.solve_within(lambda problem: next(turns))
    (named,) = last.conflicts
    assert (named.current_value, named.required_value) == pytest.approx((700_795, 700_800))
    assert last.why_not == (str(named),)
