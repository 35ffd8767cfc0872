"""What was sized under rules 2 keeps its figures, and what rules 3 change."""

import pytest

from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput

SEVEN = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
KEPT = [
    (
        {"workload": SEVEN, "accelerator": "A100-80GB", "accelerators": 256},
        (68241.6029, 104841.8598, 140305.1539, 59759.86),
    ),
    (
        {
            "workload": {**SEVEN, "tokens": 3e7, "optimizer": "lora"},
            "accelerator": "nvidia-l40s",
            "accelerators": 1,
        },
        (0.9068, 2.9299, 33.7517, 1.253),
    ),
    (
        {
            "workload": {"kind": "training", "model": "Mixtral-8x7B-v0.1", "tokens": 1e12},
            "accelerator": "H100",
            "accelerators": 512,
        },
        (46521.1861, 79571.5193, 114533.1712, 79372.59),
    ),
    (
        {
            "workload": {
                "kind": "samples",
                "samples": 1e6,
                "epochs": 90,
                "forward_gflops_per_sample": 8.2,
            },
            "accelerator": "H100",
        },
        (4.1384, 7.5244, 15.0488, 7.506),
    ),
]


def figures(request, rules):
    answer = estimate({**request, "rules": rules}).answer
    hours = answer.accelerator_hours
    return hours.p10, hours.p50, hours.p90, answer.energy_kwh


@pytest.mark.parametrize(("request_", "kept"), KEPT)
def test_edition_2_keeps_its_figures(request_, kept):
    assert figures(request_, 2) == pytest.approx(kept, rel=1e-3)


def test_edition_3_narrows_the_range_of_large_trainings_and_keeps_their_hours():
    old, new = figures(KEPT[0][0], 2), figures(KEPT[0][0], 3)
    assert new[1] == pytest.approx(old[1])
    assert old[0] < new[0] < new[1] < new[2] < old[2]


def test_edition_3_counts_measured_power():
    """An A100 draws 1.2 of its 400 W with its share of the server."""
    hours, energy = figures(KEPT[0][0], 3)[1::2]
    assert energy == pytest.approx(hours * 0.4 * 1.2039, rel=1e-3)


def test_rollouts_need_edition_3():
    work = {**SEVEN, "rollouts": {"response_tokens": 500, "per_step": 64}}
    with pytest.raises(InvalidInput) as refusal:
        estimate({"workload": work, "accelerator": "H100", "rules": 2})
    assert refusal.value.field == "workload.rollouts"
