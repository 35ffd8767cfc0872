"""Projects whose jobs take turns within a month: one plan of the pool that keeps their waits."""

from dataclasses import replace

import pytest

from planner.comparison import compare
from planner.contract.request.portfolio import read_portfolio
from planner.costing.optimizer.work import WorkMeter
from planner.portfolio.books import JointBudgets
from planner.portfolio.joint_model import GroupBounds, solve_joint
from planner.portfolio.preparation import PortfolioPreparation
from planner.portfolio.waiting import wait_of_like_jobs
from pricing.bundled.catalog import bundled_catalog
from pricing.common.invalid_input import InvalidInput
from tests.planner.portfolio.portfolios import H100, TODAY, burst, project
from tests.planner.portfolio.portfolios import planned as plan

LABS, HOURS, PEAK = 12, 730, 8


def work(hours=HOURS, peak=PEAK, **fields):
    return {
        "kind": "accelerator_hours",
        "accelerator": H100,
        "hours_per_month": hours,
        "peak_accelerators": peak,
        **fields,
    }


def labs(count=LABS, months=36, **fields):
    projects = [project(f"lab {i:02d}", work(), **fields) for i in range(count)]
    plain = {"start": "2027-01", "shares": "use", "what_if": False}
    return plain | {"horizon_months": months, "projects": projects}


def plan_of_one(peak, months):
    plain = {"start": "2027-01", "sensitivity": False, "cheaper_if": False}
    request = plain | {"horizon_months": months, "workload": work(LABS * HOURS, peak)}
    return compare(request, bundled_catalog(), today=TODAY).recommended


@pytest.fixture(scope="module")
def answer():
    return plan(labs())


def test_twelve_labs_pay_for_what_their_jobs_wait_for_and_not_for_their_peaks(answer):
    (pool,) = answer.pools
    assert (pool.accelerators, pool.accelerators_at_once) == (13, LABS * PEAK)
    assert pool.p90_wait_hours == pytest.approx(wait_of_like_jobs(13, 12.0, 4.0).p90, abs=0.01)
    assert answer.saving_fraction > 0.42
    assert "12 projects take turns on 13 accelerators in place of 96" in answer.headline
    assert any("job_hours) is not stated for 12 projects" in one for one in answer.warnings)


@pytest.mark.parametrize(
    ("waits", "pool", "months"), [({}, 13, 36), ({"max_wait_hours": 1}, 16, 36)]
)
def test_labs_in_turn_pay_for_one_project_with_the_pool_that_keeps_their_wait(waits, pool, months):
    labs_in_turn, one = plan(labs(months=months, **waits)), plan_of_one(pool, months)
    assert labs_in_turn.pools[0].accelerators == pool
    assert float(labs_in_turn.net_present_cost) == pytest.approx(
        float(one.net_present_cost), rel=1e-4
    )


def test_labs_that_must_run_at_once_pay_for_their_peaks():
    answer = plan(labs(3, 12, at_once=True))
    assert answer.pools == ()
    assert answer.net_present_cost == answer.apart
    assert len({(one.direct_cost, one.alone) for one in answer.projects}) == 1
    assert {line.project for line in answer.lines} == {f"lab {i:02d}" for i in range(3)}


def test_who_runs_at_once_keeps_its_peak_beside_the_others():
    request = labs(6)
    request["projects"][0]["at_once"] = True
    (pool,) = plan(request).pools
    assert pool.projects == tuple(f"lab {i:02d}" for i in range(1, 6))
    assert pool.accelerators_at_once == 5 * PEAK


def test_projects_that_may_not_use_the_same_machines_do_not_take_turns():
    request = labs(2, 12)
    request["projects"][0]["constraints"] = {"geographies": ["eu"]}
    request["projects"][1]["constraints"] = {"countries": ["US"]}
    answer = plan(request)
    assert answer.pools == ()
    assert answer.projects[0].alone != answer.projects[1].alone


DAY = [1] * 8 + [8] * 12 + [1] * 4
SERVED = {"kind": "serving", "model": "70B", "requests_by_hour": [20 * r for r in DAY]}


