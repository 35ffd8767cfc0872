"""On how many accelerators a run is counted: near the fewest hours, in time, as they are rented."""

import datetime as dt
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.candidates.candidates import task_on
from planner.sizing.demand import compute_demand
from planner.sizing.estimate import estimate
from planner.sizing.runs.placed_run import placed_on
from planner.sizing.runs.schedule import NEAR_THE_FEWEST, choose_count, counts_between
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from pricing.market.machine_types import tpu_slices
from tests.properties import examples

CLIFF = {"kind": "training", "model": "Qwen3-30B-A3B", "tokens": 1e9, "optimizer": "lora"}
CARD = "nvidia-rtx-4090"


@dataclass(frozen=True)
class Size:
    accelerators: int
    hours: float


def chosen(hours, first, most, fewest=0.0):
    def size_on(count):
        if count not in hours:
            raise InvalidInput("accelerators", "hold nothing")
        return Size(count, hours[count])

    return choose_count(size_on, first, most, fewest)


def task(**changes):
    return placed_on(parse(Training, CLIFF | changes), get(CARD))


def test_a_cliff_beside_the_least_is_left():
    size = task().at()
    assert size.accelerators == 8
    assert task().at(6).hours > 20 * size.hours
    assert any("6 accelerators would hold it" in words for words in size.warnings)
    assert not any("would hold it" in words for words in task().at(8).warnings)


@pytest.mark.parametrize(
    ("model", "accelerator", "most"),
    [("Kimi-K2", "amd-mi300x", 112), ("GLM-4.5", "nvidia-rtx-6000-ada", 256)],
)
def test_a_number_of_the_planner_s_own_leaves_none_idle(model, accelerator, most):
    big = parse(Training, {"kind": "training", "model": model, "tokens": 1e9})
    size = placed_on(big, get(accelerator)).at()
    assert (size.accelerators, size.layout.unused) == (most, 0)
    usual = placed_on(parse(Training, {**big.model_dump(exclude_none=True), "tokens": 1e12}),
                      get(accelerator)).at()  # fmt: skip
    assert usual.layout.unused == 0
    stated = placed_on(big, get(accelerator)).at(most + 4)
    assert stated.layout.unused == 4
    assert any("leaves 4 accelerators idle" in words for words in stated.warnings)


def test_a_stated_number_and_a_rate_of_one_s_own_stand():
    assert task().at(6).accelerators == 6
    assert task(mfu=0.3).at().accelerators == 6


def test_a_job_takes_no_more_than_the_request_says():
    (words,) = [words for words in task().at().warnings if "would hold it" in words]
    assert words.endswith("; to use fewer, state jobs of 6 accelerators")
    for stated, counted in ((1, 6), (6, 6), (8, 8), (12, 8)):
        assert task(accelerators_per_job=stated).at_least(6).accelerators == counted
    few = task(accelerators_per_job=7).at()
    assert not any("would hold it" in words for words in few.warnings)


def test_the_smallest_near_the_fewest_is_taken():
    hours = {4: 100.0, 5: 60.0, 6: 52.0, 7: 50.0, 8: 48.0}
    size, fewer = chosen(hours, 4, 8)
    assert (size.accelerators, fewer.accelerators) == (6, 4)
    assert chosen({4: 52.0, 5: 50.0, 8: 48.0}, 4, 8) == (Size(4, 52.0), None)
    assert chosen(hours, 4, 8, fewest=95.0) == (Size(4, 100.0), None)
    assert chosen({4: 100.0, 8: 10.0}, 4, 8)[0] == Size(8, 10.0)
    with pytest.raises(InvalidInput):
        chosen({8: 10.0}, 4, 8)


@examples(40, 2000)
@given(st.integers(1, 5000), st.data())
def test_no_number_looked_at_is_a_tenth_better_and_no_smaller_one_as_good(first, data):
    counts = counts_between(first, 2 * first)
    assert counts[0] == first
    assert list(counts) == sorted(set(counts))
    assert counts[-1] <= 2 * first
    hours = {n: data.draw(st.floats(1.0, 1e6)) for n in counts}
    size, fewer = chosen(hours, first, 2 * first)
    most = NEAR_THE_FEWEST * min(hours.values())
    assert size.hours <= most
    assert all(hours[n] > most for n in counts if n < size.accelerators)
    assert (fewer is None) == (size.accelerators == first)


def in_months(model, tokens, accelerator):
    runs = [{"start": "2027-01", "deadline": "2027-01"}]
    work = {"kind": "training", "model": model, "tokens": tokens, "runs": runs}
    return estimate({"workload": work, "accelerator": accelerator})


def test_a_deadline_takes_an_even_number_that_the_hours_pass_over():
    sized = in_months("Kimi-K2", 1.2e12, "nvidia-b200")
    assert sized.size.accelerators == 384
    assert sized.size.wall_clock_hours <= 730


def test_a_deadline_that_no_number_meets_is_refused_with_hours_that_one_takes():
    with pytest.raises(InvalidInput) as refused:
        in_months("DeepSeek-V3", 1e13, "nvidia-l40s")
    assert refused.value.field == "workload.runs.0.deadline"
    assert "accelerators do not fit into 1 month, and with more of them" in refused.value.message
    assert float(refused.value.message.split()[0].replace(",", "")) < 1e8


