"""On how many accelerators a run without a stated number is counted."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.runs.counts import NEAR_THE_FEWEST, choose_count, counts_between
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
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
    assert task().at(7).hours > 20 * size.hours
    assert any("7 accelerators would hold it" in words for words in size.warnings)
    assert not any("would hold it" in words for words in task().at(8).warnings)


@pytest.mark.parametrize(
    ("model", "accelerator", "most"),
    [("Kimi-K2", "amd-mi300x", 128), ("GLM-4.5", "nvidia-rtx-6000-ada", 256)],
)
def test_a_number_of_the_planner_s_own_leaves_none_idle(model, accelerator, most):
    big = parse(Training, {"kind": "training", "model": model, "tokens": 1e9})
    size = placed_on(big, get(accelerator)).at()
    assert (size.accelerators, size.layout.unused) == (most, 0)
    usual = placed_on(parse(Training, {**big.model_dump(exclude_none=True), "tokens": 1e12}),
                      get(accelerator)).at()  # fmt: skip
    assert usual.layout.unused == 0
    stated = placed_on(big, get(accelerator)).at(most + 8)
    assert stated.layout.unused == 8
    assert any("leaves 8 idle" in words for words in stated.warnings)


def test_a_stated_number_and_a_rate_of_one_s_own_stand():
    assert task().at(7).accelerators == 7
    assert task(mfu=0.3).at().accelerators == 7


def test_a_job_takes_no_more_than_the_request_says():
    (words,) = [words for words in task().at().warnings if "would hold it" in words]
    assert words.endswith("; to use fewer, state jobs of 7 accelerators")
    for stated, counted in ((1, 7), (7, 7), (8, 8), (12, 8)):
        assert task(accelerators_per_job=stated).at_least(7).accelerators == counted
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


@pytest.mark.parametrize(
    ("model", "tokens", "accelerator", "before", "counted"),
    [
        ("Gemma-3-27b-it", 1e10, "nvidia-gh200-96gb", 7, 16),
        ("Qwen3-32B", 5.6e10, "nvidia-rtx-4090", 120, 256),
        ("Qwen3-4B", 1e13, "nvidia-a10g", 7120, 3136),
    ],
)
def test_a_cliff_further_away_is_left_too(model, tokens, accelerator, before, counted):
    work = parse(Training, {"kind": "training", "model": model, "tokens": tokens})
    sized = placed_on(work, get(accelerator))
    size = sized.at()
    assert size.accelerators == counted
    assert sized.at(before).hours > 1.5 * size.hours
    (words,) = [words for words in size.warnings if "are used instead" in words]
    named = "the usual number for this work" if before > counted else "would hold it"
    assert words.startswith(f"{before:,} accelerators")
    assert named in words


def test_a_deadline_alone_changes_few_of_the_hours():
    hours = []
    for month in (3, 12):
        runs = [{"start": "2027-01", "deadline": f"2027-{month:02}"}]
        work = {"kind": "training", "model": "Gemma-3-27b-it", "tokens": 1e10, "runs": runs}
        hours.append(estimate({"workload": work, "accelerator": "GH200"}).hours)
    assert hours[1] == pytest.approx(hours[0], rel=0.15)


def test_a_job_of_a_stated_size_goes_no_further():
    work = {"kind": "training", "model": "Gemma-3-27b-it", "tokens": 1e10}
    for stated, counted in ((7, 7), (12, 7), (16, 16)):
        job = parse(Training, work | {"accelerators_per_job": stated})
        assert placed_on(job, get("nvidia-gh200-96gb")).at_least(7).accelerators == counted


def in_months(model, tokens, accelerator):
    runs = [{"start": "2027-01", "deadline": "2027-01"}]
    work = {"kind": "training", "model": model, "tokens": tokens, "runs": runs}
    return estimate({"workload": work, "accelerator": accelerator})


def test_a_deadline_takes_an_even_number_that_the_hours_pass_over():
    sized = in_months("Kimi-K2", 1e12, "nvidia-b200")
    assert sized.size.accelerators == 256
    assert sized.size.wall_clock_hours <= 730


def test_a_deadline_that_no_number_meets_is_refused_with_hours_that_one_takes():
    with pytest.raises(InvalidInput) as refused:
        in_months("DeepSeek-V3", 1e12, "nvidia-l40s")
    assert refused.value.field == "workload.runs.0.deadline"
    assert "accelerators do not fit into 1 month, and with more of them" in refused.value.message
    assert float(refused.value.message.split()[0].replace(",", "")) < 1e7


@pytest.mark.parametrize(("job", "counted"), [(8, 8), (64, 64), (1000, 176), (1, 3)])
def test_the_usual_number_is_no_more_than_a_stated_job(job, counted):
    asked = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 2e12}
    h100 = get("nvidia-h100-80gb-sxm")
    work = parse(Training, {**asked, "accelerators_per_job": job})
    assert placed_on(work, h100).at().accelerators == counted