@pytest.mark.parametrize(
    ("serving", "apart"),
    [
        (project("chat", work(16 * 730 * 0.5, 16), week_profile=DAY, at_once=True), "week_profile"),
        (project("chat", SERVED | {"accelerator": H100}), "at_once"),
    ],
)
def test_training_works_by_night_on_what_serving_leaves(serving, apart):
    request = labs(4, 6)
    request["projects"].append(serving)
    answer = plan(request)
    (pool,) = answer.pools
    assert (pool.by_hour, len(pool.projects)) == (("chat",), 5)
    request["projects"][-1] = serving | {apart: [] if apart in serving else True}
    alone = plan(request)
    own = pool.accelerators_at_once - 4 * PEAK
    assert own <= pool.accelerators < own + PEAK
    assert answer.net_present_cost < alone.net_present_cost
    assert "Jobs of 4 projects work on what chat leaves in each hour" in answer.headline
    used = dict.fromkeys(pool.projects, 0.0)
    for row in answer.uses:
        used[row.project] += row.accelerator_hours
    chat = used.pop("chat")
    assert list(used.values()) == pytest.approx([6 * HOURS] * 4, rel=1e-4)
    assert chat + sum(used.values()) <= 6 * 730 * pool.accelerators * (1 + 1e-6)


@pytest.mark.parametrize(
    ("runs", "of_hours", "lab_hours", "months", "joined"),
    [(2, 2500, 1400, 24, 8), (3, 2500, 1000, 12, 6)],
)
def test_small_jobs_take_turns_on_machines_of_large_ones_where_that_costs_less(
    runs, of_hours, lab_hours, months, joined
):
    request = labs(0, months)
    request["projects"] = [project(f"lab {i}", work(lab_hours)) for i in range(6)]
    large = work(of_hours, accelerators_per_job=8)
    request["projects"] += [project(f"run {i}", large) for i in range(runs)]
    asked = PortfolioPreparation(read_portfolio(request), bundled_catalog(), TODAY)
    (apart, _), (together, _) = (
        JointBudgets(asked.joint(asked.projects, joins=joins)).search(WorkMeter())
        for joins in (False, True)
    )
    answer = plan(request)
    least = float(min(apart.net_present_cost, together.net_present_cost))
    assert float(answer.net_present_cost) == pytest.approx(least, rel=1e-3)
    assert [len(pool.projects) for pool in answer.pools] == [joined]


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ([1, 2, 3], "24 or 168 values"),
        ([0] * 24, "24 or 168 values"),
        ([0] * 23 + [1], "takes 24 accelerators in its busiest hour"),
    ],
)
def test_a_profile_of_another_length_without_use_or_above_its_peak_is_refused(profile, words):
    request = labs(2, 12)
    request["projects"][0]["week_profile"] = profile
    with pytest.raises(InvalidInput, match=words):
        read_portfolio(request)


@pytest.fixture(scope="module")
def joint():
    request = labs(3, 12) | {"on_prem": {"lead_time_months": 0}}
    request["projects"] += [project("burst", burst(12, 2, 3)), project("other", work(2000, 16))]
    request["projects"][-1]["workload"]["accelerator"] = "nvidia-a100-80gb-sxm"
    asked = PortfolioPreparation(read_portfolio(request), bundled_catalog(), TODAY)
    return asked.joint(asked.projects)


def test_work_that_is_done_in_turn_costs_as_much_planned_as_one_as_apart(joint):
    problem, apart = joint.problem, replace(joint, pools=()).problem
    assert len(problem.in_turn) > len(apart.in_turn)
    together, each = solve_joint(problem, gap=0.0), solve_joint(apart, gap=0.0)
    assert together.cost == pytest.approx(each.cost, rel=1e-6)
    for one, use in zip(apart.projects, together.uses, strict=True):
        rows = {unit.key: unit.capacity for unit in one.problem.units}
        rows |= {offer.key: offer.capacity for offer in one.problem.rental_options}
        used = [*use.used_hours.items(), *use.rented_hours.items()]
        done = sum(rows[key] * row for key, row in used)
        assert done == pytest.approx(one.problem.hours, abs=0.01)


@pytest.mark.parametrize("group", [{"lab 00", "lab 02", "burst"}, {"other", "lab 01"}, {"burst"}])
def test_a_group_costs_the_same_in_turn_as_apart(joint, group):
    plain = replace(joint, pools=()).problem
    expected = GroupBounds(plain, WorkMeter()).least_cost(frozenset(group))
    bounds = GroupBounds(joint.problem, WorkMeter())
    assert bounds.least_cost(frozenset(group)) == pytest.approx(expected)
