"""Replicas of a model: what they answer, how many are needed, and what they cost."""

import datetime as dt
import math
import statistics
from dataclasses import replace

import pytest

import gpu_cost_planner
from planner.sizing.estimate import estimate
from planner.sizing.performance.replicas import Load, ServedModel, replica_on, replicas_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.bench.reports import serving as report

H100 = get("nvidia-h100-80gb-sxm")
EIGHT = ServedModel(8e9, 8e9, 32, 4096, 2048)
LOAD = Load(500, 250, 64, "tuned")
CHAT = {"kind": "serving", "model": "Llama-3.1-8B", "requests_per_second": 2, "engine": "tuned"}


def served(accelerator="H100", **changes):
    return estimate({"workload": {**CHAT, **changes}, "accelerator": accelerator}).answer


def test_memory_holds_the_cache_of_the_answers_written_at_once():
    found = served(model="Llama-3.1-70B", precision="fp8", prompt_tokens=8000, answer_tokens=1000)
    cache = found.serving.sequences_per_replica * 8500 * 163_840
    held = (70.55e9 + cache) / found.serving.accelerators_per_replica / 2**30
    assert found.memory_per_accelerator_gib == pytest.approx(held, rel=0.001)
    assert served("V100").precision == "fp16"


def replica(model=EIGHT, precision="bf16", count=1, **changes):
    placed = replica_on(model, H100, precision, replace(LOAD, **changes), count)
    assert placed is not None
    return placed


@pytest.mark.parametrize(
    ("model", "accelerator", "fewest"),
    [
        ("gpt-oss-120b", "nvidia-h100-80gb-sxm", 1),  # published in 4 bits; its model card
        ("qwen2.5-7b", "nvidia-t4", 2),  # 14.2 GiB of 15.0 beside context and cache
        ("deepseek-v3", "nvidia-h100-80gb-sxm", 16),
        ("deepseek-v3", "nvidia-h200-141gb-sxm", 8),
    ],
)
def test_weights_take_the_accelerators_that_practice_gives_them(model, accelerator, fewest):
    sized = served(accelerator, model=model, requests_per_second=0.1)
    assert sized.serving.accelerators_per_replica == fewest


def test_published_rates_are_within_30_per_cent_in_the_median():
    errors = [abs(math.exp(-error) - 1) for _, error in report.published()]
    assert statistics.median(errors) <= 0.3


@pytest.mark.parametrize("team", ["modelled", "InferenceX"])
def test_cases_that_the_constants_have_not_seen_are_within_25_per_cent(team):
    errors = [error for case, error in report.held_back() if case.team == team]
    assert statistics.median(abs(math.exp(-error) - 1) for error in errors) <= 0.25
    assert 0.9 <= math.exp(statistics.median(errors)) <= 1.1


def test_three_questions_of_four_take_the_accelerators_that_measured_operators_ask_for():
    ratios = list(report.counts_held_back())
    assert statistics.fmean(0.75 <= ratio <= 1.25 for ratio in ratios) >= 0.74


def test_70b_at_10_requests_of_8000_tokens_takes_20_to_32_h100():
    long = {"model": "Llama-3.1-70B", "requests_per_second": 10, "precision": "fp8"}
    plan = served(**long, prompt_tokens=8000, answer_tokens=1000).serving
    assert 20 <= plan.accelerators <= 32
    assert plan.accelerators == plan.replicas * plan.accelerators_per_replica
    assert 0.3 < plan.prompt_share < 0.7


def test_one_answer_is_bound_by_reading_the_weights():
    """8e9 weights of 2 bytes at 0.86 of 3,360 GB/s, and 32 layers of 42 µs."""
    alone = replica(sequences=1, prompt_tokens=1)
    assert 1 / alone.tokens_per_second == pytest.approx(16 / (0.86 * 3360) + 32 * 42e-6, rel=0.02)


def test_more_at_once_is_faster_and_each_waits_longer():
    few, many = replica(sequences=8), replica(sequences=64)
    assert few.tokens_per_second < many.tokens_per_second < 8 * few.tokens_per_second
    assert few.token_seconds < many.token_seconds


@pytest.mark.parametrize(
    "slower", [{"prompt_tokens": 5000}, {"engine": "default"}, {"engine": "plain"}]
)
def test_long_prompts_and_engines_as_installed_slow_it_down(slower):
    assert replica(**slower).tokens_per_second < replica().tokens_per_second


def test_limits_on_latency_leave_fewer_answers_at_once():
    free = replica(sequences=None)
    held = replica(sequences=None, token_seconds=free.token_seconds / 2)
    assert held.sequences < free.sequences
    assert held.token_seconds <= free.token_seconds / 2
    quick = replica(sequences=None, first_token_seconds=free.first_token_seconds / 2)
    assert quick.first_token_seconds <= free.first_token_seconds / 2


def test_a_mixture_reads_more_experts_for_more_answers():
    mixture = ServedModel(47e9, 13e9, 32, 4096, 2048, experts=8, experts_per_token=2)
    assert mixture.touched_parameters(1.0) == pytest.approx(13e9, rel=0.01)
    assert 40e9 < mixture.touched_parameters(8.0) < 47e9


