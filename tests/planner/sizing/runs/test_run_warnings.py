"""An estimate says why its figures may be doubted and what they leave out, and nothing else."""

import re
from typing import Any

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.performance.confidence import FAR, LARGEST_CLUSTER, calibrated_bounds
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.planner.contract.models.configs import QWEN2_7B
from tools.sizing_fit.evidence import published_runs, sample_runs

H100 = "nvidia-h100-80gb-sxm"
VISION = {"vision_config": {"depth": 32, "hidden_size": 1280}}
OMNI = {"thinker_config": {"text_config": QWEN2_7B, "audio_config": {}, **VISION}}
LINEAR = {**QWEN2_7B, "layer_types": ["linear_attention", "full_attention"] * 14}
PARALLEL = {**QWEN2_7B, "mamba_d_ssm": 3072}
UNKNOWN = {**QWEN2_7B, "model_type": "foo"}
ROLLOUTS = {"response_tokens": 1000, "per_step": 64}
SEVEN = {"parameters": 7e9, "sequence_length": 4096}
LONG = {"parameters": 8e9, "sequence_length": 131072, "chunked_loss": True}
SMALL = {"parameters": 5e8, "tokens": 1e7, "sequence_length": 4096}
GPT2 = {"model": "gpt2", "sequence_length": 1024}


def warnings(work: dict[str, Any], accelerator: str = H100, count: int = 8) -> str:
    training = parse(Training, {"kind": "training", "tokens": 1e8, **work})
    return " | ".join(placed_on(training, get(accelerator)).at(count).warnings)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ({"config": {**QWEN2_7B, **VISION}}, "the image encoder of the config is not counted: 7.6"),
        ({"config": {**OMNI, "talker_config": {}}}, "the talker, the sound encoder and the image"),
        ({"config": LINEAR, **LONG}, "14 layers without attention (linear_attention of the config"),
        ({"config": PARALLEL, **LONG}, "mamba_d_ssm counts by its parameters alone"),
        ({"config": UNKNOWN}, "the model_type foo of the config is not known"),
        (SEVEN | {"rollouts": ROLLOUTS}, "and its cache and the frozen reference (14 GB) want"),
        (
            SEVEN | {"rollouts": ROLLOUTS | {"critic_parameters": 7e9}},
            "and the critic with its states (112 GB) want",
        ),
        (SEVEN | {"trainable_parameters": 5e6}, "optimizer adamw trains all 7,000,000,000 parame"),
        # 12 bytes a parameter: 70.6 billion are 847 GB, 106 beside each of 8.
        (
            {"model": "Llama-3.1-70B", "optimizer_offload": True},
            "keeps 847 GB of states in the memory of the hosts, 106 GB beside each",
        ),
        (
            {"model": "Qwen2.5-7B", "tokens": 1e5}
            | {"rollouts": {"prompt_tokens": 256, "response_tokens": 2000, "per_step": 1024}},
            "the 100,000 tokens are less than one step of 2,310,144 (1,024 answers",
        ),
        (SEVEN | {"layers": 2, "hidden_size": 4096}, "2 layers of 4,096 units usually make 814,3"),
        (SEVEN | {"tokens": 6e9}, "counted between pre-training and fine-tuning, because it"),
        (SEVEN | {"experts": 8}, "active_parameters would make it a mixture"),
        (SEVEN | {"mfu": 0.7}, "an MFU of 70.0% is above 65%"),
        (GPT2 | {"sequence_length": 32768}, "do not run on gpt2: it has learned 1,024 positions"),
        (
            {"model": "Llama-2-7B", "sequence_length": 32768},
            "longer than the 4,096 of Llama-2-7B: its positions have to be extended",
        ),
        (
            {"model": "Llama-2-7B", "sequence_length": 4096}
            | {"rollouts": {"prompt_tokens": 6000, "response_tokens": 6000, "per_step": 8}},
            "prompts with answers of 12,000 tokens are longer",
        ),
    ],
)
def test_what_is_doubtful_is_said(work: dict[str, Any], words: str) -> None:
    assert words in warnings(work)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        ({"config": QWEN2_7B}, "config"),
        ({"config": {**QWEN2_7B, **VISION}, "parameters": 8.29e9}, "encoder"),
        ({"config": LINEAR, **LONG, "sliding_layers": 7, "sliding_window": 256}, "layers without"),
        (SEVEN | {"optimizer": "lora", "rollouts": ROLLOUTS}, "reference"),
        (SEVEN | {"optimizer": "lora", "trainable_parameters": 5e6}, "trainable_parameters"),
        (SEVEN | {"tokens": 6e9, "stage": "fine_tuning"}, "counted between"),
        (SEVEN | {"layers": 32, "hidden_size": 4096}, "usually make"),
        (GPT2, "do not run"),
        ({"model": "Qwen2.5-7B", "sequence_length": 131072}, "positions"),
        ({"model": "Llama-3.1-8B", "sequence_length": 4096}, "waiting for its links"),
    ],
)
def test_what_is_not_goes_unsaid(work: dict[str, Any], words: str) -> None:
    assert words not in warnings(work)


