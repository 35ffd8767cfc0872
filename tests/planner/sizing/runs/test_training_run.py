"""Hours of one training: rates of its own, refusals, padding, packing, code."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.performance.levels import benchmark_level
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators, get
from tests.properties import examples

A100, H100 = get("nvidia-a100-80gb-sxm"), get("nvidia-h100-80gb-sxm")
CARDS = st.sampled_from(
    [
        get(s)
        for s in (
            "nvidia-a100-80gb-sxm",
            "nvidia-h100-80gb-sxm",
            "nvidia-l4",
            "amd-mi300x",
            "google-tpu-v5e",
            "nvidia-v100-16gb-sxm",
            "nvidia-rtx-4090",
        )
    ]
)


def training(**changes):
    return parse(
        Training, {"kind": "training", "parameters": 7e9, "tokens": 1e12, **changes}, "workload"
    )


def size_training(work, one, count=None):
    return placed_on(work, one).at(count)


def hours(one=A100, count=None, **changes):
    return size_training(training(**changes), one, count).hours


RATE = "tokens_per_second_per_accelerator"


def refusal(one=A100, count=None, **changes):
    with pytest.raises(InvalidInput) as caught:
        size_training(training(**changes), one, count)
    return caught.value


@examples(20, 2000)
@given(st.integers(2, 20_000), st.integers(2, 20_000), CARDS)
def test_more_accelerators_never_need_fewer_accelerator_hours(one, other, card):
    few, many = sorted((one, other))
    work = training(parameters=1e8)
    assert size_training(work, card, few).hours <= size_training(work, card, many).hours + 1e-9


def test_a_given_mfu_and_goodput_are_the_formula():
    flops = 6 * 7e9 * 1e12
    by_hand = flops / (312e12 * 0.4 * 0.9 * 3600)
    assert hours(count=64, mfu=0.4, goodput=0.9) == pytest.approx(by_hand)


def test_an_hfu_is_three_quarters_mfu():
    assert hours(hfu=0.48) == pytest.approx(hours(mfu=0.36))


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"hfu": 0.5, "activation_checkpointing": False}, "hfu", "allowed there is mfu"),
        ({"mfu": 0.8, "activation_checkpointing": True}, "mfu", "up to 0.75"),
    ],
)
def test_rates_that_contradict_the_checkpointing_are_refused(changes, field, words):
    error = refusal(**changes)
    assert error.field == f"workload.{field}"
    assert words in error.message


def test_a_measured_rate_replaces_the_calibration():
    by_hand = 1e12 / 3000 / 3600 / 0.9
    given = hours(tokens_per_second_per_accelerator=3000, goodput=0.9)
    assert given == pytest.approx(by_hand)


def test_the_hours_of_a_past_run_are_taken_as_they_are():
    assert hours(measured_accelerator_hours=100_000) == pytest.approx(100_000)


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"mfu": 1.01}, "mfu", "more than 100% of peak is impossible"),
        ({"mfu": 40}, "mfu", "such as 0.4 for 40%"),
        ({"mfu": 0}, "mfu", "above 0"),
        ({"mfu": -0.1}, "mfu", "above 0"),
        ({"hfu": 1.2}, "hfu", "more than 100%"),
        ({"mfu": 0.4, "hfu": 0.5}, "mfu", "give only one of mfu, hfu"),
        ({"tokens": 0}, "tokens", "at least 1"),
        ({"parameters": 0}, "parameters", "at least"),
        ({"active_parameters": 8e9}, "active_parameters", "more than the 7e+09 parameters"),
        ({"goodput": 1.1}, "goodput", "at most 1"),
        ({"goodput": 0}, "goodput", "more than 0"),
        ({"precision": "fp33"}, "precision", "allowed are fp32, tf32, bf16, fp16, fp8 or fp4"),
        ({"optimizer": "adam"}, "optimizer", "allowed are adamw, sgd, lion, muon"),
        ({"sequence_length": 0}, "sequence_length", "at least 1"),
        ({"runs": []}, "runs", "at least 1"),
        ({"runs": [{"start": "2027-05", "deadline": "2027-03"}]}, "runs.0.deadline", "before the"),
        ({"runs": [{"start": "2027-05", "count": 0}]}, "runs.0.count", "at least 1"),
        ({"experiments_factor": 0.5}, "experiments_factor", "at least 1"),
        ({"measured_accelerator_hours": 9, "goodput": 0.9}, "goodput", "leave it out"),
        ({"zero_stage": 4}, "zero_stage", "at most 3"),
    ],
)
def test_bad_input_is_refused_by_field(changes, field, words):
    with pytest.raises(InvalidInput) as caught:
        training(**changes)
    assert caught.value.field == f"workload.{field}"
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("slug", "asked_for", "field", "words"),
    [
        (
            "nvidia-v100-16gb-sxm",
            {"precision": "bf16"},
            "precision",
            "allowed there are fp32, fp16",
        ),
        (A100.slug, {"count": 1}, "accelerators", "allowed are 2 or more"),
        (A100.slug, {RATE: 10_000}, RATE, "135% of the dense peak.*up to 7,429"),
        ("nvidia-t4", {"sequence_length": 50_000_000}, "accelerator", "sequence_length"),
    ],
)
def test_what_an_accelerator_cannot_do_is_refused_with_what_it_can(slug, asked_for, field, words):
    error = refusal(get(slug), **asked_for)
    assert error.field == field
    assert re.search(words, error.message)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": 1e12}, "outside the published runs'"),
        ({"parameters": 1e6}, "outside the published runs'"),
        ({"sequence_length": 2_097_152}, "1,048,576 tokens at once"),
    ],
)
def test_off_the_map_the_range_is_wider_and_says_why(changes, words):
    usual = size_training(training(), A100).range_p10_p90
    size = size_training(training(**changes), A100)
    assert any(words in w for w in size.warnings)
    assert size.range_p10_p90[0] < usual[0]
    assert size.range_p10_p90[1] > usual[1]


def test_a_given_rate_leaves_nothing_to_doubt_about_the_calibration():
    size = size_training(training(parameters=1e12, mfu=0.4), A100)
    assert size.warnings == ()


def test_every_level_is_a_share_of_the_dense_peak_within_reason():
    for one in all_accelerators():
        for precision in ("fp32", "tf32", "bf16", "fp16", "fp8"):
            if one.dense_tflops(precision):
                level = benchmark_level(one, precision)
                assert 0.1 <= level.mfu <= 0.66, (one.slug, precision)
                assert level.source


def test_qlora_multiplies_in_16_bits():
    work = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 1e7, "optimizer": "qlora"}
    request = {"workload": {**work, "precision": "fp8"}, "accelerator": "H100"}
    with pytest.raises(InvalidInput, match="its 4-bit weights become 16-bit ones first") as refused:
        estimate(request)
    assert refused.value.field == "workload.precision"
    assert estimate({**request, "workload": {**work, "precision": "bf16"}}).hours > 0


WORK = {"kind": "training", "parameters": 7e9, "tokens": 1e12}


def size(one=A100, accelerators=64, **changes):
    return placed_on(parse(Training, {**WORK, **changes}), one).at(accelerators)


def hours_placed(accelerator="nvidia-h100-80gb-sxm", deadline="2027-12", **changes):
    workload = {**WORK, **changes, "runs": [{"start": "2027-01", "deadline": deadline}]}
    asked = {"workload": workload, "accelerator": accelerator}
    return estimate(asked).hours


def test_how_tuned_the_code_is_changes_the_hours():
    hand, standard, first = (
        size(code=code).hours for code in ("hand_tuned", "standard", "first_version")
    )
    assert hand < size().hours < first
    assert hand < standard < first


def test_padding_is_paid_for():
    assert size(padding=0.5).hours == pytest.approx(2 * size().hours, rel=0.01)


def test_padding_is_in_the_hours_of_a_run_that_is_done():
    done = {"measured_accelerator_hours": 2e5, "accelerator": H100.slug}
    assert hours_placed(**done) == pytest.approx(2e5)
    with pytest.raises(InvalidInput) as refused:
        hours_placed(**done, padding=0.3)
    assert refused.value.field == "workload.padding"
    assert "is already in measured_accelerator_hours" in refused.value.message


def test_attention_of_packed_examples_reaches_no_further_than_one():
    """OLMo 3 7B on 8 H100 trained 1.81e9 tokens at 32,768, 840 of an example, in 77 h
    (allenai/open-instruct docs/algorithms/sft_running_guide.md, 2025)."""
    asked = {"parameters": 7.3e9, "layers": 32, "hidden_size": 4096, "sequence_length": 32768}
    work = {**asked, "tokens": 1.81e9, "stage": "fine_tuning"}
    whole, packed = (size(H100, 8, **work), size(H100, 8, **work, tokens_per_example=840))
    assert packed.hours == pytest.approx(77, rel=0.3)
    assert size(H100, 8, **work, tokens_per_example=1e6).hours == pytest.approx(whole.hours)


def test_the_mfu_of_a_whole_run_holds_its_lost_time():
    of_step, of_run = size(mfu=0.4), size(mfu=0.4, mfu_of="run")
    assert of_run.goodput == 1 > of_step.goodput
    assert of_run.hours < of_step.hours
    assert of_run.range_p10_p90[1] < of_step.range_p10_p90[1]


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


@pytest.mark.parametrize(
    ("name", "code"),
    [("torchtitan", "standard"), ("Megatron-LM", "standard"), ("MLPerf", "benchmark")],
)
def test_a_trainer_is_known_by_name(name, code):
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e9}
    assert parse(Training, {**work, "code": name}).code == code
    assert parse(Training, {**work, "trainer": name}).code == code
    with pytest.raises(InvalidInput, match="standard \\(Megatron, torchtitan"):
        parse(Training, {**work, "code": "fast"})
