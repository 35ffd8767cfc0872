"""A short run of one's own in place of an estimate."""

import pytest

from planner.sizing.calibration.pilot import calibrate_request
from planner.sizing.estimate import estimate
from pricing.common.invalid_input import InvalidInput

SEVEN = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
CARD = "0, NVIDIA A100-SXM4-80GB"
LOG = f"index, name, utilization.gpu [%]\n{CARD}, 90 %\n{CARD}, 94 %\n"


def pilot(workload=SEVEN, log=None, **changes):
    asked = {"workload": workload, "accelerators": 8, "per_second": 24_000, **changes}
    return calibrate_request({"pilot": asked, **({"log": log} if log else {})})


def test_a_pilot_narrows_the_range_and_reprices_the_hours():
    found = pilot(accelerator="A100-80GB").pilot
    assert found.per_accelerator == 3000
    assert found.measured.p50 == pytest.approx(1e12 / 3000 / 3600, rel=0.05)
    assert found.narrower > 1.5
    assert found.mfu == pytest.approx(6 * 7e9 * 3000 / 312e12, rel=0.01)


def test_the_workload_comes_back_ready_to_be_asked():
    found = pilot(accelerator="A100-80GB").pilot
    again = estimate({"workload": found.workload, "accelerators": 8}).answer
    assert again.accelerator_hours == found.measured


def test_the_accelerator_is_that_of_the_log():
    answer = pilot(log=LOG)
    assert answer.pilot.accelerator == answer.gpus[0].accelerator == "nvidia-a100-80gb-sxm"
    assert answer.gpus[0].sustained_utilisation == pytest.approx(0.92)


def test_samples_have_a_pilot_too():
    work = {"kind": "samples", "samples": 1.28e6, "epochs": 90, "forward_gflops_per_sample": 8.2}
    found = pilot(work, accelerator="H100", per_second=16_000).pilot
    assert (found.per_accelerator, found.mfu) == (2000, None)
    assert found.workload["samples_per_second"] == 2000


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({}, "log"),
        ({"pilot": {"workload": SEVEN, "accelerators": 8, "per_second": 9}}, "pilot.accelerator"),
        (
            {
                "pilot": {
                    "workload": SEVEN,
                    "accelerators": 8,
                    "per_second": 1e9,
                    "accelerator": "H100",
                }
            },
            "pilot.per_second",
        ),
        (
            {
                "pilot": {
                    "workload": {
                        "kind": "samples",
                        "samples": 1e6,
                        "epochs": 9,
                        "forward_gflops_per_sample": 8.2,
                    },
                    "accelerators": 1,
                    "per_second": 100_000,
                    "accelerator": "T4",
                }
            },
            "pilot.per_second",
        ),
        ({"log": "no log at all"}, "log"),
    ],
)
def test_what_cannot_be_is_refused_by_field(asked, field):
    with pytest.raises(InvalidInput) as refusal:
        calibrate_request(asked)
    assert refusal.value.field == field


def test_samples_that_have_nothing_but_a_rate_are_compared_with_it():
    work = {"kind": "samples", "samples": 1e6, "epochs": 10, "samples_per_second": 1000}
    figures = pilot(work, accelerator="H100", per_second=16_000).pilot
    assert figures.estimated.p50 == pytest.approx(2 * figures.measured.p50)


@pytest.mark.parametrize(
    ("per_second", "words"),
    [(72_000, ""), (9_000, "far outside the range"), (150, "times longer than estimated")],
)
def test_a_rate_far_from_all_that_is_known_is_doubted(per_second, words):
    """That of one accelerator in place of all, or a minute's in place of a second's."""
    asked = {"workload": SEVEN, "accelerator": "H100", "accelerators": 8, "per_second": per_second}
    warnings = calibrate_request({"pilot": asked}).pilot.warnings
    assert any(words in one for one in warnings) if words else warnings == ()


def test_what_draws_a_warning_in_an_estimate_draws_it_of_a_pilot():
    asked = {"workload": SEVEN, "accelerator": "H100", "accelerators": 8, "per_second": 130_000}
    assert any("above 65%" in one for one in calibrate_request({"pilot": asked}).pilot.warnings)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"accelerators": 2, "per_second": 18_000},
            "4 GPUs are at work in the log and the pilot states 2",
        ),
        (
            {"accelerators": 8, "per_second": 32_000, "accelerator": "A100 80GB SXM"},
            "the log is of H100 SXM5 80 GB",
        ),
    ],
)
def test_a_pilot_that_the_log_denies_is_doubted(more, words):
    lines = "".join(f"{gpu}, NVIDIA H100 80GB HBM3, 97 %\n" for gpu in range(4))
    log = "index, name, utilization.gpu [%]\n" + lines
    answer = calibrate_request({"log": log, "pilot": {"workload": SEVEN, **more}})
    assert any(words in one for one in answer.pilot.warnings)