def test_a_split_that_mostly_waits_says_so() -> None:
    words = warnings({"model": "Qwen3-4B", "zero_stage": 3}, "nvidia-rtx-4090")
    assert "of the working time waiting for its links" in words


def test_too_many_accelerators_for_a_step_are_named() -> None:
    thin = "on 128 accelerators a step of"
    assert thin in warnings(SMALL, count=128)
    for more in ({"mfu": 0.3}, {"global_batch_tokens": 4e6}):
        assert thin not in warnings(SMALL | more, count=128)
    assert "for each, which works at" not in warnings(SMALL, count=8)


def test_layers_without_attention_take_less_time_at_long_sequences() -> None:
    def hours(config: dict[str, Any]) -> float:
        work = {"kind": "training", "tokens": 1e8, "parameters": 8e9, "sequence_length": 65536}
        return placed_on(parse(Training, {**work, "config": config}), get(H100)).at(8).hours

    assert hours(LINEAR) < 0.85 * hours(QWEN2_7B)


def test_more_layers_with_a_window_than_there_are_are_refused() -> None:
    asked = SEVEN | {"layers": 32, "hidden_size": 4096, "sliding_window": 128}
    with pytest.raises(InvalidInput, match=r"sliding_layers: 100 .* allowed are 0 to 32"):
        warnings(asked | {"sliding_layers": 100})


@pytest.mark.parametrize(
    ("model", "context"), [("gpt2", 1024), ("BERT-base", 512), ("Llama-3-8B", 4096)]
)
def test_a_model_is_counted_at_no_more_than_its_context_where_no_length_is_given(
    model: str, context: int
) -> None:
    work = {"kind": "training", "model": model, "tokens": 1e9}
    silent, stated = (
        estimate({"workload": work | more, "accelerator": "H100", "accelerators": 8}).answer
        for more in ({}, {"sequence_length": context})
    )
    assert silent.accelerator_hours.p50 == pytest.approx(stated.accelerator_hours.p50)


@pytest.mark.parametrize(
    ("accelerator", "words"),
    [
        ("google-tpu-v7", "Google TPU v7 (Ironwood) itself is in its rate: the share of its peak "),
        ("google-tpu-v3", "that of the TPU v4"),
        ("intel-gaudi3", "that of the H100, moved by the best matrix products of both"),
        ("nvidia-a100-80gb-pcie", "that of the A100 SXM"),
        ("nvidia-v100s", "Tesla V100S PCIe 32 GB has no language-model benchmark at fp16"),
        (H100, ""),
        ("google-tpu-v6e", ""),
    ],
)
def test_a_rate_that_rests_on_another_accelerator_s_says_whose(
    accelerator: str, words: str
) -> None:
    def told(**more: float) -> list[str]:
        work = {"kind": "training", "parameters": 7e9, "tokens": 1e11, **more}
        every = estimate({"workload": work, "accelerator": accelerator}).warnings
        return [one for one in every if "benchmark of" in one or "language-model" in one]

    said = told()
    assert len(said) == bool(words)
    assert all(words in one for one in said)
    assert not told(mfu=0.4)


