"""An estimate says what it leaves out beside the training itself."""

import pytest

from planner.contract.request.workload import Samples, Training
from planner.contract.validation import parse
from planner.sizing.runs.placed_run import placed_on
from planner.sizing.runs.sample_run import size_samples
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get
from tests.planner.contract.models.configs import QWEN2_7B

H100, GB10 = "nvidia-h100-80gb-sxm", "nvidia-gb10"
VISION = {"vision_config": {"depth": 32, "hidden_size": 1280}}
ROLLOUTS = {"response_tokens": 1000, "per_step": 64}
SEVEN = {"parameters": 7e9, "sequence_length": 4096}


def warnings(accelerator=H100, **asked):
    training = parse(Training, {"kind": "training", "tokens": 1e8, **asked})
    return " | ".join(placed_on(training, get(accelerator)).at(8).warnings)


def test_an_image_encoder_of_a_config_is_said_not_to_count():
    words = warnings(config={**QWEN2_7B, **VISION})
    assert "the image encoder of the config is not counted: 7.62 billion" in words
    assert "encoder" not in warnings(config=QWEN2_7B)


def test_parameters_of_one_s_own_hold_it():
    assert "encoder" not in warnings(config={**QWEN2_7B, **VISION}, parameters=8.29e9)


def test_several_parts_are_named_together():
    omni = {"thinker_config": {"text_config": QWEN2_7B, "audio_config": {}, **VISION}}
    words = warnings(config={**omni, "talker_config": {}})
    assert "the talker, the sound encoder and the image encoder of the config are" in words


HYBRID = {**QWEN2_7B, "layer_types": ["linear_attention", "full_attention"] * 14}
PATTERN = {**QWEN2_7B, "hybrid_override_pattern": "M-M*" * 7}
PARALLEL = {**QWEN2_7B, "mamba_d_ssm": 3072}


def test_layers_without_attention_take_the_work_of_a_short_window():
    long = {"parameters": 8e9, "sequence_length": 131072, "chunked_loss": True}
    words = warnings(config=HYBRID, **long)
    assert "14 layers without attention (linear_attention of the config) are taken" in words
    assert "FlashAttention" not in words
    assert "21 layers without attention" in warnings(config=PATTERN, **long)
    assert "mamba_d_ssm counts by its parameters alone" in warnings(config=PARALLEL, **long)
    own = warnings(config=HYBRID, **long, sliding_layers=7, sliding_window=256)
    assert "layers without attention" not in own


def test_hybrids_take_less_time_at_long_sequences_than_attention_everywhere():
    def hours(config):
        work = {"kind": "training", "tokens": 1e8, "parameters": 8e9, "sequence_length": 65536}
        return placed_on(parse(Training, {**work, "config": config}), get(H100)).at(8).hours

    assert hours(HYBRID) < 0.85 * hours(QWEN2_7B)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({}, "the engine's weights (14 GB) and its cache and the frozen reference (14 GB) want"),
        ({"critic_parameters": 7e9}, "and the critic with its states (112 GB) want"),
        ({"has_reference": False}, "the engine's weights (14 GB) and its cache want"),
    ],
)
def test_what_reinforcement_learning_holds_beside_is_said(changes, parts):
    assert parts in warnings(**SEVEN, rollouts={**ROLLOUTS, **changes})


def test_adapters_are_switched_off_for_the_reference():
    assert "reference" not in warnings(**SEVEN, optimizer="lora", rollouts=ROLLOUTS)


def test_answers_beyond_the_sequence_are_named():
    long = {**ROLLOUTS, "response_tokens": 8000}
    assert "are 8,256 tokens together in the mean" in warnings(**SEVEN, rollouts=long)
    fitting = warnings(parameters=7e9, sequence_length=16384, rollouts=long)
    assert "tokens together" not in fitting


def test_a_rate_in_16_bits_that_no_source_states_is_named():
    small = {"parameters": 1e9, "sequence_length": 2048}
    assert "no source states a rate of GB10 in 16 bits" in warnings(GB10, **small)
    assert "no source states" not in warnings(GB10, **small, precision="fp32")
    rate = warnings(GB10, **small, tokens_per_second_per_accelerator=1000)
    assert "no source states" not in rate


def test_trainable_parameters_without_adapters_are_said_to_train_all():
    asked = {"parameters": 1e9, "sequence_length": 2048, "trainable_parameters": 5e6}
    assert "optimizer adamw trains all 1,000,000,000 parameters" in warnings(**asked)
    assert "trainable_parameters" not in warnings(**asked, optimizer="lora")
    more = warnings(**{**asked, "trainable_parameters": 2e9}, optimizer="lora")
    assert "2,000,000,000 trainable_parameters are more than the 1,000,000,000" in more