@pytest.mark.parametrize(("job", "counted"), [(8, 8), (64, 64), (1000, 176), (1, 3)])
def test_the_usual_number_is_no_more_than_a_stated_job(job, counted):
    asked = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 2e12}
    h100 = get("nvidia-h100-80gb-sxm")
    work = parse(Training, {**asked, "accelerators_per_job": job})
    assert placed_on(work, h100).at().accelerators == counted


V3 = {"kind": "training", "model": "DeepSeek-V3", "tokens": 1e12}
LLAMA = {"kind": "training", "model": "Llama-3.1-405B", "tokens": 1e12}


def by(work, slug, month):
    runs = [{"start": "2027-01", "deadline": f"2027-{month:02d}"}]
    return estimate({"workload": {**work, "runs": runs}, "accelerator": slug})


def test_a_deadline_leaves_no_accelerators_idle():
    """One month asked for 704 H100, of which five replicas of 128 used 640."""
    found = by(V3, "nvidia-h100-80gb-sxm", 1)
    assert found.size.layout.unused == 0
    assert found.size.accelerators % found.size.layout.at_once == 0
    assert found.size.wall_clock_hours <= 730


@pytest.mark.parametrize("work", [V3, LLAMA])
@pytest.mark.parametrize("slug", ["nvidia-a100-80gb-sxm", "nvidia-h100-80gb-sxm"])
def test_the_largest_models_take_about_as_long_by_any_deadline(work, slug):
    """405B on A100 took 15 % more by one month than by twelve, all with saves of 40 s."""
    hours = [by(work, slug, month).hours for month in (1, 3, 6, 12)]
    assert max(hours) / min(hours) < 1.13


def test_a_run_with_another_deadline_is_sized_on_what_is_known() -> None:
    def hours(deadline: str) -> float:
        runs = [{"start": "2027-01", "deadline": deadline}]
        work = {"kind": "training", "parameters": 7e9, "tokens": 2e11, "runs": runs}
        training = Training.model_validate(work)
        demand = compute_demand(training, dt.date(2027, 1, 1), 6, ["H100 SXM"])
        return float(demand.hours_per_month.sum())

    task_on.cache_clear()
    hours("2027-06")
    after = hours("2027-02")
    assert task_on.cache_info().misses == 1
    task_on.cache_clear()
    assert hours("2027-02") == after


def sized(model, tokens, tpu, **more):
    asked = {"kind": "training", "model": model, "tokens": tokens, **more}
    return placed_on(parse(Training, asked), get(f"google-tpu-{tpu}")).at()


@pytest.mark.parametrize(
    ("model", "tokens", "tpu", "before", "chips"),
    [
        ("Llama-3.1-8B", 1e8, "v6e", 7, 8),
        ("Qwen2.5-14B", 1e9, "v5e", 40, 64),
        ("Llama-3.2-3B", 1e8, "v4", 3, 4),
    ],
)
def test_the_chips_advised_are_a_slice_and_said_to_be(model, tokens, tpu, before, chips):
    one = sized(model, tokens, tpu)
    assert one.accelerators == chips
    assert one.layout.unused == 0
    name = one.accelerator.name
    words = f"{chips} chips are used, because {name} cannot be rented in slices of {before}"
    assert words in " ".join(one.warnings)
    assert chips in {piece.chips for piece in tpu_slices() if tpu in piece.accelerator}


def test_of_stated_jobs_the_number_stays():
    assert sized("Llama-3.1-8B", 1e8, "v6e", accelerators_per_job=7).accelerators <= 7


EIGHT = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 1e9, "optimizer": "adamw"}


def counted_on(accelerator="H100", **changes):
    request = {"workload": EIGHT | changes, "accelerator": accelerator}
    return estimate(request)


def words_on(answer):
    return [words for words in answer.warnings if "rented whole" in words]


@pytest.mark.parametrize(
    ("accelerator", "before", "counted"), [("H100", 3, 4), ("A100-80GB", 3, 4), ("L40S", 7, 8)]
)
def test_a_small_training_is_counted_on_a_machine_that_exists(accelerator, before, counted):
    now, fewer = (
        counted_on(accelerator).answer,
        counted_on(accelerator, accelerators_per_job=before).answer,
    )
    assert (now.accelerators, fewer.accelerators) == (counted, before)
    (said,) = words_on(now)
    assert said.startswith(f"{before} accelerators would do: {counted} are counted on")
    assert now.min_accelerators <= before
    assert now.wall_clock_hours < fewer.wall_clock_hours


def test_every_card_of_the_ranking_has_a_number_that_is_rented():
    for tokens in (1e8, 1e9, 5e9):
        ranked = [one for one in counted_on(tokens=tokens).candidates if one.fits]
        for one in ranked:
            card = get(one.accelerator)
            free = card.form == "superchip" or card.vendor == "Google"
            assert free or one.accelerators not in (3, 5, 6, 7), one.accelerator


def test_what_is_stated_stands():
    assert counted_on(accelerators_per_job=3).answer.accelerators == 3
    stated = estimate({"workload": EIGHT, "accelerator": "H100", "accelerators": 5}).answer
    assert stated.accelerators == 5
    assert not words_on(stated)
