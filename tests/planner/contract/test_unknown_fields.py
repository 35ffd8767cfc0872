"""A field that a request does not have is answered with the one that was meant."""

from __future__ import annotations

from typing import Any

import pytest

from planner.contract.request.comparison import ComparisonRequest
from planner.contract.validation import _WORDS, models_in, parse
from pricing.common.invalid_input import InvalidInput

HOURS = {"kind": "accelerator_hours", "accelerator": "H100", "hours_per_month": 10}
TRAINING = {"kind": "training", "parameters": 7e9, "tokens": 1e9}
SAMPLES = {"kind": "samples", "benchmark": "x", "samples": 1e6, "epochs": 1}


def refusal_of(workload: dict[str, Any], **fields: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        parse(ComparisonRequest, {"workload": workload} | fields)
    return caught.value.message


@pytest.mark.parametrize(
    ("work", "name", "meant"),
    [
        (TRAINING, "gpu", "accelerator"),
        (TRAINING, "gpus", "accelerators_per_job, the accelerators of one job"),
        (TRAINING, "epochs", "tokens, those of all epochs together"),
        (TRAINING, "use_lora", 'optimizer, "lora" or "qlora" for adapters'),
        (TRAINING, "deadline", "runs, each with a start and a deadline"),
        (TRAINING, "batch_size", "global_batch_tokens or micro_batch_size"),
        (TRAINING, "num_layers", "layers"),
        (TRAINING, "adapter_parameters", "trainable_parameters"),
        (TRAINING, "steps", "tokens, steps times the tokens of one"),
        (TRAINING, "tensor_parallel", 'layout, such as {"tensor": 8, "pipeline": 2}'),
        (TRAINING, "load_in_4bit", 'optimizer, "lora" or "qlora" for adapters'),
        (SAMPLES, "model", "benchmark"),
        (SAMPLES, "gpus", "accelerators_per_job, the accelerators of one job"),
        (HOURS, "gpus", "peak_accelerators"),
        (HOURS, "gpu_hours", "hours_per_month"),
        (HOURS, "horizon_months", "horizon_months, at the top of the request"),
    ],
)
def test_a_word_of_the_field_is_answered_with_the_name(
    work: dict[str, Any], name: str, meant: str
) -> None:
    expected = f"is not a known field; did you mean {meant}?"
    assert refusal_of(work | {name: 8}) == expected


def test_fields_at_the_top_are_answered_with_where_they_stand() -> None:
    for name, meant in (
        ("providers", "constraints.providers"),
        ("spot", "workload.interruptible"),
        ("budget", "constraints.total_budget or constraints.capex_budget"),
        ("hours_per_month", "workload.hours_per_month"),
        ("currencyy", "currency"),
    ):
        assert refusal_of(HOURS, **{name: 1}) == f"is not a known field; did you mean {meant}?"
    assert "; allowed are break_even, " in refusal_of(HOURS, zzz=1)


def test_a_field_of_another_kind_of_work_is_answered_with_the_kind() -> None:
    expected = "is not a known field; it belongs to kind training"
    assert refusal_of(HOURS | {"tokens": 8}) == expected
    assert (
        refusal_of(TRAINING | {"loader": 8}) == "is not a known field; it belongs to kind samples"
    )


def test_every_name_that_is_proposed_exists() -> None:
    fields = set(ComparisonRequest.model_fields)
    for key, field in ComparisonRequest.model_fields.items():
        for model in models_in(field.annotation):
            fields |= {*model.model_fields, *(f"{key}.{name}" for name in model.model_fields)}
    for word, meanings in _WORDS.items():
        for words in meanings:
            for path in words.partition(",")[0].replace(" and ", " or ").split(" or "):
                assert path in fields, (word, path)
