"""What mixtures of experts, vector units and 8 bits take."""

import math

import pytest

from planner.commands.tables import hours_words
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.footprint.training_flops import size_at_work
from planner.sizing.performance.confidence import placed_warnings
from planner.sizing.performance.levels import (
    MATRIX_SHARE,
    is_vector,
    level,
    most_executed,
    rates_on,
    small_model_share,
)
from planner.sizing.performance.teams import (
    TeamRun,
    excess_beside_standard,
    fit_teams,
    team_excess,
    team_runs,
)
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

V100, H100, T4 = get("nvidia-v100-16gb-sxm"), get("nvidia-h100-80gb-sxm"), get("nvidia-t4")
MIXTURE = {"parameters": 46.7e9, "active_parameters": 12.9e9, "stage": "pretraining"}


def training(**changes):
    return parse(Training, {"kind": "training", "parameters": 7e9, "tokens": 1e9} | changes)


def run(team, excess, is_mixture=False, is_rate=False, is_vector=False):
    return TeamRun(
        run=team,
        team=team,
        stage="pretraining",
        code="standard",
        accelerators=64,
        is_mixture=is_mixture,
        published_hours=1.0,
        excess=excess,
        is_rate=is_rate,
        is_vector=is_vector,
    )


DENSE = [run(f"dense {i}", 0.2) for i in range(3)]
MIXTURES = [run(f"mixture {i}", 0.8, is_mixture=True) for i in range(2)]
RATES = [run(f"rate {i}", 0.5, is_mixture=True, is_rate=True) for i in range(2)]


def test_a_mixture_takes_what_runs_took_drawn_towards_rates():
    """Two teams count half: of runs 0.6 beyond dense ones, of rates 0.3, which count half of 0."""
    fit = fit_teams([*DENSE, *MIXTURES, *RATES])
    assert fit.excess("pretraining", "standard") == pytest.approx(0.2)
    assert fit.excess("pretraining", "standard", mixture=0.375) == pytest.approx(0.2 + 0.375)


def test_a_mixture_is_predicted_by_the_mixtures_of_the_others():
    errors = {r.run: error for r, error in fit_teams([*DENSE, *MIXTURES, *RATES]).errors}
    assert errors["dense 0"] == pytest.approx(0.0)


def test_mixtures_and_vector_units_say_nothing_of_dense_models():
    plain = fit_teams(DENSE)
    others = [run("old card", -0.1, is_vector=True)]
    fit = fit_teams([*DENSE, *MIXTURES, *RATES, *others])
    assert (fit.stages, fit.codes) == (plain.stages, plain.codes)


def test_on_vector_units_neither_stage_nor_code_tells():
    others = [run(f"old card {i}", -0.1, is_vector=True) for i in range(2)]
    fit = fit_teams([*DENSE, *others])
    assert fit.vector == pytest.approx(-0.05)
    for code in (None, "hand_tuned", "first_version"):
        assert fit.excess("fine_tuning", code, is_vector=True) == fit.vector


def test_hours_of_a_mixture_are_those_of_a_dense_model_times_its_term():
    dense = training(parameters=12.9e9, stage="pretraining")
    mixture = training(**MIXTURE)
    term = team_excess(mixture, H100, "bf16") - team_excess(dense, H100, "bf16")
    assert excess_beside_standard(mixture, H100, "bf16") == pytest.approx(term)
    assert excess_beside_standard(dense, H100, "bf16") == 0.0


def test_evidence_holds_mixtures_of_eight_teams():
    runs = [one for one in team_runs() if one.is_mixture and not one.is_rate]
    assert len({one.team for one in runs}) >= 8
    assert len(runs) >= 13


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


def test_a_t4_keeps_to_its_seventy_watts():
    assert most_executed(T4, "fp16") == pytest.approx(0.85 * 24 / 65, rel=0.01)
    assert level(T4, "fp16") == pytest.approx(most_executed(T4, "fp16"))


def test_only_mixtures_in_8_bits_are_doubted():
    mixture = training(**MIXTURE)
    for precision, doubts in (("bf16", False), ("fp8", True)):
        words = " ".join(placed_warnings(mixture, H100, precision, 64))
        assert ("experts" in words) is doubts


def test_a_mixture_keeps_half_of_the_gain_of_8_bits():
    dense, mixture = training(parameters=12.9e9), training(**MIXTURE)
    whole, half = (
        rates_on(one, H100, "fp8").matrix / rates_on(one, H100, "bf16").matrix
        for one in (dense, mixture)
    )
    assert whole == pytest.approx(0.30 * 1979 / (0.41 * 989.4), rel=0.01)
    assert half == pytest.approx(math.sqrt(whole))


@pytest.mark.parametrize("slug", ["nvidia-h100-80gb-sxm", "nvidia-rtx-4090", "amd-mi300x"])
def test_only_slow_vector_units_are_told_apart(slug):
    """Nobody published a run in fp32 on cards whose vector units do more than 20 TFLOP/s."""
    assert not is_vector(get(slug), "fp32")
    assert is_vector(get("nvidia-a100-80gb-sxm"), "fp32")
    assert not is_vector(get("nvidia-a100-80gb-sxm"), "tf32")
    assert not is_vector(get("google-tpu-v3"), "fp32")  # it has no rate in fp32


def test_a_b300_is_placed_above_a_b200():
    assert level(get("nvidia-b300"), "fp8") == pytest.approx(0.29 * 848_035 / 741_232, rel=0.02)


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


def test_experts_without_parameters_at_work_are_said_to_count_as_dense():
    alone = ask(experts=8, experts_per_token=2)
    assert any("counted as active for each token" in words for words in alone.warnings)
    whole = ask(experts=8, experts_per_token=2, active_parameters=13e9)
    assert not any("counted as active" in words for words in whole.warnings)
    assert whole.accelerator_hours.p50 < alone.accelerator_hours.p50 / 2


def test_an_mfu_says_that_a_mixture_was_counted_or_vector_units():
    assert "mixture" not in ask().mfu_source
    old = ask(V100, 64, parameters=1e9, precision="fp32", code="hand_tuned")
    assert "on vector units, where the tuning of the code tells nothing" in old.mfu_source


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
    run = 1e11 / found.accelerator_hours.p50 / 3600
    assert 1_862 < found.tokens_per_second_per_accelerator < 1.5 * 1_862
    assert run < found.tokens_per_second_per_accelerator


@pytest.mark.parametrize(
    ("hours", "words"),
    [(0.5, "30.0 min"), (2.16, "2.2"), (9.94, "9.9"), (9.96, "10"), (1234.6, "1,235")],
)
def test_few_hours_are_told_with_a_digit(hours, words):
    assert hours_words(hours) == words


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
