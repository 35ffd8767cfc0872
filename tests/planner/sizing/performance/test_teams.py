"""What teams make of accelerator and layout: every team predicted by the others."""

import math
import statistics

import pytest

from planner.sizing.evidence.training_runs import cluster_share
from planner.sizing.performance.teams import (
    CODES,
    fit_teams,
    log_range,
    range_of,
    team_fit,
    team_runs,
)


@pytest.fixture(scope="module")
def held_out():
    """(run, ln error, inside the range) of every run, its team unseen in fit and range."""
    fit, found = team_fit(), []
    for team in dict.fromkeys(run.team for run in team_runs()):
        others = fit_teams([run for run in team_runs() if run.team != team])
        for run, error in fit.errors:
            if run.team == team:
                low, high = range_of(others, run.stage, None, run.accelerators <= 8)
                found.append((run, error, low <= error <= high))
    return found


def figures(rows):
    errors = [abs(math.exp(-error) - 1) for _, error, _ in rows]
    covered = statistics.fmean(inside for _, _, inside in rows)
    return statistics.median(errors), statistics.fmean(e <= 0.5 for e in errors), covered


@pytest.mark.sweep
def test_held_out_pre_trainings_are_close_and_covered(held_out):
    runs = [row for row in held_out if row[0].stage == "pretraining" and not row[0].is_rate]
    median, within_half, covered = figures(runs)
    assert median <= 0.33
    assert within_half >= 0.65
    assert 0.7 <= covered <= 0.9


@pytest.mark.sweep
def test_held_out_fine_tunings_are_covered_by_a_wide_range(held_out):
    runs = [row for row in held_out if row[0].stage == "fine_tuning" and not row[0].is_rate]
    assert len(runs) >= 10
    assert 0.7 <= figures(runs)[2] <= 1
    low, high = log_range("fine_tuning", None, 8)
    assert high - low > 1.5


def test_hand_tuned_code_takes_less_and_a_first_version_more():
    hand, standard, first = (team_fit().excess("pretraining", code) for code in CODES)
    assert hand < standard < first


def test_knowing_the_code_narrows_the_range():
    low, high = log_range("pretraining", None, 256)
    narrow = log_range("pretraining", "standard", 256)
    assert narrow[1] - narrow[0] < high - low


def test_one_team_has_one_vote():
    """Ten copies of one team's run move nothing."""
    runs = list(team_runs())
    copied = [*runs, *[run for run in runs if run.team == "bloom"] * 10]
    assert fit_teams(copied).stages == pytest.approx(fit_teams(runs).stages, abs=1e-6)


def test_a_larger_cluster_costs_what_the_same_code_lost():
    assert cluster_share(8) == 1
    assert 0.94 <= cluster_share(128) <= 1.06
