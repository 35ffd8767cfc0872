"""Shares sampled in lanes: the same figures in one process and in two, however one of them ends."""

import pickle
from itertools import islice

import numpy as np
import pytest

from planner.costing.optimizer.work import WorkMeter, WorkSpentError
from planner.portfolio import processes
from planner.portfolio.portfolio import plan_portfolio
from planner.portfolio.processes import open_in_processes
from planner.portfolio.shares import (
    GroupCosts,
    Sampling,
    close,
    open_here,
    read_in_turn,
    walk_orders,
)
from pricing.common.invalid_input import InvalidInput
from tests.planner.costing.market_of import CATALOG
from tests.planner.portfolio.joint_instances import joint
from tests.planner.portfolio.portfolios import TODAY, relay


def sampling(pairs=6, **fields):
    problem = joint(4)
    names = [one.name for one in problem.projects]
    costs = GroupCosts(problem, {name: 10.0 * i for i, name in enumerate(names)})
    return Sampling(costs, names, pairs, **fields)


def read(opened, work=None):
    lanes = list(opened)
    rows = list(read_in_turn(lanes, work or WorkMeter()))
    close(lanes)
    return np.array(rows)


@pytest.fixture
def lanes():
    opened = open_in_processes(2)(sampling())
    yield opened
    close(opened)


def test_two_processes_give_what_one_gives_to_the_last_digit(lanes):
    one, one_work, two_work = sampling(), WorkMeter(), WorkMeter()
    here = read(open_here(one), one_work)
    assert here.shape == (6, len(one.names))
    assert (read(lanes, two_work) == here).all()
    assert two_work.done == one_work.done > 0


def test_lanes_are_the_orders_in_their_turn():
    one = sampling()
    game = one.costs.game(WorkMeter())
    assert np.allclose(read(open_here(one)), list(walk_orders(one.names, game, 6)), rtol=1e-9)


def test_a_process_that_dies_is_replaced_by_the_same_figures(lanes):
    here = [step.added for step in sampling().lane(1)]
    first = next(lanes[1]).added
    lanes[1]._process.kill()
    lanes[1]._process.wait()
    rest = [step.added for step in lanes[1]]
    assert np.array_equal([first, *rest], here)


def test_a_process_that_writes_something_else_is_replaced_too(monkeypatch):
    monkeypatch.setattr(processes.sys, "executable", "/bin/cat")
    opened = open_in_processes(2)(sampling(4))
    assert np.array_equal(read(opened), read(open_here(sampling(4))))


def test_who_has_read_enough_ends_the_process(lanes):
    next(lanes[1])
    close(lanes)
    assert lanes[1]._process.returncode is not None


def test_a_process_ends_with_its_reader():
    (_, lane) = open_in_processes(2)(sampling(500))
    next(lane)
    lane._process.stdout.close()  # what the end of the reading process does
    assert lane._process.wait(timeout=20) == 0
    close([lane])


@pytest.mark.parametrize("count", [1, 2])
def test_the_work_of_every_process_is_counted_and_limited(count):
    work = WorkMeter()
    read(islice(open_here(sampling(2)), 2), work)
    opened = open_in_processes(count)(sampling(200, most_work=2 * work.done))
    try:
        with pytest.raises(WorkSpentError):
            list(read_in_turn(opened, WorkMeter(3 * work.done)))
    finally:
        close(opened)


def test_fewer_than_one_process_is_refused():
    with pytest.raises(InvalidInput, match="at least 1"):
        open_in_processes(0)


def test_a_sampling_travels_small():
    assert len(pickle.dumps(sampling())) < 200_000


@pytest.mark.sweep
def test_a_portfolio_is_the_same_on_one_process_and_on_two():
    request = {**relay(9, 22), "what_if": False}
    one, two = (
        plan_portfolio(request, CATALOG, today=TODAY, open_lanes=open_in_processes(count))
        for count in (1, 2)
    )
    assert one == two
    assert one.shares_method == "shapley_sampled"
    assert sum(each.share for each in one.projects) == one.net_present_cost
    assert all(each.share <= each.alone for each in one.projects)
