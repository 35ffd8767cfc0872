"""Work is counted, and what is left out for lack of it makes no answer wrong."""

import pytest

from planner.costing.optimizer.model import Effort
from planner.costing.optimizer.solve import solve
from planner.costing.optimizer.work import (
    CHECK_EVERY,
    MAX_MODEL_CELLS,
    WorkCancelledError,
    WorkMeter,
    WorkSpentError,
)
from tests.planner.costing.optimizer.plan_instances import market, medium


def test_a_part_is_charged_to_the_whole_and_stops_only_where_it_should():
    whole = WorkMeter(1_000)
    soft, hard = whole.part(100), whole.part(100, stops=True)

    soft.charge(150)
    assert (soft.is_spent, soft.remaining, soft.stop_after) == (True, 0.0, 850.0)
    with pytest.raises(WorkSpentError):
        hard.charge(101)
    assert whole.done == 251
    assert (soft.left_out, hard.left_out, whole.left_out) == (False, True, True)


def test_a_share_is_one_of_what_is_left():
    work = WorkMeter(1_000)
    work.charge(400)

    assert work.share(0.5).limit == 300
    assert work.part(5_000).remaining == 600


def test_a_model_that_would_not_fit_into_memory_is_refused_before_it_is_built():
    work = WorkMeter()

    work.charge_model(MAX_MODEL_CELLS)
    with pytest.raises(WorkSpentError, match="8,000,001 figures"):
        work.charge_model(MAX_MODEL_CELLS + 1)


def test_a_cancelled_question_stops_at_the_next_look():
    looks = []
    work = WorkMeter(is_cancelled=lambda: bool(looks.append(1)) or len(looks) == 2)

    work.part(10**9).charge(CHECK_EVERY)
    work.charge(CHECK_EVERY - 1)
    with pytest.raises(WorkCancelledError):
        work.part(10**9).charge(1)
    assert len(looks) == 2


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", [0, 3, 4, 6])
def test_a_plan_found_with_less_work_keeps_a_true_bound(seed):
    problem = medium(seed)
    optimum = solve(problem, effort=Effort(gap=0.0))
    everything = WorkMeter()
    solve(problem, work=everything)

    gaps = []
    for share in (0.02, 0.1, 0.3, 0.6, 1.0):
        plan = solve(problem, work=WorkMeter().part(everything.done * share))
        assert plan.feasible
        # The solver's tolerances of rows reach the cost as parts of a million.
        assert plan.bound <= optimum.cost * (1 + 1e-6) <= plan.cost * (1 + 2e-6)
        gaps.append(plan.gap)
    assert gaps[0] > gaps[-1]
    assert gaps == sorted(gaps, reverse=True)


def test_the_same_work_gives_the_same_plan():
    problem = market(3, 24, 120, mixed=True)
    everything = WorkMeter()
    solve(problem, work=everything)

    def short():
        work = WorkMeter().part(everything.done * 0.4)
        plan = solve(problem, work=work)
        return plan.cost, plan.bound, work.done

    assert short() == short()


def test_a_plan_that_cannot_be_looked_for_is_refused():
    with pytest.raises(WorkSpentError):
        solve(market(3, 24, 120, mixed=True), work=WorkMeter(50))


def test_enough_work_changes_nothing():
    problem = market(1, 24, 120, mixed=True)
    unlimited, limited = WorkMeter(), WorkMeter(10**9)

    free, bounded = solve(problem, work=unlimited), solve(problem, work=limited)

    assert (free.cost, free.bound) == (bounded.cost, bounded.bound)
    assert unlimited.done == limited.done
    assert not limited.left_out
