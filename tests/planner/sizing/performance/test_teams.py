"""What teams make of accelerator and layout, mixtures and vector units among them."""

import itertools
import math

import pytest

from planner.commands.tables import hours_words
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.footprint.training_flops import size_at_work, stage_of
from planner.sizing.performance.confidence import (
    CODES,
    excess_beside_standard,
    range_key,
    team_excess,
    team_fit,
)
from planner.sizing.performance.levels import (
    MATRIX_SHARE,
    is_vector,
    level,
    most_executed,
    rates_on,
    small_model_share,
)
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get


def test_hand_tuned_code_takes_less_and_a_first_version_more():
    excess = [team_fit().excess("pretraining", code) for code in CODES]
    assert excess == sorted(excess)


def test_knowing_the_code_narrows_the_range():
    ranges = team_fit().ranges
    low, high = ranges[range_key("pretraining", None, False)]
    narrow = ranges[range_key("pretraining", "standard", False)]
    assert narrow[1] - narrow[0] < high - low


@pytest.mark.parametrize("size", [1_000.0, 2_047.0, 2_048.0, 2_100.0, 4_096.0, 6_500.0, 9_000.0])
def test_no_unit_of_width_makes_a_jump(size):
    line = team_fit().mixture
    assert abs(line.at(size) - line.at(size * 1.01)) < 0.01


V100, H100, T4 = get("nvidia-v100-16gb-sxm"), get("nvidia-h100-80gb-sxm"), get("nvidia-t4")
MIXTURE = {"parameters": 46.7e9, "active_parameters": 12.9e9, "stage": "pretraining"}


def training(**changes):
    return parse(Training, {"kind": "training", "parameters": 7e9, "tokens": 1e9} | changes)


def test_hours_of_a_mixture_are_those_of_a_dense_model_times_its_term():
    dense = training(parameters=12.9e9, stage="pretraining")
    mixture = training(**MIXTURE)
    term = team_excess(mixture, H100, "bf16") - team_excess(dense, H100, "bf16")
    assert excess_beside_standard(mixture, H100, "bf16") == pytest.approx(term)
    assert excess_beside_standard(dense, H100, "bf16") == 0.0


def test_small_models_fill_vector_units():
    """A V100 does fp32 at an eighth of its rate in 16 bits: 110M parameters keep it busy."""
    small, large = training(parameters=1.1e8), training(parameters=7e9)
    assert is_vector(V100, "fp32")
    assert not is_vector(V100, "fp16")
    full = level(V100, "fp32") * 15.67e12 * MATRIX_SHARE
    assert rates_on(small, V100, "fp32").matrix == pytest.approx(full)
    assert rates_on(large, V100, "fp32").matrix == pytest.approx(full)
    halves = [rates_on(one, V100, "fp16").matrix for one in (small, large)]
    assert halves[0] / halves[1] == pytest.approx(small_model_share(size_at_work(small)))


def test_a_mixture_keeps_half_of_the_gain_of_8_bits():
    dense, mixture = training(parameters=12.9e9), training(**MIXTURE)
    whole, half = (
        rates_on(one, H100, "fp8").matrix / rates_on(one, H100, "bf16").matrix
        for one in (dense, mixture)
    )
    assert whole == pytest.approx(0.30 * 1979 / (0.41 * 989.4), rel=0.01)
    assert half == pytest.approx(math.sqrt(whole))


def ask(accelerator=H100, count=64, **changes):
    work = {"kind": "training", "parameters": 47e9, "tokens": 1e11, "sequence_length": 4096}
    asked = {"workload": work | changes, "accelerator": accelerator.slug, "accelerators": count}
    return estimate(asked).answer


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"experts_per_token": 16, "active_parameters": 13e9}, "16 of 8 experts"),
        ({"layout": {"expert": 16}, "active_parameters": 13e9}, "does not divide the 8 experts"),
        ({"layout": {"expert": 3}, "active_parameters": 13e9}, "does not divide the 8 experts"),
        ({"layout": {"expert": 8}}, "a dense model has none"),
    ],
)
def test_experts_that_cannot_be_are_refused(changes, words):
    with pytest.raises(InvalidInput, match=words):
        ask(experts=8, **changes)


def test_a_fine_tuning_says_whether_its_range_holds_all_teams():
    tuned = {"parameters": 7e9, "tokens": 1e8, "stage": "fine_tuning"}
    assert any("the range allows for that" in words for words in ask(**tuned).warnings)
    told = ask(**tuned, code="standard").warnings
    assert any("leaves out what the stated tuning of the code explains" in words for words in told)


def test_a_step_of_a_mixture_is_no_faster_than_the_step_model_however_tuned():
    """Qwen3 235B-A22B on 256 H100 by Megatron-MoE-ModelZoo @17070963 in 2026: 1,862 tokens/s."""
    tuned = training(**MIXTURE | {"code": "hand_tuned"})
    assert excess_beside_standard(tuned, H100, "bf16") == 0.0
    dense = training(stage="pretraining", code="hand_tuned")
    assert excess_beside_standard(dense, H100, "bf16") < -0.3
    large = {"parameters": 235e9, "active_parameters": 22e9, "layers": 94, "hidden_size": 4096}
    found = ask(count=256, stage="pretraining", code="hand_tuned", **large)
    run_of_kind = 1e11 / found.accelerator_hours.p50 / 3600
    assert 1_862 < found.tokens_per_second_per_accelerator < 1.5 * 1_862
    assert run_of_kind < found.tokens_per_second_per_accelerator


