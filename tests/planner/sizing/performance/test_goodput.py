"""Checkpoint intervals, failures and interruptions against published figures."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.shapes import state_bytes
from planner.sizing.performance.goodput import (
    daly_interval,
    estimate_goodput,
    goodput_by_band,
    job_mtbf,
    overhead,
    saving_hours,
    spot_goodput,
)
from tests.properties import examples

HOURS_OF_NINE_MONTHS = 9 * 730


def test_daly_by_hand():
    save, mtbf = 0.1, 20.0
    ratio = save / (2 * mtbf)
    by_hand = math.sqrt(2 * save * mtbf) * (1 + math.sqrt(ratio) / 3 + save / (18 * mtbf)) - save
    assert daly_interval(save, mtbf) == pytest.approx(by_hand)


def test_jobs_fail_as_often_as_published():
    """16,384 GPUs every 3 h; 64 about monthly; 8 about every nine months."""
    assert job_mtbf(16_384) == pytest.approx(3.1, abs=0.05)
    assert job_mtbf(64) == pytest.approx(730, rel=0.1)
    assert job_mtbf(8) == pytest.approx(HOURS_OF_NINE_MONTHS, rel=0.05)


def test_llama_3_kept_about_nine_tenths_of_its_time_from_failures():
    assert 1 - overhead(job_mtbf(16_384)) == pytest.approx(0.9, abs=0.03)


def test_a_larger_job_saves_faster_and_keeps_what_llama_3_kept():
    """All accelerators write at once: 405B on 16,384 keeps more than 90 % from failures, as Meta
    says, which checkpoints of BLOOM's 40 s would not leave."""
    training = parse(Training, {"kind": "training", "model": "Llama-3.1-405B", "tokens": 1e13})
    states, mtbf = state_bytes(training, "bf16"), job_mtbf(16_384)
    save = saving_hours(states, 16_384)
    assert 3600 * save == pytest.approx(405.9e9 * 14 / (2048 * 1.2 * 2**30), rel=0.01)
    assert 1 - overhead(mtbf) < 0.9 < 1 - overhead(mtbf, save)


@examples(20, 2000)
@given(st.integers(1, 1_000_000), st.integers(1, 1_000_000))
def test_more_accelerators_never_have_a_better_goodput(one, other):
    few, many = sorted((one, other))
    assert 0 < estimate_goodput(many) <= estimate_goodput(few) <= 1


def test_a_dearer_band_never_leaves_more_and_more_nodes_leave_less():
    few, many = goodput_by_band(8), goodput_by_band(1024)
    assert list(few.values()) == sorted(few.values(), reverse=True)
    assert all(many[band] < share for band, share in few.items())
    assert list(few)[-1] == "above 20%"


@examples(20, 2000)
@given(st.floats(0, 100), st.floats(0, 100), st.integers(1, 64))
def test_more_interruptions_never_leave_more(one, other, nodes):
    few, many = sorted((one, other))
    assert 0 < spot_goodput(many, nodes) <= spot_goodput(few, nodes) <= 1


def test_a_checkpoint_that_takes_no_time_costs_no_time_to_save() -> None:
    assert 0 <= spot_goodput(0.2, save=0.0, restart=0.0) <= 1
