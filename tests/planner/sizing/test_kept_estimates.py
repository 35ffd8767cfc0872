"""Estimates of every kind of work keep their figures."""

import json
from pathlib import Path

import pytest

from planner.sizing.estimate import estimate

CASES = json.loads(Path(__file__).with_name("kept_estimates.json").read_text(encoding="utf-8"))
"""Request, accelerator, how many, and p10, p50 and p90 of the hours."""


@pytest.mark.parametrize(("request_", "accelerator", "count", "hours"), CASES)
def test_estimates_keep_their_figures(request_, accelerator, count, hours):
    answer = estimate(request_).answer
    found = answer.accelerator_hours
    assert (answer.accelerator, answer.accelerators) == (accelerator, count)
    assert (found.p10, found.p50, found.p90) == pytest.approx(hours, rel=1e-5)
