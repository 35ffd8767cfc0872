"""What was sized under rules 4 keeps its figures, and what rules 5 change."""

import pytest

from planner.sizing.estimate import estimate
from planner.sizing.performance.levels import matmul_share
from planner.sizing.performance.teams import log_range, team_fit, team_runs
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import resolve

TUNING = {"kind": "training", "parameters": 7e9, "tokens": 1e9, "stage": "fine_tuning"}
KEPT = [
    ({}, (54.7820, 120.8447, 583.4629)),
    ({"optimizer": "qlora", "micro_batch_size": 1}, (40.8609, 90.1359, 435.1944)),
    ({"sequence_length": 131072, "code": "standard"}, (235.0823, 741.0877, 3766.5638)),
]


def ask(count=8, **changes):
    asked = {"workload": TUNING | changes, "accelerator": "A100-80GB", "accelerators": count}
    return estimate(asked).answer


def hours(count=8, **changes):
    one = ask(count, **changes).accelerator_hours
    return one.p10, one.p50, one.p90


@pytest.mark.parametrize("optimizer", ["adamw_bf16", "lora", "qlora"])
def test_a_micro_batch_takes_its_start_however_few_its_tokens(optimizer):
    """One example of 128 tokens takes as long as one of 256: hours by the token double."""
    few, more, many = (
        hours(1, optimizer=optimizer, micro_batch_size=1, sequence_length=length)[1]
        for length in (128, 256, 4096)
    )
    assert few / more == pytest.approx(2, rel=0.1)
    assert few > 2.5 * many


def test_adapters_gain_what_their_operations_save():
    full, lora = (hours(8, optimizer=name)[1] for name in ("adamw", "lora"))
    assert 1.2 < full / lora < 1.6


def test_dequantisation_counts_by_the_micro_batch():
    def cost(size):
        asked = {"micro_batch_size": size, "sequence_length": 512}
        lora, qlora = (hours(1, optimizer=name, **asked)[1] for name in ("lora", "qlora"))
        return qlora / lora

    assert cost(1) > cost(16) > 1


def test_executed_operations_stay_below_the_peak_at_a_million_tokens():
    answer = ask(32, sequence_length=1_048_576)
    assert answer.hfu < 0.85
    assert not any("nothing is left" in words for words in answer.warnings)


def test_vendors_benchmarks_say_what_tuned_code_reaches_and_not_what_is_usual():
    fit = team_fit()
    tuned, standard, first = (
        fit.excess("fine_tuning", code) for code in ("hand_tuned", "standard", "first_version")
    )
    assert tuned < 0.0 < 0.3 < standard < first
    assert fit.excess("fine_tuning", None) == pytest.approx(standard, abs=0.1)
    vendor = [r for r in team_runs() if (r.team, r.stage) == ("nvidia-nemo", "fine_tuning")]
    assert vendor
    assert not any(r.is_typical for r in vendor)


def test_rates_of_frameworks_count_in_no_range():
    rates = [run.run for run in team_runs() if run.is_rate]
    assert len(rates) == len(set(rates)) > 150
    low, high = log_range("fine_tuning", None, 8)
    assert high - low > 1.3


def test_a_bound_of_the_tokens_is_no_evidence_any_more():
    assert "guanaco-65b" not in {run.run for run in team_runs()}


@pytest.mark.parametrize("code", [None, "hand_tuned", "standard"])
@pytest.mark.parametrize("accelerator", ["T4", "A100-80GB", "RTX 4090"])
def test_no_end_of_a_range_executes_more_than_a_step_can(accelerator, code):
    workload = TUNING | {"sequence_length": 2048, "code": code}
    asked = {"workload": workload, "accelerator": accelerator, "accelerators": 16}
    found = estimate(asked).answer
    hours = found.accelerator_hours
    most = 0.85 * matmul_share(resolve(accelerator))
    assert found.hfu * hours.p50 / hours.p10 <= most * 1.001


def test_the_rate_of_a_step_follows_the_tuning_of_the_code():
    """What a step shows can never be below what is left after losses."""
    rates = {}
    for code in ("hand_tuned", "standard", "first_version"):
        answer = ask(code=code, stage="pretraining", sequence_length=2048)
        rates[code] = answer.tokens_per_second_per_accelerator
        assert rates[code] > 1e9 / answer.accelerator_hours.p50 / 3600
    assert rates["hand_tuned"] > rates["standard"] > rates["first_version"]


def test_a_batch_that_cannot_be_kept_is_said():
    answer = ask(sequence_length=8192, global_batch_tokens=100)
    assert any("not the 100 of global_batch_tokens" in words for words in answer.warnings)
    kept = ask(sequence_length=2048, global_batch_tokens=262144)
    assert not any("global_batch_tokens" in words for words in kept.warnings)


def test_a_stated_micro_batch_runs_on_every_accelerator():
    """GPT-2 124M in micro-batches of 64, as llm.c's: nobody splits it."""
    small = {"parameters": 1.24e8, "tokens": 1e10, "sequence_length": 1024, "stage": "pretraining"}
    answer = ask(micro_batch_size=64, chunked_loss=True, **small)
    assert (answer.parallelism.tensor, answer.parallelism.data) == (1, 8)


def test_a_micro_batch_that_fits_nowhere_is_named():
    with pytest.raises(InvalidInput, match="micro_batch_size 100,000 does not fit"):
        ask(micro_batch_size=100_000)


def test_a_stage_guessed_near_its_border_is_said():
    near = ask(tokens=6e9, stage=None).warnings
    assert any("state the stage" in words for words in near)
    assert not any("state the stage" in words for words in ask(tokens=1e12, stage=None).warnings)


def test_long_sequences_are_doubted_beyond_what_was_measured():
    assert not any("tokens at once" in w for w in ask(32, sequence_length=131072).warnings)


def test_a_split_of_ones_own_is_judged():
    shape = {"layers": 32, "hidden_size": 4096, "sequence_length": 2048}
    bad = ask(64, layout={"tensor": 8, "pipeline": 5}, **shape).warnings
    assert any("24 accelerators idle" in words for words in bad)
    assert any("32 layers do not divide into 5 stages" in words for words in bad)
    good = ask(64, layout={"tensor": 8, "pipeline": 4}, **shape).warnings
    assert not any("idle" in words or "divide" in words for words in good)
    with pytest.raises(InvalidInput, match="takes 8 accelerators at once and 4") as refused:
        ask(4, layout={"tensor": 8}, **shape)
    assert refused.value.field.endswith("layout")
