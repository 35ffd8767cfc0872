"""The layout that is advised fits, is the fastest of those that do, and one's own is judged."""

import pytest

from planner.contract.accelerator_memory import usable_gib
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.search import LayoutTask
from planner.sizing.layout.shapes import MARGIN
from planner.sizing.performance.levels import matmul_share, rates_on
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators, get

A100, H100 = get("nvidia-a100-80gb-sxm"), get("nvidia-h100-80gb-sxm")
L40S, L4 = get("nvidia-l40s"), get("nvidia-l4")
SEVEN = {"parameters": 7e9, "tokens": 1e12}
SIZES = ("parameters", "tokens", "layers", "hidden_size", "vocabulary_size", "sequence_length")
DEEPSEEK = {"active_parameters": 37e9, "experts": 256, "experts_per_token": 8}
MIXTRAL = {"active_parameters": 12.9e9, "experts": 8, "experts_per_token": 2}
KNOWN = {
    "GPT-3": ((175e9, 300e9, 96, 12288, 50257, 2048), {}, A100, 1024),
    "BLOOM": ((176.25e9, 366e9, 70, 14336, 250880, 2048), {}, A100, 384),
    "OPT": ((175e9, 300e9, 96, 12288, 50272, 2048), {}, A100, 992),
    "MT-NLG": ((530e9, 270e9, 105, 20480, 50257, 2048), {}, A100, 2240),
    "Llama 3.1 405B": ((405.85e9, 15.6e12, 126, 16384, 128256, 8192), {}, H100, 16384),
    "DeepSeek-V3": ((671e9, 14.8e12, 61, 7168, 129280, 4096), DEEPSEEK, H100, 2048),
    "Mixtral 8x7B": ((46.7e9, 2e12, 32, 4096, 32000, 4096), MIXTRAL, H100, 512),
}


def task(one=A100, precision="bf16", **changes):
    training = parse(Training, {"kind": "training", **SEVEN, **changes})
    return LayoutTask(training, one, precision, rates_on(training, one, precision))


def megatron_states_gib(layout, asked, accelerators):
    """Megatron-LM's formula: 18 bytes a parameter, 6 + 12 / d with a distributed optimizer,
    2 + 16 / d where gradients are divided too (ZeRO stage 2), and DeepSpeed's 16 / n where
    everything is sharded; experts over their own ranks."""
    active = asked.get("active_parameters", asked["parameters"])
    experts = asked["parameters"] - active
    if layout.zero_stage == 3:
        return 16 * asked["parameters"] / accelerators / 2**30
    wide = max(layout.tensor, layout.expert)
    shard = (active / layout.tensor + experts / wide) / layout.pipeline
    per = {0: 18, 2: 2 + 16 / layout.data}.get(layout.zero_stage, 6 + 12 / layout.data)
    return shard * per / 2**30


@pytest.mark.parametrize("name", KNOWN)
def test_known_models_fit_by_megatron_s_formula_and_stay_below_matrix_rates(name):
    sizes, experts, one, count = KNOWN[name]
    asked = {**dict(zip(SIZES, sizes, strict=True)), **experts}
    size = placed_on(parse(Training, {"kind": "training", **asked}), one).at(count)
    assert size.layout.expert > 1 or name != "DeepSeek-V3"
    assert megatron_states_gib(size.layout, asked, count) < one.memory_gib
    assert size.layout.memory.total_gib <= MARGIN * usable_gib(one)
    assert size.hfu / size.goodput <= 0.85 * matmul_share(one)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("one", [A100, H100, L40S, L4, get("nvidia-rtx-4090")])
@pytest.mark.parametrize("parameters", [1e8, 7e9, 7e10])
@pytest.mark.parametrize("length", [2048, 32768])
def test_what_is_advised_keeps_the_margin(one, parameters, length):
    asked = task(one, parameters=parameters, sequence_length=length)
    least = asked.least()
    assert least is not None
    layout = asked.on(least)
    assert layout is not None
    assert layout.memory.total_gib <= MARGIN * usable_gib(one) * (1 + 1e-9)


def test_one_fewer_than_the_least_does_not_fit():
    asked = task(parameters=65e9)
    least = asked.least()
    assert least > 1
    assert asked.on(least - 1) is None


def test_recomputation_and_a_bubble_cost_time():
    free = task(parameters=13e9).on(64).share_of_level
    recomputing = task(parameters=13e9, activation_checkpointing=True).on(64).share_of_level
    assert recomputing == pytest.approx(free / 1.13, rel=0.05)
    staged = {"tensor": 1, "pipeline": 16}
    small = task(parameters=13e9, layout=staged, global_batch_tokens=262144).on(64)
    large = task(parameters=13e9, layout=staged, global_batch_tokens=16777216).on(64)
    assert small.pipeline_bubble > 0.1 > large.pipeline_bubble
    assert small.share_of_level < large.share_of_level


def test_a_micro_batch_of_few_tokens_is_slower():
    short = task(sequence_length=128, micro_batch_size=1).on(8).share_of_level
    assert short < 0.6 * task(sequence_length=4096, micro_batch_size=1).on(8).share_of_level


def test_an_own_layout_is_kept():
    layout = task(H100, parameters=70e9, layout={"tensor": 8, "pipeline": 4}).judge(64)
    assert (layout.tensor, layout.pipeline, layout.data) == (8, 4, 2)


def test_an_own_layout_that_does_not_fit_is_refused_with_one_that_does():
    asked = task(H100, parameters=70e9, layout={"tensor": 2})
    with pytest.raises(InvalidInput) as refused:
        asked.judge(2)
    assert refused.value.field == "layout"
    assert "GiB may be taken" in refused.value.message


def test_an_own_layout_of_more_than_there_are_is_refused():
    with pytest.raises(InvalidInput, match="takes 32 accelerators at once and 8 are used"):
        task(H100, layout={"tensor": 8, "pipeline": 4}).judge(8)


def test_no_accelerator_is_driven_beyond_what_matrices_reach():
    training = parse(Training, {"kind": "training", **SEVEN, "code": "hand_tuned"})
    for one in all_accelerators():
        try:
            size = placed_on(training, one).at(None)
        except InvalidInput:
            continue
        assert size.hfu <= matmul_share(one)


def test_more_stages_than_layers_are_refused():
    with pytest.raises(InvalidInput, match="64 stages for 32 layers"):
        task(H100, layers=32, hidden_size=4096, layout={"pipeline": 64}).judge(64)