@pytest.mark.parametrize("slug", ["google-tpu-v5p", "nvidia-rtx-4090", "nvidia-a100-80gb-sxm"])
@pytest.mark.parametrize("recomputes", [False, True])
def test_no_rate_of_steps_is_above_what_matrices_reach(slug, recomputes):
    """GPT-2 1.5B by hand-tuned code, whose team would be faster than the card."""
    work = {
        "kind": "training",
        "parameters": 1.5e9,
        "layers": 48,
        "hidden_size": 1600,
        "tokens": 1e11,
        "sequence_length": 2048,
        "code": "hand_tuned",
        "activation_checkpointing": recomputes,
    }
    one = get(slug)
    sized = placed_on(parse(Training, work), one).at(32)
    executed = sized.step_tokens_per_second * sized.hardware_flops / 1e11 / sized.peak_flops
    assert executed <= most_executed(one, sized.precision) * (1 + 1e-9)
    assert sized.step_tokens_per_second * sized.hours * 3600 >= 0.99e11


H100_SMOOTH = get("nvidia-h100-80gb-sxm")
FORTY = {"parameters": 40e9, "tokens": 2e11}
EIGHT = {"model": "Llama-3.1-8B"}


def size_of(count, **asked):
    training = parse(Training, {"kind": "training", **asked})
    return placed_on(training, H100_SMOOTH).at(count)


def most_of_a_step(values):
    return max(abs(math.log(after / before)) for before, after in itertools.pairwise(values))


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_no_percent_of_idle_parameters_makes_a_mixture(precision):
    """Was 23 % between 37.9 and 38.1 billion of 40 at work."""
    shares = (1.0, 0.975, 0.951, 0.949, 0.925, 0.9, 0.8, 0.7, 0.62, 0.601, 0.599, 0.58)
    sizes = [
        size_of(64, active_parameters=share * 40e9, precision=precision, **FORTY)
        for share in shares
    ]
    per_parameter = [size.hours / share for size, share in zip(sizes, shares, strict=True)]
    assert most_of_a_step([size.hours for size in sizes[1:5]]) < 0.06
    assert most_of_a_step(per_parameter) < 0.15


def test_no_token_makes_a_pre_training():
    """Was 1.22 times a token where tokens pass the parameters at work."""
    tokens = [8e9 * 2 ** ((step + 0.5) / 4) for step in range(-6, 6)]
    sizes = [size_of(8, tokens=one, **EIGHT) for one in tokens]
    assert (
        most_of_a_step([size.hours / one for size, one in zip(sizes, tokens, strict=True)]) < 0.06
    )
    for end in (0, 1):
        assert most_of_a_step([size.range_p10_p90[end] for size in sizes]) < 0.2
    assert ["state the stage" in " ".join(size.warnings) for size in sizes] == [
        2 <= i <= 9 for i in range(12)
    ]


def test_few_hours_are_told_with_a_digit():
    words = {0.5: "30.0 min", 2.16: "2.2", 9.94: "9.9", 9.96: "10", 1234.6: "1,235"}
    assert {hours: hours_words(hours) for hours in words} == words


LLAMA_405B = {"model": "Llama-3.1-405B", "tokens": 15.6e12, "sequence_length": 8192}
DEEPSEEK = {"model": "DeepSeek-V3", "tokens": 14.8e12, "sequence_length": 4096, "precision": "fp8"}


@pytest.mark.parametrize(
    ("work", "step", "count", "hours", "most"),
    [
        (LLAMA_405B, {"global_batch_tokens": 2**24, "layout": {"tensor": 8, "pipeline": 16}},
         16_384, 30.84e6, 0.2),
        (LLAMA_405B, {"global_batch_tokens": 16e6, "layout": {"tensor": 8, "pipeline": 16}},
         16_384, 30.84e6, 0.2),
        (DEEPSEEK, {"global_batch_tokens": 15_360 * 4096, "layout": {"pipeline": 16, "expert": 64}},
         2048, 2.664e6, 0.15),
    ],
)  # fmt: skip
def test_the_largest_runs_are_in_their_range_and_near_with_their_layout(
    work, step, count, hours, most
):
    def asked(**more):
        request = {"workload": {"kind": "training", **work, **more}, "accelerator": "H100"}
        answer = estimate(request | {"accelerators": count}).answer
        assert answer.neighbours[0].scaled_hours == pytest.approx(hours, rel=0.02)
        return answer.accelerator_hours

    silent, stated = asked(), asked(code="hand_tuned", **step)
    assert silent.p10 < hours < silent.p90
    assert stated.p10 < hours < stated.p90
    assert abs(stated.p50 / hours - 1) <= most


def test_a_vendor_s_recipe_in_few_bits_takes_a_quarter_to_three_fifths_of_the_hours():
    def asked(**more):
        work = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 1.4e9, **more}
        request = {"workload": work, "accelerator": "GB300", "accelerators": 8}
        return estimate(request).answer.accelerator_hours.p50

    recipe, silent = {"code": "benchmark", "stage": "pretraining"}, asked(stage="pretraining")
    eight, four = (asked(precision=name, **recipe) for name in ("fp8", "fp4"))
    assert 0.25 * silent < four < eight < 0.6 * silent


def test_much_work_on_few_tokens_is_pre_training():
    def stage(tokens):
        return stage_of(Training(kind="training", parameters=530e9, tokens=tokens))

    assert (stage(2.7e11), stage(1e9)) == ("pretraining", "fine_tuning")
