"""Ways to pay as a reason lists them."""

from __future__ import annotations

from gpu_cost_planner import compare

REQUEST = {
    "start": "2027-01",
    "horizon_months": 6,
    "sensitivity": False,
    "cheaper_if": False,
    "workload": {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 5840},
    "on_prem": {"servers": []},
    "constraints": {"max_term_months": 1, "purchase_options": ["reserved", "committed_use"]},
}


def test_ways_to_pay_are_listed_as_a_sentence_lists_them() -> None:
    scenarios = {one.key.value: one.why_not for one in compare(REQUEST).answer.scenarios}
    assert any(
        why.startswith("the longest term (1 month) excludes all ")
        and why.endswith(" reserved and committed-use offers")
        for why in scenarios["committed"]
    )
    assert "the choice of purchase options leaves out spot and low priority" in scenarios["spot"]


def test_a_split_that_no_accelerator_joins_is_a_reason() -> None:
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e10, "layout": {"tensor": 9}}
    answer = compare({**REQUEST, "workload": {**work, "accelerator": "H100"}}).answer
    assert answer.verdict is not None
    assert "an accelerator that can do the work" in answer.verdict.sentence
    assert "fast interconnect joins 8" in answer.demand.excluded["nvidia-h100-80gb-sxm"]
