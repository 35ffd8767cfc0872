"""Accelerators in hand beside a named one, and machines that work for minutes."""

import datetime as dt

from planner.comparison import compare
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.demand import compute_demand
from pricing.bundled.catalog import bundled_catalog
from tests.bench.bench_compare import TODAY

RUN = {
    "kind": "training",
    "tokens": 1e8,
    "stage": "fine_tuning",
    "runs": [{"start": "2027-01", "deadline": "2027-03"}],
}
SMALL, NAMED = "nvidia-a100-40gb-sxm", "nvidia-h100-80gb-sxm"


def demand(rules, **changes):
    work = parse(Training, RUN | {"model": "Llama-3.1-70B", "accelerator": NAMED} | changes)
    found = compute_demand(work, dt.date(2027, 1, 1), 12, [SMALL, NAMED], rules)
    return {one.accelerator: one for one in found.candidates}, found


def test_a_card_in_hand_is_sized_by_its_own_memory():
    candidates, found = demand(6)
    assert found.accelerator == NAMED
    assert candidates[SMALL].min_accelerators > candidates[NAMED].min_accelerators
    assert candidates[SMALL].range_p10_p90[1] > 1
    assert set(demand(5)[0]) == {NAMED}


def test_a_card_in_hand_that_cannot_hold_the_work_says_so():
    work = parse(Training, RUN | {"model": "Llama-3.1-70B", "accelerator": NAMED})
    cards = ["nvidia-rtx-5090", NAMED]
    found = compute_demand(work, dt.date(2027, 1, 1), 12, cards, 6)
    assert [one.accelerator for one in found.candidates] == [NAMED]
    assert found.excluded["nvidia-rtx-5090"]


def test_a_rate_of_one_s_own_is_that_of_the_named_card_alone():
    assert set(demand(6, mfu=0.3)[0]) == {NAMED}


def test_work_of_minutes_takes_the_machine_that_it_takes():
    request = {
        "start": "2027-01",
        "horizon_months": 12,
        "workload": RUN | {"model": "gpt-oss-20b", "accelerator": "B200"},
    }
    answer = compare(request, bundled_catalog(), today=TODAY)
    assert answer.verdict is not None
    assert answer.verdict.sentence.startswith("Rent 1 × ")
    assert "% of the hours" not in answer.verdict.sentence
