"""Sample-based work of which only the FLOPs are known under rules 3 and 4, and measured power."""

import math
import statistics

import pytest

from planner.sizing.estimate import estimate
from planner.sizing.evidence.sample_runs import sample_runs
from planner.sizing.evidence.server_power import server_powers
from planner.sizing.performance.energy import is_at_work, power_share
from planner.sizing.performance.sample_teams import sample_fit
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

WORK = {"kind": "samples", "samples": 1e6, "epochs": 90, "forward_gflops_per_sample": 35.0}


def hours(**changes):
    asked = {"workload": {**WORK, **changes}, "accelerator": "A100-80GB", "accelerators": 8}
    return estimate({**asked, "rules": 3}).answer.accelerator_hours


def test_half_of_the_runs_are_close_and_three_quarters_inside_without_their_team():
    errors = sample_fit().errors
    low, high = sample_fit().log_range
    assert statistics.fmean(abs(math.exp(-e) - 1) <= 0.5 for _, e in errors) >= 0.5
    assert statistics.fmean(low <= e <= high for _, e in errors) >= 0.75


def test_rows_whose_work_was_worked_out_from_their_hours_are_left_out():
    left = [run for run in sample_runs(3) if not run.is_stated]
    assert left
    assert all(run.note for run in left)
    assert not {run.run for run, _ in sample_fit().errors} & {run.run for run in left}


def test_a_large_model_fills_an_accelerator_better():
    assert hours(parameters=1e10).p50 < hours(parameters=1e8).p50
    assert hours(parameters=1.5e8).p50 == pytest.approx(hours().p50)


def test_a_hand_tuned_loader_takes_fewer_hours_than_a_usual_one():
    fast, usual = hours(loader="hand_tuned"), hours(loader="usual")
    assert fast.p50 < hours().p50 < usual.p50
    assert fast.p90 / fast.p10 < hours().p90 / hours().p10


def test_images_whose_loader_is_known_are_closer_without_their_team():
    fit = sample_fit()
    known = {run.run for run, _ in fit.loader_errors}
    blind = [abs(math.exp(-e) - 1) for run, e in fit.errors if run.run in known]
    told = [abs(math.exp(-e) - 1) for _, e in fit.loader_errors]
    assert known == {run.run for run, _ in fit.errors if run.is_images}
    assert statistics.median(told) < 0.3 < statistics.median(blind)


@pytest.mark.parametrize("rate", [{"benchmark": "resnet50-lambda"}, {"samples_per_second": 100.0}])
def test_a_loader_beside_a_measured_rate_is_refused(rate):
    with pytest.raises(InvalidInput, match="already in a measured rate"):
        hours(loader="usual", accelerator="A100-80GB", **rate)


def test_a_loader_needs_rules_3():
    asked = {"workload": {**WORK, "loader": "usual"}, "accelerator": "A100-80GB", "rules": 2}
    with pytest.raises(InvalidInput) as refused:
        estimate(asked)
    assert refused.value.field == "workload.loader"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("row", [r for r in server_powers() if is_at_work(r)], ids=lambda r: r.work)
def test_measured_power_is_within_a_quarter_of_every_measured_server(row):
    tdp = get(row.accelerator).tdp_w
    predicted = power_share(row.accelerator) * tdp * row.accelerators
    assert predicted == pytest.approx(row.watts, rel=0.25)