def test_layers_are_split_within_a_server_and_stages_join_several():
    large = ServedModel(671e9, 37e9, 61, 7168, 576, experts=256, experts_per_token=8)
    placed = replicas_on(large, H100, "fp8", Load(2000, 1000))
    assert [one.accelerators for one in placed] == [16, 32, 64]
    assert all(one.tensor <= 8 for one in placed)


def test_a_higher_peak_is_never_cheaper_and_costs_less_than_the_peak_all_day():
    """A plan once ran 40 requests a second in 146 hours of the month for half the price of 4."""
    peaks = (20, 25, 30, 40, 60, 100, 400)
    rows = [served(requests_per_second=20, peak_requests_per_second=peak) for peak in peaks]
    hours = [row.accelerator_hours.p50 for row in rows]
    assert hours == sorted(hours)
    assert hours[0] < hours[-1] < rows[-1].serving.accelerators * 730
    last = rows[-1].serving
    assert hours[-1] == last.paid_replicas * last.accelerators_per_replica * 730
    assert any(f"{last.replicas} work at the busiest" in words for words in rows[-1].warnings)
    spare = served(requests_per_second=20, peak_requests_per_second=100, spare=1.0).serving
    assert spare.replicas > rows[peaks.index(100)].serving.replicas


def test_hours_of_the_day_go_in_the_place_of_mean_and_peak():
    office = [1.0] * 8 + [30.0] * 10 + [1.0] * 6
    plan = served(requests_by_hour=office, requests_per_second=None).serving
    rate = plan.requests_per_second_per_replica
    whole = [max(1, math.ceil(load * 1.1 / rate)) for load in office]
    mean = sum(whole) / 24
    above = sum(max(n - mean, 0) for n in whole) / 24
    assert plan.replicas == max(whole)
    assert plan.paid_replicas == math.ceil(mean + above)
    flat = served(requests_by_hour=[7.0] * 24, requests_per_second=None).serving
    assert flat.paid_replicas == served(requests_per_second=7).serving.paid_replicas


def test_an_engine_that_is_not_said_lies_between_both_and_its_range_holds_them():
    load = {"requests_per_second": 200}
    tuned, unsaid, default = (served(**load, engine=e) for e in ("tuned", None, "default"))
    hours = [one.accelerator_hours for one in (tuned, unsaid, default)]
    assert hours[0].p50 < hours[1].p50 < hours[2].p50
    assert hours[1].p10 <= hours[0].p50
    assert hours[2].p50 <= hours[1].p90
    assert any("engine says neither" in words for words in unsaid.warnings)
    assert not any("engine" in words for words in tuned.warnings)


def test_eight_bits_are_taken_where_the_accelerator_has_them():
    assert served().serving.precision == "fp8"
    assert served("A100-80GB").serving.precision == "bf16"


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"model": "BERT-base"}, "workload.model", "BERT-base is an encoder"),
        ({"token_seconds": 1e-4}, "accelerator", "a single answer takes"),
        ({"parameters": 1e14}, "accelerator", "do not hold the model"),
        ({"peak_requests_per_second": 1}, "workload.peak_requests_per_second", "2 or more"),
        ({"tokens": 1e9}, "workload.tokens", ""),
        ({"requests_by_hour": [1.0] * 23}, "workload.requests_by_hour", "24"),
        ({"requests_by_hour": [9.0] * 24}, "workload.requests_per_second", "not the mean"),
        (
            {"requests_by_hour": [2.0] * 24, "peak_requests_per_second": 5},
            "workload.peak_requests_per_second",
            "not the highest",
        ),
        *(
            (
                {"requests_by_hour": by_hour, "requests_per_second": None},
                "workload.requests_by_hour",
                words,
            )
            for by_hour, words in (([0.0] * 24, "0 in every hour"), ([], "24"), ("x", "list"))
        ),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(changes, field, words):
    with pytest.raises(InvalidInput) as refused:
        served(**changes)
    assert refused.value.field.endswith(field)
    assert words in refused.value.message


def test_fewer_accelerators_than_the_requests_take_are_refused():
    work = {**CHAT, "requests_per_second": 1000}
    with pytest.raises(InvalidInput, match="do not answer so many requests"):
        estimate({"workload": work, "accelerator": "H100", "accelerators": 1})
    assert estimate({"workload": CHAT, "accelerators": 8}).answer.accelerators == 8


def test_prompts_with_answers_beyond_the_context_are_said():
    words = served(model="gpt2", prompt_tokens=1000, answer_tokens=100).warnings
    assert any("prompts with answers of 1,100 tokens do not run on gpt2" in one for one in words)


def test_a_comparison_prices_a_million_tokens_with_its_range():
    work = {**CHAT, "requests_per_second": 20, "peak_requests_per_second": 40}
    request = {"workload": work, "horizon_months": 12}
    answer = gpu_cost_planner.compare(request, today=dt.date(2026, 11, 23)).answer
    cost = {name: float(one) for name, one in answer.cost_per_million_tokens.items()}
    millions = 12 * 20 * 250 * 730 * 3600 / 1e6
    assert cost["expected"] == pytest.approx(float(answer.verdict.expected) / millions, rel=1e-3)
    assert cost["p10"] <= cost["expected"] <= cost["p90"]
    assert len({round(hours, 6) for hours in answer.demand.hours_per_month}) == 1
    assert not any("the work goes on" in words for words in answer.warnings)