def flux_warnings(accelerator, **changes):
    work = {"kind": "samples", "samples": 1e5, "epochs": 1, "forward_gflops_per_sample": 3e4}
    return size_samples(
        parse(Samples, {**work, **changes}), get(accelerator), 1
    ).warnings  # fmt: skip


def test_samples_of_a_model_that_one_accelerator_does_not_hold_are_named():
    (words,) = [w for w in flux_warnings(H100, parameters=12e9) if "memory" in w]
    assert "12,000,000,000 parameters trained with AdamW hold 179 GiB" in words
    assert "more than the 80 GiB of one H100" in words
    assert not any("memory" in w for w in flux_warnings(H100, parameters=2.6e9))


def test_a_measured_rate_shows_that_it_fits():
    work = {"kind": "samples", "samples": 1e5, "epochs": 1, "samples_per_second": 2}
    rate = parse(Samples, {**work, "accelerator": H100, "parameters": 12e9})
    assert not any("memory" in w for w in size_samples(rate, get(H100), 1).warnings)


def test_an_example_longer_than_a_sequence_is_named():
    asked = {"parameters": 1e9, "sequence_length": 2048}
    assert "the mean example of 5,000 tokens" in warnings(**asked, tokens_per_example=5000)
    assert "mean example" not in warnings(**asked, tokens_per_example=500)


def test_too_many_accelerators_for_a_step_are_named():
    def thin(count, **changes):
        small = {"kind": "training", "parameters": 5e8, "tokens": 1e7, "sequence_length": 4096}
        task = placed_on(parse(Training, {**small, **changes}), get(H100))
        return [words for words in task.at(count).warnings if "for each, which works at" in words]

    (words,) = thin(128)
    assert "on 128 accelerators a step of" in words
    assert words.endswith("take fewer accelerator-hours")
    assert not thin(8)
    assert not thin(128, mfu=0.3)
    assert not thin(128, global_batch_tokens=4e6)


def test_tokens_of_less_than_one_step_of_answers_are_said():
    asked = {"model": "Qwen2.5-7B", "tokens": 1e5}
    asked["rollouts"] = {"prompt_tokens": 256, "response_tokens": 2000, "per_step": 1024}
    words = "the 100,000 tokens are less than one step of 2,310,144 (1,024 answers"
    assert words in warnings(**asked)
    assert "less than one step" not in warnings(**asked | {"tokens": 1e9})


def test_more_layers_with_a_window_than_there_are_are_refused():
    asked = {"parameters": 7e9, "layers": 32, "hidden_size": 4096, "sliding_window": 128}
    with pytest.raises(InvalidInput, match=r"sliding_layers: 100 .* allowed are 0 to 32"):
        warnings(**asked, sliding_layers=100)
    assert warnings(**asked, sliding_layers=32)


def test_a_window_of_no_layer_is_said_to_count_for_nothing():
    seven = {**SEVEN, "layers": 32}
    assert "sliding_window 1,024 counts for nothing" in warnings(**seven, sliding_window=1024)
    assert "sliding_layers 16 counts for nothing" in warnings(**seven, sliding_layers=16)
    both = {"sliding_window": 1024, "sliding_layers": 16}
    for fine in (seven | both, seven | {"sliding_layers": 0}, {"model": "Gemma-3-12b"}):
        assert "counts for nothing" not in warnings(**fine)
    config = {**QWEN2_7B, "sliding_window": 4096, "layer_types": ["full_attention"] * 28}
    assert "counts for nothing" not in warnings(config=config)


def test_what_tells_nothing_beside_a_rate_is_said():
    told = {"code": "hand_tuned", "rollouts": ROLLOUTS}
    words = warnings(**SEVEN, **told, measured_accelerator_hours=2000)
    assert "code and rollouts count for nothing beside measured_accelerator_hours" in words
    words = warnings(**SEVEN, **told, mfu=0.4)
    assert "code counts for nothing beside mfu, which holds it already" in words
    assert "counts for nothing" not in warnings(**SEVEN, code="hand_tuned")


def test_an_advised_split_that_mostly_waits_says_so():
    big = {"model": "Llama-3.1-8B", "sequence_length": 4096}
    words = warnings("nvidia-rtx-4090", model="Qwen3-4B", zero_stage=3)
    assert "of the working time waiting for its links" in words
    assert "waiting for its links" not in warnings(**big)


def test_states_on_the_host_are_said_in_gb():
    """12 bytes a parameter: 70.6 billion are 847 GB, 106 beside each of 8."""
    asked = {"model": "Llama-3.1-70B", "optimizer_offload": True}
    words = "keeps 847 GB of states in the memory of the hosts, 106 GB beside each"
    assert words in warnings(**asked)
