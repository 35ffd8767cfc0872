"""Work far beyond every published run says so, and its figures stay as they were."""

from __future__ import annotations

from planner.sizing.estimate import estimate
from planner.sizing.evidence.sample_runs import sample_runs
from planner.sizing.evidence.training_runs import published_runs
from planner.sizing.performance.confidence import FAR, LARGEST_CLUSTER

H100 = "nvidia-h100-80gb-sxm"
MOST = max(run.accelerators or 0 for run in published_runs())


def warnings(accelerators=None, **changes):
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e13} | changes
    asked = {"workload": work, "accelerator": H100}
    return estimate(asked | ({"accelerators": accelerators} if accelerators else {})).answer


def test_a_model_far_larger_than_any_published_one_says_that_no_range_holds():
    text = " ".join(warnings(parameters=1e13, tokens=1e14).warnings)
    assert "10 trillion parameters are " in text
    assert "take the hours as a rough guess; their range does not hold here" in text
    assert "outside the published runs" not in text


def test_a_mixture_is_measured_by_mixtures():
    few = {"active_parameters": 2e11, "tokens": 1e14}
    far = "times as many as in the largest published training of a mixture of experts"
    assert far in " ".join(warnings(parameters=5e12, **few).warnings)
    assert "times as many" not in " ".join(warnings(parameters=2e12, **few).warnings)


def test_more_accelerators_than_any_published_run_or_known_cluster_had():
    near, far, never = (
        " ".join(warnings(accelerators=count).warnings)
        for count in (int(FAR * MOST), int(FAR * MOST) + 8, 10_000_000)
    )
    assert f"no published run used more than {MOST:,} accelerators; the range is wider" in near
    assert "does not hold" not in near
    assert f"{int(FAR * MOST) + 8:,} accelerators at once are 2 times as many as" in far
    assert "known training clusters" not in far
    assert f": {MOST:,}), and more than the largest known training clusters have" in never
    assert "their range does not hold here" in never


def test_a_rate_of_the_team_does_not_hide_it():
    given = warnings(mfu=0.4, parameters=1e13, tokens=1e14, accelerators=10_000_000)
    assert sum("does not hold here" in words for words in given.warnings) == 2
    assert "rough guess" not in " ".join(given.warnings)
    assert not [w for w in warnings(mfu=0.4, parameters=1e12).warnings if "published" in w]


def test_samples_on_more_accelerators_than_any_published_run():
    work = {"kind": "samples", "samples": 1e12, "epochs": 1}
    work["benchmark"] = "resnet-50-v1.5-imagenet-ngc"
    most = max(run.accelerators for run in sample_runs())

    def of(count):
        return estimate({"workload": work, "accelerators": count}).answer.warnings

    assert of(int(FAR * most)) == ()
    (text,) = of(10_000_000)
    assert f"largest published run on samples (Chameleon-34B: {most:,}), and more than" in text


def test_hours_that_need_more_than_any_cluster_say_so():
    def of(hours):
        work = {"kind": "accelerator_hours", "accelerator": H100, "hours_per_month": [hours]}
        return estimate({"workload": work}).answer.warnings

    assert of(LARGEST_CLUSTER * 730) == ()
    (text,) = of(1e10)
    assert text.startswith("13,698,631 accelerators at once are more than the largest known")
