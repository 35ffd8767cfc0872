"""The estimate's answer: its form, the ranking, refusals, and the CPU that is enough."""

import json

import pytest

from planner.sizing.estimate import estimate
from planner.sizing.performance.neighbours import near_runs
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators

CONTRACT = {
    "accelerator_hours", "wall_clock_hours", "training_flops", "mfu", "mfu_source", "goodput",
    "goodput_source", "memory_per_accelerator_gib", "memory_breakdown", "min_accelerators",
    "parallelism", "scaling_efficiency", "energy_kwh", "candidates", "method", "warnings",
}  # fmt: skip
SAMPLES = {"kind": "samples", "samples": 1.281e6, "epochs": 90, "benchmark": "resnet50-lambda"}
HOURS = {"kind": "accelerator_hours", "accelerator": "T4", "hours_per_month": [100, 2000]}


def training(**changes):
    return {"kind": "training", "parameters": 7e9, "tokens": 1e12, **changes}


def answer(workload, **request):
    return estimate({"workload": workload, **request}).answer.to_json()


def ranked(workload, **request):
    return {c["accelerator"]: c for c in answer(workload, **request)["candidates"]}


def refusal(request):
    with pytest.raises(InvalidInput) as caught:
        estimate(request)
    return caught.value


@pytest.mark.parametrize("workload", [training(), SAMPLES, HOURS], ids=lambda w: w["kind"])
def test_every_field_of_the_contract_is_there_and_is_json(workload):
    found = answer(workload)
    assert found.keys() >= CONTRACT
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    hours = found["accelerator_hours"]
    assert 0 < hours["p10"] <= hours["p50"] <= hours["p90"]


def test_all_runs_and_experiments_are_in_the_hours():
    runs = [{"start": "2027-01", "count": 3}]
    rest = {"accelerator": "H100 SXM", "accelerators": 64}
    one = answer(training(), **rest)
    many = answer(training(runs=runs, experiments_factor=2), **rest)
    assert many["runs"] == 3
    assert many["accelerator_hours"]["p50"] == pytest.approx(6 * one["accelerator_hours"]["p50"])


def test_given_hours_are_only_added_up():
    found = answer(HOURS)
    assert found["accelerator_hours"] == {"p10": 2100, "p50": 2100, "p90": 2100, "holds": True}
    assert found["accelerators"] == 3
    assert found["candidates"] == []


def test_failures_and_the_checkpoints_against_them_are_told():
    found = answer(training(), accelerator="H100 SXM", accelerators=1024)
    assert found["hours_between_failures"] == pytest.approx(49.5, abs=0.1)
    save = 7e9 * 14 / (1024 / 8 * 1.2 * 2**30) / 3600
    assert found["checkpoint_interval_hours"] == pytest.approx((2 * save * 49.5) ** 0.5, rel=0.01)
    assert 0.5 < found["goodput_on_spot"]["above 20%"] < found["goodput_on_spot"]["0% to 5%"] < 1


def test_a_missed_deadline_warns():
    runs = [{"start": "2027-01", "deadline": "2027-01"}]
    found = answer(training(runs=runs), accelerator="H100 SXM", accelerators=8)
    assert "the deadline leaves 730 h" in found["warnings"][-1]


def test_every_accelerator_is_ranked_or_excluded_with_its_reason():
    found = answer(training())["candidates"]
    assert {c["accelerator"] for c in found} == {a.slug for a in all_accelerators()}
    ranks = [c["rank"] for c in found if c["fits"]]
    assert ranks == list(range(1, len(ranks) + 1))
    assert all(c["why_not"] for c in found if not c["fits"])
    assert found == sorted(found, key=lambda c: not c["fits"])


@pytest.mark.parametrize(
    ("slug", "words"),
    [
        ("nvidia-rtx-4090", "data centre"),
        ("amd-mi300x", "ROCm"),
        ("google-tpu-v5e", "XLA"),
        ("aws-trainium2", "Neuron"),
        ("nvidia-l4", "CUDA"),
    ],
)
def test_licence_and_software_are_notes_on_the_choice(slug, words):
    assert any(words in note for note in ranked(training())[slug]["notes"])


@pytest.mark.parametrize(
    ("workload", "is_enough"),
    [
        (training(parameters=1e6, tokens=1e8), True),
        (training(), False),
        (SAMPLES, False),
        (SAMPLES | {"samples": 2e4, "epochs": 10}, True),
        (HOURS, None),
    ],
)
def test_a_cpu_that_is_enough_is_said(workload, is_enough):
    assert answer(workload)["cpu"]["is_enough"] is is_enough


def test_runs_at_the_end_of_the_calendar_are_answered():
    found = answer(training(runs=[{"start": "2199-12"}]), accelerator="H100 SXM")
    assert found["accelerator_hours"]["p50"] > 0


def test_what_fits_nowhere_says_why_the_largest_does_not():
    error = refusal({"workload": training(sequence_length=100_000_000)})
    first = error.message.split(": ")[1]
    assert first.startswith("the training does not fit Instinct MI3")
    assert "retired" not in error.message


