"""Whatever is asked, the answer is an estimate or a refusal by field; never another error."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.sizing.estimate import estimate
from planner.usage.gpu_logs import calibrate
from pricing.common.invalid_input import InvalidInput
from tests.properties import examples

NUMBERS = st.one_of(
    st.sampled_from([0, -1, 1, 1e3, 1e9, 7e9, 1e15, 1e18, 1e300, 10**400, True, 0.5, 1.5, None]),
    st.floats(),
    st.sampled_from(["7", "", "1e9", [], {}, [1]]),
)
FIELDS = (
    "parameters", "tokens", "active_parameters", "sequence_length", "layers", "hidden_size",
    "vocabulary_size", "trainable_parameters", "mfu", "hfu", "goodput", "experiments_factor",
    "tokens_per_second_per_accelerator", "measured_accelerator_hours", "zero_stage",
    "micro_batch_size", "samples", "epochs", "samples_per_second", "hours_per_month",
    "peak_accelerators", "global_batch_tokens", "padding", "experts", "experts_per_token",
    "tokens_per_example",
    "feed_forward_size", "cached_values_per_layer", "sliding_window", "sliding_layers",
    "attention_width",
)  # fmt: skip
WORDS = st.one_of(
    st.none(),
    st.sampled_from(["H100 SXM", "T4", "A100", "nvidia-k80", "google-tpu-v5e", "intel-gaudi", ""]),
    st.text(max_size=8),
)
RUNS = st.lists(
    st.fixed_dictionaries(
        {"start": st.sampled_from(["2027-01", "2027-13", "9999-12", "", None])},
        optional={"deadline": st.sampled_from(["2027-01", "2030-01", 5]), "count": NUMBERS},
    ),
    max_size=3,
)
WORKLOADS = st.fixed_dictionaries(
    {"kind": st.sampled_from(["training", "samples", "accelerator_hours"])},
    optional=dict.fromkeys(FIELDS, NUMBERS)
    | {
        "accelerator": WORDS,
        "precision": st.sampled_from(["fp32", "tf32", "bf16", "fp16", "fp8", "int4"]),
        "optimizer": st.sampled_from(["adamw", "adafactor", "adamw_8bit", "lora", "qlora", "x"]),
        "model": st.sampled_from(["gpt2", "Mixtral-8x7B", "DeepSeek-V3", "x", "", None]),
        "config": st.one_of(st.none(), st.text(max_size=8), st.just({"hidden_size": 8}), NUMBERS),
        "loader": st.sampled_from(["hand_tuned", "usual", "x", None]),
        "architecture": st.sampled_from(["depthwise", "detector", "x", None]),
        "code": st.sampled_from(["hand_tuned", "standard", "first_version", "x", None]),
        "stage": st.sampled_from(["pretraining", "fine_tuning", "x", None]),
        "activation_checkpointing": st.sampled_from([True, False, "selective", "x", None]),
        "layout": st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("tensor", "pipeline", "context", "expert"), NUMBERS)
        ),
        "optimizer_offload": st.booleans(),
        "is_classifier": st.booleans(),
        "chunked_loss": st.booleans(),
        "mfu_of": st.sampled_from(["step", "run", "x", None]),
        "benchmark": st.sampled_from(["resnet50-lambda", "bert-large-512-ngc", "x"]),
        "runs": RUNS,
    },
)
SOUND = {"training": {"parameters": 7e9, "tokens": 1e12}, "accelerator_hours": {},
         "samples": {"samples": 1e6, "epochs": 9, "benchmark": "resnet50-lambda"}}  # fmt: skip


def outcome(work, given):
    """What `work` makes of `given`, or its refusal."""
    try:
        return work(given)
    except InvalidInput as refusal:
        return refusal


def answer_or_refusal(request):
    found = outcome(estimate, request)
    if isinstance(found, InvalidInput):
        assert all(one.message for one in found.all())
        return
    answer = found.answer.to_json()
    json.dumps(answer, allow_nan=False)
    hours = answer["accelerator_hours"]
    assert all(math.isfinite(value) and value >= 0 for value in hours.values())
    assert answer["min_accelerators"] is None or answer["min_accelerators"] >= 1


@pytest.mark.fuzz
@examples(25, 5000)
@given(WORKLOADS, WORDS, NUMBERS)
def test_anything_is_answered_or_refused(workload, accelerator, accelerators):
    answer_or_refusal(
        {"workload": workload, "accelerator": accelerator, "accelerators": accelerators}
    )


@pytest.mark.fuzz
@examples(25, 5000)
@given(
    st.sampled_from(["training", "samples"]),
    st.dictionaries(st.sampled_from(FIELDS), NUMBERS, max_size=2),
    st.sampled_from([None, "H100 SXM", "T4", "google-tpu-v5e", "amd-mi300x"]),
)
def test_a_sound_request_with_any_other_field(kind, changes, accelerator):
    answer_or_refusal(
        {"workload": {"kind": kind, **SOUND[kind], **changes}, "accelerator": accelerator}
    )


@pytest.mark.parametrize("request_", [None, [], "x", 3, {"workload": None}, {"workload": []}])
def test_what_is_no_request_is_refused(request_):
    with pytest.raises(InvalidInput):
        estimate(request_)


LINES = st.lists(
    st.lists(
        st.sampled_from(["97 %", "[N/A]", "0", "-1", "1e999", "40960 MiB", "0x4", "nan", "", "x,"]),
        max_size=4,
    ).map(", ".join),
    max_size=8,
)


@pytest.mark.fuzz
@examples(40, 5000)
@given(LINES, st.booleans())
def test_any_log_is_read_or_refused(lines, has_header):
    header = ["utilization.gpu [%], memory.used [MiB], clocks_event_reasons.active"]
    found = outcome(calibrate, "\n".join((header if has_header else []) + lines))
    if isinstance(found, InvalidInput):
        assert found.field == "log"
    else:
        assert all(0 <= use.sustained_utilisation <= 1 for use in found.gpus)
