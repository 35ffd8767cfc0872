"""Runs of simplex that lead nowhere: begun anew without their basis, and charged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from planner.costing.optimizer import highs
from planner.costing.optimizer.highs import LinearProgram
from planner.costing.optimizer.variables import Entries
from planner.costing.optimizer.work import WorkMeter, WorkSpentError

ROOT = Path(__file__).parents[4]


def program(work: WorkMeter) -> LinearProgram:
    """min Σ c·x with 30 rows x_i + x_(i+1) ≥ 1, over 31 columns."""
    rows = 30
    made = LinearProgram(np.ones(rows), np.full(rows, np.inf), work)
    starts = np.minimum(np.concatenate([[0], 2 * np.arange(rows + 1) + 1]), 2 * rows)
    of_column = [[i for i in (j - 1, j) if 0 <= i < rows] for j in range(rows + 1)]
    entries = Entries(starts, np.concatenate(of_column).astype(np.int64), np.ones(2 * rows))
    cost = 1.0 + np.arange(rows + 1) / 100.0
    made.add_columns(cost, np.zeros(rows + 1), np.full(rows + 1, np.inf), entries)
    return made


def test_a_watched_run_gives_what_an_unwatched_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = program(WorkMeter())
    assert plain.run()
    monkeypatch.setattr(highs, "_LARGE_SIZE", 0)
    watched = program(WorkMeter())
    assert watched.run()
    assert (watched.objective, watched.values().tolist()) == (
        plain.objective,
        plain.values().tolist(),
    )


def test_a_run_that_takes_back_too_much_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highs, "_LARGE_SIZE", 0)
    monkeypatch.setattr(highs, "_MOST_TAKEN_BACK", -10)
    cleared, begin_anew = [], highs.highspy.Highs.clearSolver

    def clear(self: highs.highspy.Highs) -> object:
        cleared.append(self)
        monkeypatch.setattr(highs, "_MOST_TAKEN_BACK", 1_000)
        return begin_anew(self)

    monkeypatch.setattr(highs.highspy.Highs, "clearSolver", clear)
    again = program(WorkMeter())
    assert again.run()
    assert len(cleared) == 1
    plain = program(WorkMeter())
    assert plain.run()
    assert again.objective == pytest.approx(plain.objective)


def test_one_that_leads_nowhere_twice_is_work_that_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(highs, "_LARGE_SIZE", 0)
    monkeypatch.setattr(highs, "_MOST_TAKEN_BACK", -10)
    work = WorkMeter()
    with pytest.raises(WorkSpentError, match="more work than is left"):
        program(work).run()
    assert work.left_out


def test_what_is_taken_back_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = []
    for cost in (0, 100):
        monkeypatch.setattr(highs, "_LARGE_SIZE", 0)
        monkeypatch.setattr(highs, "_TAKEN_BACK_COST", cost)
        work = WorkMeter()
        assert program(work).run()
        spent.append(work.done)
    assert spent[0] < spent[1]


def test_a_solver_that_is_made_prints_nothing() -> None:
    made = (
        "import numpy, planner.costing.optimizer.highs as highs;"
        "from planner.costing.optimizer.work import WorkMeter;"
        "highs.LinearProgram(numpy.zeros(1), numpy.ones(1), WorkMeter())"
    )
    run = subprocess.run([sys.executable, "-c", made], capture_output=True, check=True, cwd=ROOT)
    assert (run.stdout, run.stderr) == (b"", b"")
