"""Work is tied to the accelerator that is named; others that do it may cost far less."""

from typing import Any

import pytest

from gpu_cost_planner import compare
from planner.contract.answer.comparison import ComparisonAnswer
from planner.contract.answer.verdict import Alternative
from planner.costing.advice.verdict import describe_alternative

SXM, PCIE = "nvidia-a100-80gb-sxm", "nvidia-a100-80gb-pcie"
FIELD, MIXED = "constraints.accelerators", "constraints.allow_mixed_accelerators"
YEAR = {"start": "2027-01", "horizon_months": 12, "sensitivity": False, "decide_every_months": 0}
QUICK = YEAR | {"cheaper_if": False}


def asked(accelerator: str, **fields: Any) -> ComparisonAnswer:
    """Four accelerators around the clock in Canada, where eight SXM cards are the least."""
    work = {"kind": "accelerator_hours", "accelerator": accelerator, "hours_per_month": 2920}
    limits = {"countries": ["CA"]} | fields.pop("constraints", {})
    return compare({**YEAR, "workload": work, "constraints": limits, **fields}).answer


def named(answer: ComparisonAnswer) -> list[Alternative]:
    return [one for one in answer.cheaper_if if one.field == FIELD]


def test_another_card_of_the_same_memory_is_offered_with_its_saving() -> None:
    answer = asked("A100-80GB")
    (other,) = named(answer)
    assert other.value[0] == SXM
    assert PCIE in other.value
    assert other.together_with == {MIXED: False}
    assert "Hours of A100 SXM4 80 GB are converted by measured training rates" in other.why
    fields = {FIELD: list(other.value), **other.together_with}
    limits = {field.rpartition(".")[2]: value for field, value in fields.items()}
    again = asked("A100-80GB", constraints=limits)
    assert answer.verdict is not None
    assert again.verdict is not None
    assert again.verdict.total == other.total
    saved = answer.verdict.expected_present_value - again.verdict.expected_present_value
    assert float(other.saving) == pytest.approx(float(saved), rel=0.1)


def test_a_stated_choice_offers_none() -> None:
    assert not named(asked("A100-80GB", constraints={"accelerators": [SXM]}))


def test_one_card_of_a_rented_eight_is_told_of_smaller_ones() -> None:
    work = {"kind": "accelerator_hours", "accelerator": "H200", "hours_per_month": 730}
    answer = compare(YEAR | {"workload": work}).answer
    (other,) = named(answer)
    assert "is rented only in machines of 8 or more" in other.why
    assert "half of its 141 GiB" in other.why
    assert answer.verdict is not None
    words = answer.verdict
    assert words.sentence.endswith("H200 SXM 141 GB is sold only in machines of 8: 7 of 8 idle.")
    assert words.reasons[0].startswith("With any accelerator with half as much memory, ")
    assert words.reasons[0].endswith(f": {float(other.total):,.0f} USD.")


def test_nothing_is_called_idle_where_eight_work_or_fewer_are_sold() -> None:
    for name, hours in (("H200", 5840), ("H100", 730)):
        work = {"kind": "accelerator_hours", "accelerator": name, "hours_per_month": hours}
        answer = compare(QUICK | {"workload": work}).answer
        assert answer.verdict is not None
        assert " idle" not in answer.verdict.sentence


def rented(answer: ComparisonAnswer) -> set[tuple[str, str]]:
    """Kinds of machine in the plan that is advised."""
    assert answer.verdict is not None
    offers = [answer.offers[part.source] for part in answer.verdict.decision]
    return {(offer.provider, offer.instance_type) for offer in offers}


def test_people_who_share_nothing_have_one_kind_of_machine() -> None:
    work = {"kind": "accelerator_hours", "accelerator": "A100-80GB", "hours_per_month": 7300}
    people = work | {"accelerators_per_job": 1}
    apart = compare(YEAR | {"workload": people}).answer
    assert len(rented(apart)) == 1 < len(rented(compare(QUICK | {"workload": work}).answer))
    (mixed,) = [one for one in apart.cheaper_if if "mixed_accelerators" in one.field]
    assert float(mixed.saving or 0) > 0


def test_the_trays_of_a_rack_are_one_node() -> None:
    """A job of 72 GB200 runs on 18 machines of 4 in a rack; one of 8 H100 on no machines of 4."""
    for name, job, at in (("GB200", 72, "azure"), ("H100", 8, "gcp")):
        work = {
            "kind": "accelerator_hours",
            "accelerator": name,
            "hours_per_month": 730 * job,
            "accelerators_per_job": job,
        }
        question = QUICK | {
            "horizon_months": 3,
            "workload": work,
            "constraints": {"providers": [at], "purchase_options": ["on_demand"]},
            "on_prem": {"servers": []},
        }
        answer = compare(question).answer
        sizes = {(one.accelerator_count) for one in answer.offers.values()}
        assert sizes == ({4.0} if name == "GB200" else {8.0})


CHAT = {
    "kind": "serving",
    "model": "Llama-3.1-8B",
    "requests_per_second": 2,
    "peak_requests_per_second": 6,
    "prompt_tokens": 800,
    "answer_tokens": 250,
}


def test_a_service_stands_in_racks_and_is_not_interrupted() -> None:
    asked_for = {"start": "2027-01", "horizon_months": 12, "workload": CHAT}
    answer = compare(asked_for).answer
    assert not any("Workstation" in server.label for server in answer.servers)
    assert "workload.interruptible" not in {one.field for one in answer.cheaper_if}
    own = {"servers": [{"server": "workstation-1x-rtx-4090"}]}
    (server,) = compare(asked_for | {"on_prem": own}).answer.servers
    assert "4090" in server.label


def test_what_requests_in_waves_take_is_told_in_the_hours_of_the_advised_card() -> None:
    wave = CHAT | {"model": "Llama-3.1-70B", "prompt_tokens": 1500, "first_token_seconds": 1.5}
    limits = {"geographies": ["eu"], "providers": ["azure"], "purchase_options": ["on_demand"]}
    question = QUICK | {"workload": wave, "constraints": limits, "sensitivity": True}
    answer = compare(question | {"on_prem": {"servers": []}}).answer
    verdict = answer.verdict
    assert verdict is not None
    at_once = "(1 × H100 NVL) around the clock, up to 5 at the busiest, on demand in Azure "
    assert at_once in verdict.headline
    assert verdict.decision[0].units == 5
    size = "Sized for 3 replicas of 1 × H100 NVL 94 GB around the clock, 5 at the busiest, in fp8"
    assert verdict.sizing == f"{size}: 26,280 hours of one accelerator in all."
    assert answer.demand.method.startswith("5 replicas of 1 H100 NVL 94 GB")
    assert {row.value for row in answer.drivers if row.field == "workload.hours"} == {26_280}


def test_old_cards_are_told_what_does_their_work_for_less_than_half() -> None:
    line = compare("4 P100 for 12 months").answer
    (other,) = named(line)
    assert "nvidia-t4" in other.value
    assert "nvidia-t4g" not in other.value, "its machines have Arm processors"
    assert line.verdict is not None
    assert line.verdict.reasons[0].startswith("With any accelerator with as much memory, ")
    assert f"({FIELD}, {len(other.value)} of them)" in describe_alternative(other, "USD")