@pytest.mark.parametrize("is_mixture", [False, True])
def test_the_largest_published_runs_go_by_the_names_that_people_use(is_mixture: bool) -> None:
    known = calibrated_bounds(is_mixture)
    for largest in (known.largest_model, known.largest_cluster):
        assert re.match(r"[A-Z]", largest.run), largest.run


H100_BEYOND = "nvidia-h100-80gb-sxm"
MOST = max(run.accelerators or 0 for run in published_runs())


def answer_beyond(accelerators=None, **changes):
    work = {"kind": "training", "parameters": 7e9, "tokens": 1e13} | changes
    asked = {"workload": work, "accelerator": H100_BEYOND}
    return estimate(asked | ({"accelerators": accelerators} if accelerators else {})).answer


def test_a_model_far_larger_than_any_published_one_says_that_no_range_holds():
    text = " ".join(answer_beyond(parameters=1e13, tokens=1e14).warnings)
    assert "10 trillion parameters are " in text
    assert "take the hours as a rough guess; their range does not hold here" in text
    assert "outside the published runs" not in text


def test_a_mixture_is_measured_by_mixtures():
    few = {"active_parameters": 2e11, "tokens": 1e14}
    far = "times as many as in the largest published training of a mixture of experts"
    assert far in " ".join(answer_beyond(parameters=5e12, **few).warnings)
    assert "times as many" not in " ".join(answer_beyond(parameters=2e12, **few).warnings)


def test_more_accelerators_than_any_published_run_or_known_cluster_had():
    near, far, never = (
        " ".join(answer_beyond(accelerators=count).warnings)
        for count in (int(FAR * MOST), int(FAR * MOST) + 8, 10_000_000)
    )
    assert f"no published run used more than {MOST:,} accelerators; the range is wider" in near
    assert "does not hold" not in near
    assert f"{int(FAR * MOST) + 8:,} accelerators at once are 2 times as many as" in far
    assert "known training clusters" not in far
    assert f": {MOST:,}), and more than the largest known training clusters have" in never
    assert "their range does not hold here" in never


def test_a_rate_of_the_team_does_not_hide_it():
    given = answer_beyond(mfu=0.4, parameters=1e13, tokens=1e14, accelerators=10_000_000)
    assert sum("does not hold here" in words for words in given.warnings) == 2
    assert "rough guess" not in " ".join(given.warnings)
    assert not [w for w in answer_beyond(mfu=0.4, parameters=1e12).warnings if "published" in w]


def test_samples_on_more_accelerators_than_any_published_run():
    work = {"kind": "samples", "samples": 1e12, "epochs": 1}
    work["benchmark"] = "resnet-50-v1.5-imagenet-ngc"
    most = max(run.accelerators for run in sample_runs())

    def of(count):
        return estimate({"workload": work, "accelerators": count}).answer.warnings

    assert of(int(FAR * most)) == ()
    (text,) = of(10_000_000)
    assert f"largest published run on samples (Chameleon-34B: {most:,}), and more than" in text


def test_hours_that_need_more_than_any_cluster_say_so():
    def of(hours):
        work = {"kind": "accelerator_hours", "accelerator": H100_BEYOND, "hours_per_month": [hours]}
        return estimate({"workload": work}).answer.warnings

    assert of(LARGEST_CLUSTER * 730) == ()
    (text,) = of(1e10)
    assert text.startswith("13,698,631 accelerators at once are more than the largest known")
