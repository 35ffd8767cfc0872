"""What a deadline changes of the hours of a run."""

import pytest

from planner.sizing.estimate import estimate

V3 = {"kind": "training", "model": "DeepSeek-V3", "tokens": 1e12}
LLAMA = {"kind": "training", "model": "Llama-3.1-405B", "tokens": 1e12}


def by(work, slug, month):
    runs = [{"start": "2027-01", "deadline": f"2027-{month:02d}"}]
    return estimate({"workload": {**work, "runs": runs}, "accelerator": slug})


def test_a_deadline_leaves_no_accelerators_idle():
    """One month asked for 704 H100, of which five replicas of 128 used 640."""
    found = by(V3, "nvidia-h100-80gb-sxm", 1)
    assert found.size.layout.unused == 0
    assert found.size.accelerators % found.size.layout.at_once == 0
    assert found.size.wall_clock_hours <= 730


@pytest.mark.parametrize("work", [V3, LLAMA])
@pytest.mark.parametrize("slug", ["nvidia-a100-80gb-sxm", "nvidia-h100-80gb-sxm"])
def test_the_largest_models_take_about_as_long_by_any_deadline(work, slug):
    """405B on A100 took 15 % more by one month than by twelve, all with saves of 40 s."""
    hours = [by(work, slug, month).hours for month in (1, 3, 6, 12)]
    assert max(hours) / min(hours) < 1.1
