"""An estimate counts on machines as they are rented, and a comparison looks for them itself."""

import datetime as dt

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.demand import compute_demand
from planner.sizing.estimate import estimate
from planner.sizing.runs.placed_run import accelerators_rented
from pricing.market.accelerators import get

EIGHT = {"kind": "training", "model": "Llama-3.1-8B", "tokens": 1e9, "optimizer": "adamw"}


def sized(accelerator="H100", **changes):
    request = {"workload": EIGHT | changes, "accelerator": accelerator}
    return estimate(request)


def words_on(answer):
    return [words for words in answer.warnings if "rented whole" in words]


@pytest.mark.parametrize(
    ("accelerator", "before", "counted"), [("H100", 3, 4), ("A100-80GB", 3, 4), ("L40S", 7, 8)]
)
def test_a_small_training_is_counted_on_a_machine_that_exists(accelerator, before, counted):
    now, fewer = sized(accelerator).answer, sized(accelerator, accelerators_per_job=before).answer
    assert (now.accelerators, fewer.accelerators) == (counted, before)
    (said,) = words_on(now)
    assert said.startswith(f"{before} accelerators would do: {counted} are counted on")
    assert now.min_accelerators <= before
    assert now.wall_clock_hours < fewer.wall_clock_hours


def test_every_card_of_the_ranking_has_a_number_that_is_rented():
    for tokens in (1e8, 1e9, 5e9):
        ranked = [one for one in sized(tokens=tokens).candidates if one.size]
        for one in ranked:
            free = one.accelerator.form == "superchip" or one.accelerator.vendor == "Google"
            small = one.size.accelerators in (3, 5, 6, 7)
            assert free or not small, one.accelerator.slug


def test_what_is_stated_stands():
    assert sized(accelerators_per_job=3).answer.accelerators == 3
    stated = estimate({"workload": EIGHT, "accelerator": "H100", "accelerators": 5}).answer
    assert stated.accelerators == 5
    assert not words_on(stated)


def test_superchips_that_are_servers_of_their_own_come_in_any_number():
    assert accelerators_rented(get("nvidia-gh200-96gb"), 3) == 3
    assert not words_on(sized("GH200").answer)


def test_a_comparison_keeps_the_least_number_and_fills_what_it_rents():
    work = parse(Training, EIGHT)
    demand = compute_demand(work, dt.date(2027, 1, 1), 3, ["nvidia-h100-80gb-sxm"])
    assert demand.peak_accelerators[0] == 3
