"""What the other runs of a team tell of one of its runs, as the report on accuracy gives it."""

import pytest

from planner.sizing.performance.teams import TeamRun
from tests.bench.reports.teams import HeldOut, beside_their_own


def judged(team, log_error):
    run = TeamRun(
        run=f"{team} {log_error}",
        team=team,
        stage="pretraining",
        code="standard",
        accelerators=64,
        is_mixture=False,
        published_hours=1.0,
        excess=0.0,
    )
    return HeldOut(run, log_error, is_covered=True)


def test_each_run_is_moved_by_the_others_of_its_team_and_not_by_itself():
    found = [judged("slow", 0.5), judged("slow", 0.7), judged("slow", 2.0), judged("alone", 0.4)]
    moved = [one.log_error for one in beside_their_own(found)]
    assert moved == pytest.approx([0.5 - 1.35, 0.7 - 1.25, 2.0 - 0.6])


def test_runs_of_equal_error_are_each_of_them_known():
    assert [one.log_error for one in beside_their_own([judged("a", 0.3), judged("a", 0.3)])] == [
        0.0,
        0.0,
    ]
