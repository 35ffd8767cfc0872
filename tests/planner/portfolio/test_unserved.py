"""What is told of projects that budgets leave no room for, and of those that none serves."""

import re

import pytest

from tests.planner.portfolio.portfolios import planned, project

STEADY = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 4380}
SMALL = {**STEADY, "hours_per_month": 146, "peak_accelerators": 1}
PLAIN = {"start": "2027-01", "horizon_months": 24, "what_if": False}


def plan(budget, *projects):
    return planned(PLAIN, projects=list(projects), limits={"total_budget": budget})


def test_the_budget_named_is_the_least_of_any_plan_and_not_that_of_rent_alone():
    short = plan(50_000, project("steady", {**STEADY, "peak_accelerators": 8}))
    named = re.search(r"at least ([\d,]+) USD", short.why_not[0])
    assert named is not None, short.why_not
    least = int(named[1].replace(",", ""))
    steady = project("steady", {**STEADY, "peak_accelerators": 8})
    served = plan(least + 1, steady)
    assert served.feasible
    assert not plan(least * 0.99, steady).feasible


def test_a_project_that_no_plan_serves_is_not_told_to_wait():
    steady = project("steady", {**STEADY, "peak_accelerators": 8})
    together = plan(50_000, steady, project("small", SMALL))
    refused, wider = together.why_not
    assert refused.startswith("steady has no plan of its own: ")
    assert wider.startswith("Without budgets and quotas, serving all would cost ")


def test_a_project_that_waits_for_others_is_named_with_what_serving_it_would_cost():
    first, last = project("first", SMALL, priority=1), project("last", SMALL, priority=2)
    alone = plan(50_000, first)
    together = plan(float(alone.total_cost) * 1.5, first, last)
    assert [one.name for one in together.projects if one.waits] == ["last"]
    assert len(together.why_not) == 1
    assert together.why_not[0].startswith("last waits: budgets and quotas leave no room")
    assert together.cost_of_waiting == alone.net_present_cost


NO_QUOTA = {"quotas": [{"provider": "aws", "accelerator": "H100", "max_accelerators": 0}]}


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("limits", "constraints", "words"),
    [
        (NO_QUOTA, {"providers": ["aws"]}, "(0) excludes 75"),
        ({}, {"min_accelerator_memory_gib": 5000}, "excludes all"),
    ],
)
def test_where_nothing_at_all_fits_the_answer_says_so(count, limits, constraints, words):
    projects = [project(f"small {i}", SMALL, constraints=constraints) for i in range(count)]
    request = {**PLAIN, "on_prem": {"servers": []}, "projects": projects, "limits": limits}
    answer = planned(request)
    assert answer.headline == "No plan serves any of the projects."
    assert all(one.waits and one.share is None for one in answer.projects)
    assert words in " ".join(answer.why_not)


@pytest.mark.sweep
def test_what_comes_first_of_the_work_of_a_project_is_told_with_its_name():
    """A model of ten times the parameters of any published run has no range."""
    large = {"kind": "training", "parameters": 1e13, "tokens": 1e9, "stage": "pretraining"}
    small = {"kind": "training", "parameters": 7e9, "tokens": 1e10, "stage": "pretraining"}
    request = {**PLAIN, "projects": [project("large", large), project("small", small)]}
    answer = planned(request)
    assert answer.feasible
    named = [words for words in answer.warnings if words.startswith("large: ")]
    assert any("does not hold here" in words for words in named)
    assert not any(words.startswith("small: ") for words in answer.warnings)
