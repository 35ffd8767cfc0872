"""What teams make of accelerator and layout, mixtures and vector units among them."""

import itertools
import math

import pytest

from planner.commands.tables import hours_words
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.footprint.training_flops import size_at_work
from planner.sizing.performance.levels import (
    MATRIX_SHARE,
    is_vector,
    level,
    most_executed,
    rates_on,
    small_model_share,
)
from planner.sizing.performance.teams import (
    CODES,
    MixtureTerm,
    TeamRun,
    excess_beside_standard,
    fit_mixtures,
    fit_teams,
    log_range,
    team_excess,
    team_fit,
    team_runs,
)
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get


def test_hand_tuned_code_takes_less_and_a_first_version_more():
    hand, standard, first = (team_fit().excess("pretraining", code) for code in CODES)
    assert hand < standard < first


def test_knowing_the_code_narrows_the_range():
    low, high = log_range("pretraining", None, False)
    narrow = log_range("pretraining", "standard", False)
    assert narrow[1] - narrow[0] < high - low


def test_one_team_has_one_vote():
    """Ten copies of one team's run move nothing."""
    runs = list(team_runs())
    copied = [*runs, *[run for run in runs if run.team == "bloom"] * 10]
    assert fit_teams(copied).stages == pytest.approx(fit_teams(runs).stages, abs=1e-6)


def run(team, hidden_size, beside, is_rate=False):
    return TeamRun(
        run=f"{team} {hidden_size}",
        team=team,
        stage="pretraining",
        code="standard",
        accelerators=64,
        is_mixture=True,
        excess=beside,
        is_rate=is_rate,
        hidden_size=hidden_size,
    )


def fitted(*runs):
    return fit_mixtures(runs, lambda one: one.excess)


def test_narrow_mixtures_lose_and_wide_ones_do_not():
    runs = [run(f"{d} {i}", d, 0.5 - 0.4 * math.log(d / 2048)) for d in (2048, 7168) for i in "abc"]
    line = fitted(*runs)
    assert line.at(2048) == pytest.approx(0.5, abs=0.1)
    assert line.at(512) == line.at(2048)
    assert line.at(7168) == pytest.approx(0.0, abs=0.1)
    assert line.at(30_000) == 0.0


def test_a_team_has_one_vote_and_a_framework_half():
    many = [run("loud", 4096 + i, 0.6) for i in range(9)]
    assert fitted(*many, run("still", 4096, 0.4)).usual == pytest.approx(0.5, abs=0.02)
    rate = run("rates", 4096, 0.3, is_rate=True)
    assert fitted(run("runs", 4096, 0.6), rate).usual == pytest.approx(0.5, abs=0.01)
    assert fit_mixtures([], lambda one: one.excess) == MixtureTerm()


@pytest.mark.parametrize("size", [1_000.0, 2_047.0, 2_048.0, 2_100.0, 4_096.0, 6_500.0, 9_000.0])
def test_no_unit_of_width_makes_a_jump(size):
    line = team_fit().mixture
    assert abs(line.at(size) - line.at(size * 1.01)) < 0.01


V100, H100, T4 = get("nvidia-v100-16gb-sxm"), get("nvidia-h100-80gb-sxm"), get("nvidia-t4")
MIXTURE = {"parameters": 46.7e9, "active_parameters": 12.9e9, "stage": "pretraining"}


def training(**changes):
    return parse(Training, {"kind": "training", "parameters": 7e9, "tokens": 1e9} | changes)


def run_of_kind(team, excess, is_mixture=False, is_rate=False, is_vector=False):
    return TeamRun(
        run=team,
        team=team,
        stage="pretraining",
        code="standard",
        accelerators=64,
        is_mixture=is_mixture,
        excess=excess,
        is_rate=is_rate,
        is_vector=is_vector,
    )


DENSE = [run_of_kind(f"dense {i}", 0.2) for i in range(3)]
MIXTURES = [run_of_kind(f"mixture {i}", 0.8, is_mixture=True) for i in range(2)]
RATES = [run_of_kind(f"rate {i}", 0.5, is_mixture=True, is_rate=True) for i in range(2)]


def test_a_mixture_takes_what_runs_took_drawn_towards_rates():
    """Two teams count half: of runs 0.6 beyond dense ones, of rates 0.3, which count half of 0."""
    fit = fit_teams([*DENSE, *MIXTURES, *RATES])
    assert fit.excess("pretraining", "standard") == pytest.approx(0.2)
    assert fit.excess("pretraining", "standard", mixture=0.375) == pytest.approx(0.2 + 0.375)


def test_on_vector_units_neither_stage_nor_code_tells():
    others = [run_of_kind(f"old card {i}", -0.1, is_vector=True) for i in range(2)]
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
