"""The ready examples compute what their sentences say."""

from __future__ import annotations

import datetime as dt

import pytest
from django.http import QueryDict
from django.utils import timezone

from planner.contract.amounts import format_month, next_month
from planner.contract.request.comparison import read_request
from planner.sizing.demand import compute_demand
from planner.web.common.plan_request import read_plan_request
from planner.web.plan.start import list_presets
from tests.planner.web.asking import get, text

TODAY = dt.date(2026, 12, 31)
PRESETS = {preset.title: preset for preset in list_presets(TODAY)}
every = pytest.mark.parametrize("title", PRESETS)


def asked(title):
    return read_request(read_plan_request(QueryDict(PRESETS[title].address)))


def busy_months(title):
    request = asked(title)
    hours = compute_demand(request.workload, request.start, request.horizon_months).hours_per_month
    return [i for i, one in enumerate(hours) if one]


def test_four_times_a_year_is_four_runs_three_months_apart():
    request = asked("Fine-tune a 7B model")
    assert "four times a year" in PRESETS["Fine-tune a 7B model"].story
    assert [one.start.month for one in request.workload.runs] == [1, 4, 7, 10]
    assert request.horizon_months == 12
    assert busy_months("Fine-tune a 7B model") == [0, 3, 6, 9]


def test_a_run_of_an_example_takes_what_the_same_run_alone_takes():
    """Four runs are four times the hours of one."""
    request = asked("Fine-tune a 7B model")
    one = request.workload.model_copy(update={"runs": request.workload.runs[:1]})
    hours = [
        compute_demand(workload, request.start, 12, ["nvidia-l4"]).hours_per_month.sum()
        for workload in (one, request.workload)
    ]
    assert hours[1] == pytest.approx(4 * hours[0])


def test_start_page_and_form_offer_them_from_next_month(client, prices):
    first = format_month(next_month(timezone.now().date()))
    for name in ("start", "plan"):
        assert f"workload.runs.0.start={first}" in text(get(client, name))