def test_a_rate_measured_elsewhere_ranks_nothing_else():
    work = training(tokens_per_second_per_accelerator=3000)
    assert list(ranked(work, accelerator="A100-80GB")) == ["nvidia-a100-80gb-sxm"]


def test_a_sample_rate_is_moved_to_another_accelerator():
    work = {
        "kind": "samples",
        "samples": 1e9,
        "epochs": 1,
        "samples_per_second": 100,
        "accelerator": "T4",
    }
    here = answer(work)["accelerator_hours"]["p50"]
    there = answer(work, accelerator="A100-80GB")["accelerator_hours"]["p50"]
    assert there < here / 2


@pytest.mark.parametrize(
    ("request_", "field", "words"),
    [
        ({}, "workload", "is required"),
        ({"workload": training(), "accelerator": "H1000"}, "accelerator", "not a known"),
        ({"workload": training(), "accelerator": 3}, "accelerator", "is not text"),
        ({"workload": training(), "accelerator": "T4", "accelerators": 0}, "accelerators", "least"),
        ({"workload": training(), "accelerator": "T4", "accelerators": 1}, "accelerators", "hold"),
        (
            {"workload": training(accelerator="T4"), "accelerator": "L4"},
            "accelerator",
            "the workload names Tesla T4",
        ),
        ({"workload": HOURS, "accelerator": "L4"}, "accelerator", "the workload names Tesla T4"),
        ({"workload": HOURS | {"accelerator": "X"}}, "workload.accelerator", "not a known"),
        ({"workload": training(mfu=1.5)}, "workload.mfu", "impossible"),
        (
            {"workload": training(precision="bf16"), "accelerator": "T4"},
            "workload.precision",
            "has no bf16",
        ),
        ({"workload": training(), "gpus": 8}, "gpus", "not a known field"),
        ({"workload": HOURS | {"hours_per_month": 0}}, "workload.hours_per_month", "at least one"),
        ({"workload": HOURS | {"peak_accelerators": 2}}, "workload.peak_accelerators", "3 or more"),
        ({"workload": HOURS, "accelerators": 2}, "accelerators", "allowed are 3 or more"),
        (
            {
                "workload": SAMPLES
                | {"samples_per_second": 9, "benchmark": "x", "accelerator": "T4"}
            },
            "workload.benchmark",
            "'x' is not known",
        ),
        (
            {"workload": SAMPLES | {"precision": "bf16"}, "accelerator": "T4"},
            "workload.precision",
            "allowed there are fp32, fp16",
        ),
        (
            {"workload": SAMPLES | {"precision": "tf32"}, "accelerator": "V100"},
            "workload.precision",
            "has no tf32",
        ),
        (
            {"workload": {"kind": "guess"}},
            "workload.kind",
            "'guess' is not known; allowed are accelerator_hours",
        ),
        (
            {"workload": training(sequence_length=100_000_000)},
            "accelerator",
            "no accelerator can do",
        ),
    ],
)
def test_a_bad_request_is_refused_by_field(request_, field, words):
    error = refusal(request_)
    assert error.field == field
    assert words in error.message


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"sweep": {"trials": 20, "share": 0.1}}, "of the run 3 times over for attempts"),
        ({"runs": [{"start": "2027-01", "count": 4}]}, "of 4 runs"),
        ({"runs": [{"start": "2027-01", "count": 4}], "experiments_factor": 1.5},
         "of 4 runs, each 1.5 times over for attempts"),
    ],
)  # fmt: skip
def test_what_the_hours_hold_beside_one_run_is_said(changes, words):
    asked = {"workload": training(**changes), "accelerator": "H100 SXM", "accelerators": 64}
    found = estimate(asked).answer
    times = found.accelerator_hours.p50 / (found.wall_clock_hours * found.accelerators)
    assert ("the accelerator-hours are" in found.method) == (times > 1.001)
    assert words in found.method


def test_the_nearest_published_trainings_stand_beside_the_estimate():
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e12}
    answer = estimate({"workload": work, "accelerator": "A100-80GB", "accelerators": 256}).answer
    first = answer.neighbours[0]
    assert (first.run, first.is_same_work, first.differs) == ("llama1-7B", True, "hand-tuned code")
    assert answer.accelerator_hours.p10 < first.scaled_hours < answer.accelerator_hours.p90
    assert len({near.run for near in answer.neighbours}) == 3


def test_the_same_work_outside_the_range_is_said():
    """What a first version of the code took, asked as a vendor's recipe."""
    runs = [run for run in near_runs() if run.code == "first_version" and run.excess > 1]
    work = {"kind": "training", "parameters": runs[0].parameters, "tokens": runs[0].tokens}
    asked = {"workload": work | {"stage": runs[0].stage, "code": "benchmark"}}
    asked |= {"accelerator": runs[0].accelerator, "accelerators": runs[0].accelerators}
    assert any(f"{runs[0].run} did this work" in one for one in estimate(asked).answer.warnings)
