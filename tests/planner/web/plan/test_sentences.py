"""Sentences of the plan's pages."""

from __future__ import annotations

import pytest

from planner.contract.answer.estimate import CpuNote
from planner.models import Job
from planner.web.common.formatting import cpu_sentence, sample_progress


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        (Job(), "Waiting: number 2 in line"),
        (Job(message="Trying"), "Trying"),
        (Job(message="Trying", done=2000, total=10000), "Trying: 2,000 of 10,000"),
    ],
)
def test_progress_counts_where_a_total_is_known(job: Job, sentence: str) -> None:
    assert sample_progress(job, 2) == sentence


def test_hours_of_a_cpu_are_left_out_where_not_known() -> None:
    note = CpuNote(is_enough=None, hours=None, note="no datasheet")
    assert cpu_sentence(note) == "No datasheet."
