"""A training: its layout, its team, its deadline."""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.runs.counts import whole_count
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

A100, H100 = get("nvidia-a100-80gb-sxm"), get("nvidia-h100-80gb-sxm")
WORK = {"kind": "training", "parameters": 7e9, "tokens": 1e12}


def size(one=A100, accelerators=64, **changes):
    return placed_on(parse(Training, {**WORK, **changes}), one).at(accelerators)


def hours(accelerator="nvidia-h100-80gb-sxm", deadline="2027-12", **changes):
    workload = {**WORK, **changes, "runs": [{"start": "2027-01", "deadline": deadline}]}
    asked = {"workload": workload, "accelerator": accelerator}
    return estimate(asked).hours


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("parameters", "tokens"), [(1e9, 2e11), (7e9, 1e12), (13e9, 1e12), (30e9, 3e11), (70e9, 2e12)]
)
@pytest.mark.parametrize("accelerator", [A100.slug, H100.slug])
def test_a_later_deadline_alone_saves_less_than_15_per_cent(parameters, tokens, accelerator):
    work = {"parameters": parameters, "tokens": tokens, "accelerator": accelerator}
    hurried, calm = hours(deadline="2027-01", **work), hours(deadline="2027-12", **work)
    assert abs(hurried / calm - 1) < 0.15


def test_rules_1_size_as_they_always_did():
    old = hours()
    assert (
        old
        == estimate(
            {
                "workload": {**WORK, "runs": [{"start": "2027-01", "deadline": "2027-12"}]},
                "accelerator": H100.slug,
            }
        ).hours
    )


def test_how_tuned_the_code_is_changes_the_hours():
    hand, standard, first = (
        size(code=code).hours for code in ("hand_tuned", "standard", "first_version")
    )
    assert hand < size().hours < first
    assert hand < standard < first


def test_a_larger_global_batch_takes_no_more_hours():
    asked = {"parameters": 70e9, "layout": {"tensor": 4, "pipeline": 8}}
    small, large = (
        size(H100, 256, global_batch_tokens=tokens, **asked).hours for tokens in (1e6, 1.6e7)
    )
    assert large < small


def test_padding_is_paid_for():
    assert size(padding=0.5).hours == pytest.approx(2 * size().hours, rel=0.01)


def test_padding_is_in_the_hours_of_a_run_that_is_done():
    done = {"measured_accelerator_hours": 2e5, "accelerator": H100.slug}
    assert hours(**done) == pytest.approx(2e5)
    with pytest.raises(InvalidInput) as refused:
        hours(**done, padding=0.3)
    assert refused.value.field == "workload.padding"
    assert "is already in measured_accelerator_hours" in refused.value.message


def test_attention_of_packed_examples_reaches_no_further_than_one():
    """OLMo 3 7B on 8 H100 trained 1.81e9 tokens at 32,768, 840 of an example, in 77 h
    (allenai/open-instruct docs/algorithms/sft_running_guide.md, 2025)."""
    asked = {"parameters": 7.3e9, "layers": 32, "hidden_size": 4096, "sequence_length": 32768}
    work = {**asked, "tokens": 1.81e9, "stage": "fine_tuning"}
    whole, packed = size(H100, 8, **work), size(H100, 8, **work, tokens_per_example=840)
    assert packed.hours == pytest.approx(77, rel=0.3)
    assert size(H100, 8, **work, tokens_per_example=1e6).hours == pytest.approx(whole.hours)


def test_packed_examples_take_the_memory_of_their_sequence():
    own = {"sequence_length": 8192, "zero_stage": 3, "activation_checkpointing": True}
    asked = {**own, "micro_batch_size": 1}
    whole, packed = size(H100, 8, **asked), size(H100, 8, **asked, tokens_per_example=500)
    assert packed.layout.memory.total_gib == whole.layout.memory.total_gib


def test_the_mfu_of_a_whole_run_holds_its_lost_time():
    of_step, of_run = size(mfu=0.4), size(mfu=0.4, mfu_of="run")
    assert of_run.goodput == 1 > of_step.goodput
    assert of_run.hours < of_step.hours
    assert of_run.range_p10_p90[1] < of_step.range_p10_p90[1]


def test_a_short_job_is_mostly_its_start():
    job = size(A100, 8, tokens=5e4, optimizer="lora")
    assert job.hours > 8 * 0.02
    assert any("less than one step" in text for text in job.warnings)


def test_fewer_accelerators_than_hold_it_are_refused():
    with pytest.raises(InvalidInput) as refused:
        size(parameters=70e9, accelerators=2)
    assert refused.value.field == "accelerators"


def test_adapters_and_quantised_ones_take_less_and_more():
    full, lora, qlora = (
        size(tokens=1e9, stage="fine_tuning", optimizer=optimizer).hours
        for optimizer in ("adamw", "lora", "qlora")
    )
    assert lora < qlora < full


@pytest.mark.parametrize(("least", "count"), [(1, 1), (7, 7), (9, 16), (401, 408), (5000, 5120)])
def test_accelerators_come_in_usual_numbers(least, count):
    assert whole_count(least) == count
