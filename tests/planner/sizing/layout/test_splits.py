"""The rules that splits keep (rings, batches, experts, heads, stages) and what refusals name."""

import itertools
import math

import numpy as np
import pytest

from planner.contract.accelerator_memory import usable_gib
from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.estimate import estimate
from planner.sizing.layout.search import micro_batches_for, splits_of
from planner.sizing.layout.shapes import MARGIN
from planner.sizing.layout.step_time import is_lone_chip, links_of
from planner.sizing.performance.levels import rates_on
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import all_accelerators, get
from tests.planner.contract.models.configs import QWEN2_7B

H100, A100 = "nvidia-h100-80gb-sxm", "nvidia-a100-80gb-sxm"
RTX_4090, V4 = "nvidia-rtx-4090", "google-tpu-v4"
RING = {"layout": {"context": 8}, "chunked_loss": True, "sequence_length": 32_768}
SEVENTY = {"parameters": 70e9, "layers": 80, "hidden_size": 8192, "sequence_length": 4096}
MIXTURE = {"parameters": 235e9, "active_parameters": 22e9, "experts": 128, "experts_per_token": 8}
GPT_OSS = {"model": "gpt-oss-120b", "tokens": 1e12, "layout": {"pipeline": 4, "expert": 8}}


def task(accelerator=H100, **asked):
    work = {"kind": "training", "tokens": 1e10, **asked}
    return placed_on(parse(Training, work), get(accelerator))


def refusal(work, count=64):
    workload = {"kind": "training", "tokens": 1e9, **work}
    with pytest.raises(InvalidInput) as refused:
        estimate({"workload": workload, "accelerator": "H100", "accelerators": count})
    return f"{refused.value.field}: {refused.value.message}"


def test_a_ring_is_waited_for_over_pcie_and_hidden_by_fast_links():
    """Of 7 x 32,768 / 8 tokens 16,384 bytes a layer, three times in 32 layers at 4.5 GB/s: 10 s;
    grouped keys and values take a fourth of the way."""
    every_head = {"model": "Llama-2-7b-hf", "optimizer": "lora"} | RING
    size = task(RTX_4090, **every_head, activation_checkpointing="selective").at(8)
    ring = 3 * 7 / 8 * 32_768 * 2 * 8192 * 32 / 4.5e9
    assert size.layout.exposed_communication * ring > 0.5 * size.seconds_per_token * 32_768 / 8
    assert task(**every_head).at(8).layout.exposed_communication < 0.05
    grouped = task(RTX_4090, **every_head | {"model": "Llama-3.1-8B"}).at(8)
    slow = task(RTX_4090, **every_head).at(8)
    assert grouped.layout.exposed_communication < slow.layout.exposed_communication
    free = {"model": "Llama-2-7b-hf", "optimizer": "lora", "sequence_length": 32_768}
    assert task(RTX_4090, **free).at(16).hours < task(RTX_4090, **every_head).at(16).hours


def test_links_are_those_of_the_machines_that_an_accelerator_comes_in():
    for slug, one_way in (("google-tpu-v3", 82), (V4, 50), ("google-tpu-v5p", 100)):
        links = links_of(get(slug))
        assert links.inside == pytest.approx(2 * one_way * 0.75)
        assert links.network / links.node == pytest.approx(links.inside)
    alone = [one.slug for one in all_accelerators() if is_lone_chip(one)]
    assert alone == ["nvidia-gh200-96gb", "nvidia-gb10"]
    assert links_of(get(alone[0])).network == pytest.approx(25 * 0.75)


def test_a_torus_shards_over_a_pod_and_splits_layers_wider_than_a_server():
    palm = {"parameters": 540e9, "layers": 118, "hidden_size": 18_432, "sequence_length": 2048}
    layouts = task(V4, **palm, global_batch_tokens=4_194_304).layouts
    assert layouts.on(6144).zero_stage == 3
    assert layouts.splits.grid.tensor.max() == 32
    assert task("nvidia-gb200", **palm).layouts.splits.grid.tensor.max() == 8
    work = parse(Training, {"kind": "training", "tokens": 1e9, **SEVENTY, "optimizer": "lora"})
    assert rates_on(work, get("google-tpu-v5e"), "bf16").launch_seconds == 0
    assert rates_on(work, get(H100), "bf16").launch_seconds > 0


@pytest.mark.parametrize(
    ("micro_batches", "idle_over_work"),
    [
        (1, 7.0),  # one stage of eight works at a time
        (4, (4 + 3 / 8) / 4),  # at most four of eight, filled and drained in eighths of passes
        (8, 7 / 8 / 8),
        (64, 7 / 8 / 64),
    ],
)
def test_no_more_stages_work_than_there_are_micro_batches(micro_batches, idle_over_work):
    split = {"layout": {"tensor": 8, "pipeline": 8}, "micro_batch_size": 1}
    layout = task(**SEVENTY, **split, global_batch_tokens=4096 * micro_batches).at(64).layout
    assert layout.pipeline_bubble == pytest.approx(idle_over_work / (1 + idle_over_work))


def test_stages_are_filled_and_none_only_waits():
    """85 sequences over 16 stages took 1.42 times the hours of 77: two at once, as fit memory, left
    10 micro-batches for 16 stages."""
    batches = [262_144, 288_358, 317_194, 348_913, 383_805, 422_185, 464_404]
    sizes = [task(**MIXTURE, tokens=1e12, global_batch_tokens=b).at(512) for b in batches]
    for before, after in itertools.pairwise(sizes):
        assert after.hours < 1.02 * before.hours
    assert max(size.layout.pipeline for size in sizes) >= 8
    for size in (sizes[3], sizes[6]):
        assert (size.layout.micro_batch, size.layout.pipeline > 1) == (1, True)
        assert size.layout.micro_batches >= size.layout.pipeline
    bert = {"model": "BERT-base", "sequence_length": 2048, "stage": "fine_tuning", "tokens": 2e8}
    assert task(**bert).at(8).layout.pipeline == 1
    assert task(RTX_4090, model="Llama-3.2-1B", tokens=2e10).at(8).layout.pipeline <= 2
    short = {"parameters": 3e9, "sequence_length": 128, "layout": {"pipeline": 4}}
    assert task(**short).at(8).layout.micro_batch > 1


def test_a_step_that_is_not_stated_grows_up_to_four_million_tokens_and_leaves_1000_steps():
    small = {"model": "Qwen3-0.6B", "tokens": 1e12}
    layout = task(**small).at(1024).layout
    assert (layout.data, layout.pipeline) == (1024, 1)
    assert layout.global_batch_tokens == 1024 * 4096
    assert task(**small).at(2048).layout.unused == 1024
    short = [task(**small | {"tokens": 1e7}).at(count).layout for count in (64, 128)]
    assert short[0].global_batch_tokens == short[1].global_batch_tokens


@pytest.mark.parametrize(
    ("model", "slug"), [("gpt2", H100), ("Qwen3-0.6B", RTX_4090), ("Qwen3-30B-A3B", "nvidia-l40s")]
)
def test_more_accelerators_take_no_longer(model, slug):
    """But for what failures, the network and numbers that divide less evenly cost."""
    sized = task(slug, model=model, tokens=1e11)
    fastest = math.inf
    for count in (8, 24, 48, 56, 72, 104, 128, 256, 1000, 1024, 1536, 3072):
        if count >= sized.min_accelerators:
            hours = sized.at(count).wall_clock_hours
            assert hours <= 1.15 * fastest, count
            fastest = min(hours, fastest)


@pytest.mark.parametrize(
    ("slug", "asked", "count", "split"),
    [
        (H100, {"model": "gpt2", "sequence_length": 1024, "global_batch_tokens": 491_520}, 8,
         (8, 30, 2)),
        (H100, {"model": "Llama-3.2-1B", "sequence_length": 2048, "global_batch_tokens": 49_152}, 8,
         (8, 3, 1)),
        # 976 sequences over 500 replicas are one round, over 488 two
        (A100, {"model": "Llama-2-7B", "sequence_length": 4096, "global_batch_tokens": 4_000_000},
         2000, None),
        # a few replicas idle, and the batch is kept
        (H100, {"model": "Llama-3.1-8B", "sequence_length": 8192, "global_batch_tokens": 32_768,
                "optimizer": "qlora"}, 2048, None),
    ],
)  # fmt: skip
def test_a_batch_that_is_asked_for_is_kept(slug, asked, count, split):
    size = task(slug, **asked).at(count)
    layout, sequence = size.layout, asked["sequence_length"]
    whole = asked["global_batch_tokens"] // sequence * sequence
    assert layout.global_batch_tokens == whole
    assert not any("not the" in words for words in size.warnings)
    if split:
        assert (layout.data, layout.micro_batch, layout.micro_batches) == split
    else:
        assert layout.unused > 0


@pytest.mark.parametrize(("batch", "kept"), [(13 * 2048, 8 * 2048), (1024, 8 * 2048)])
def test_a_batch_that_nothing_keeps_is_said(batch, kept):
    asked = {"model": "Llama-3.2-1B", "sequence_length": 2048, "layout": {"tensor": 1}}
    with np.errstate(all="raise"):
        size = task(**asked, global_batch_tokens=batch).at(8)
    assert size.layout.global_batch_tokens == kept
    assert any(f"not the {batch:,} of global_batch_tokens" in words for words in size.warnings)


def test_no_micro_batch_that_fits_comes_nearer():
    """Each number of sequences up to the room, tried."""
    data, room = np.repeat(np.arange(1.0, 40.0), 16), np.tile(np.arange(1.0, 17.0), 39)
    for batch in (24.0, 97.0, 480.0, 488.0, 512.0):
        sizes = micro_batches_for(batch, data, room)
        for replicas, most, size in zip(data, room, sizes, strict=True):
            own = max(1, batch // replicas)
            kept = {m: m * (own // m) for m in range(1, int(most) + 1)}
            nearest = max(kept.values())
            assert size == max(m for m, sequences in kept.items() if sequences == nearest)


@pytest.mark.parametrize("model", ["gpt-oss-120b", "Llama-4-Scout", "DBRX", "Qwen3-30B-A3B"])
@pytest.mark.parametrize("count", [None, 48, 56, 72, 100])
def test_experts_are_spread_over_ranks_that_they_divide(model, count):
    one = task(model=model, tokens=1e9)
    if count is None or count >= one.min_accelerators:
        layout = one.at(count).layout
        assert layout.tensor * layout.context * layout.data % layout.expert == 0
        assert one.layouts.training.experts % layout.expert == 0


def test_a_layout_of_ones_own_takes_the_replicas_that_its_experts_divide():
    one = task(**GPT_OSS)
    assert one.min_accelerators % 32 == 0
    size = one.at(one.min_accelerators + 24)
    assert size.layout.unused == 24
    assert any("it takes a multiple of 32" in w for w in size.warnings)
    with pytest.raises(InvalidInput, match="allowed are 64 or more"):
        one.at(56)
    own = {"parameters": 14e9, "active_parameters": 2.7e9, "experts": 60, "experts_per_token": 4}
    assert task(**own, zero_stage=1).at(8).layout.expert in (1, 4)  # not 8


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
@pytest.mark.parametrize("expert", [2, 4, 8])
def test_the_copies_of_an_expert_share_what_zero_divides(stage, expert):
    """Mixtral on 16 accelerators by hand: experts of 45.1 billion parameters over e, 16 / e copies;
    the other 1.6 billion have 16."""
    asked = {"kind": "training", "model": "Mixtral-8x7B-v0.1", "tokens": 1e10, "zero_stage": stage}
    plan = splits_of(parse(Training, asked | {"layout": {"expert": expert}}), "bf16", 8)
    experts, rest = plan.shape.experts, plan.shape.parameters - plan.shape.experts
    held = 12.0 * (rest + experts / expert)
    if stage:
        held = 12.0 * (rest / 16 + experts / expert / (16 / expert))
    assert plan.memory.optimizer.on(16.0) == pytest.approx([held] * 3)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Mixtral-8x7B-v0.1", H100),
        ("DeepSeek-V3", "nvidia-h200-141gb-sxm"),
        ("Qwen3-30B-A3B", H100),
        ("Mixtral-8x22B", "nvidia-l4"),
        ("Mixtral-8x7B", RTX_4090),
    ],
)
def test_all_accelerators_together_hold_the_states_and_the_least_number_does(name, slug):
    """16 bytes a parameter with AdamW."""
    one = task(slug, model=name, sequence_length=2048)
    assert one.layouts.on(one.min_accelerators) is not None
    for count in (one.min_accelerators, 4 * one.min_accelerators):
        memory = one.at(count).layout.memory
        states = memory.weights_gib + memory.gradients_gib + memory.optimizer_gib
        assert states * 2**30 * count >= 0.98 * 16 * one.layouts.training.parameters


@pytest.mark.parametrize(
    ("model", "layers", "count"),
    [("gpt-oss-120b", 36, 64), ("Qwen3-235B-A22B", 94, 256), ("DBRX", 40, 64)],
)
def test_what_is_advised_holds_the_layers_of_its_fullest_stage(model, layers, count):
    """Of the layers alone 6 bytes a parameter that replicas do not share, 2 where they share
    gradients too."""
    one = task(model=model, tokens=1e12).at(count)
    layout = one.layout
    fullest = math.ceil(layers / layout.pipeline)
    share = fullest / layers / max(layout.tensor, layout.expert)
    per_parameter = {0: 6, 1: 6, 2: 2, 3: 0}[layout.zero_stage]
    states = per_parameter * share * 0.9 * one.training.parameters / 2**30
    assert states <= layout.memory.total_gib <= MARGIN * usable_gib(get(H100))
    assert fullest * layout.pipeline / layers < 1.4


@pytest.mark.parametrize("count", [2, 3, 4, 8, 64])
def test_what_is_advised_divides_the_heads(count):
    """Falcon 7B has 71 heads, a prime: no tensor parallelism goes."""
    assert task(model="falcon-7b", optimizer="adamw_8bit").at(count).layout.tensor == 1
    assert 28 % task(model="Qwen2.5-7B", optimizer="adamw_8bit").at(count).layout.tensor == 0


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (
            {"model": "Qwen2.5-7B", "layout": {"tensor": 8}},
            "layout: tensor 8 does not divide the 28",
        ),
        ({"config": QWEN2_7B, "layout": {"tensor": 8}}, "1, 2, 4, 7, 14 or 28 do"),
        ({"model": "Llama-3.1-8B", "layout": {"tensor": 3}}, "does not divide the 4,096"),
        (
            {"model": "Llama-3.1-8B", "zero_stage": 2, "layout": {"pipeline": 4}},
            "workload.zero_stage: 2 divides what every micro-batch of 4 pipeline stages",
        ),
        (
            {"parameters": 6e11, "active_parameters": 3e10, "layout": {"expert": 128}},
            "workload.layout: expert 128 is more than the 64 experts",
        ),
        (
            {"model": "Llama-3.1-70B", "zero_stage": 0, "layout": {"tensor": 2}},
            "workload.layout: the training does not fit H100 SXM5 80 GB",
        ),
        ({"model": "Llama-3.1-70B", "layout": {"pipeline": 2}}, "another layout, "),
    ],
)
def test_splits_of_ones_own_that_cannot_be_are_refused_with_the_reason(work, words):
    assert words in refusal(work, 1024)


@pytest.mark.parametrize(
    ("work", "count"),
    [
        ({"model": "Qwen2.5-7B", "layout": {"tensor": 4}}, 8),
        ({"model": "Llama-3.1-8B", "layout": {"tensor": 16}}, 16),  # keys and values are repeated
        ({"parameters": 7e9, "hidden_size": 4544, "layers": 32, "layout": {"tensor": 8}}, 8),
        ({"parameters": 8e9, "layout": {"tensor": 3}}, 12),
        ({"parameters": 6e11, "active_parameters": 3e10, "experts": 128, "experts_per_token": 8,
          "layout": {"expert": 128}}, 1024),
    ],
)  # fmt: skip
def test_what_may_divide_is_not(work, count):
    assert task(**work).at(count).layout.unused == 0


LLAMA = {"kind": "training", "tokens": 1e8, "model": "Llama-3.1-8B", "optimizer": "lora"}


def too_few(accelerator, count, **changes):
    training = parse(Training, {**LLAMA, **changes})
    with pytest.raises(InvalidInput) as refused:
        placed_on(training, get(accelerator)).at(count)
    assert refused.value.field == "accelerators"
    return refused.value.message


@pytest.mark.parametrize(
    ("accelerator", "count", "changes", "named"),
    [
        (RTX_4090, 1, {"sequence_length": 8192, "weights_offload": False},
         "chunked_loss, sequence_length 2,048 or weights_offload"),
        (RTX_4090, 2, {"model": "Llama-2-70b", "weights_offload": False}, "weights_offload"),
        (H100, 1, {"micro_batch_size": 16}, "micro_batch_size 1, chunked_loss"),
        (RTX_4090, 1, {"optimizer": "adamw", "optimizer_offload": True}, "optimizer qlora"),
        (H100, 16, {"model": "Llama-3.1-70B", "optimizer": "adamw"},
         "optimizer_offload or optimizer adamw_8bit"),
        (RTX_4090, 1, {"sequence_length": 131072, "optimizer": "qlora"}, "sequence_length"),
    ],
)  # fmt: skip
def test_what_would_hold_it_is_named(accelerator, count, changes, named):
    words = too_few(accelerator, count, **changes)
    assert f"{named}" in words
    assert words.endswith(f"would make {count} hold it)")


def test_where_nothing_alone_would_do_it_says_so():
    words = too_few(H100, 1, model="Llama-3.1-405B", optimizer="adamw", stage="pretraining")
    assert words.endswith("nor shorter sequences would do)")
    assert "112 or more" in words


@pytest.mark.parametrize(
    ("accelerator", "model", "micro_batch_size", "tokens_per_second"),
    [(RTX_4090, "Llama-2-70b", 2, 238.4), ("nvidia-rtx-3090", "Llama-2-70b", 2, 88.9),
     (RTX_4090, "Yi-34B", 4, 508.8), ("nvidia-rtx-3090", "Yi-34B", 4, 217.1)],
)  # fmt: skip
def test_weights_stream_from_the_host_as_measured(
    accelerator, model, micro_batch_size, tokens_per_second
):
    """AnswerDotAI/fsdp_qlora benchmarks_03_2024.md on two cards; the 3090s had slow slots."""
    work = {"model": model, "optimizer": "qlora", "sequence_length": 2048, "code": "standard"}
    work |= {"micro_batch_size": micro_batch_size, "weights_offload": True}
    training = parse(Training, LLAMA | work)
    run = placed_on(training, get(accelerator)).at(2)
    assert run.step_tokens_per_second == pytest.approx(tokens_per_second, rel=0.3)
    assert any("streamed layer by layer" in words for words in run.warnings)


def test_weights_stream_only_where_nothing_else_fits():
    for optimizer, count, streams in (("lora", 1, True), ("lora", 4, None), ("qlora", 1, None)):
        task = placed_on(parse(Training, {**LLAMA, "optimizer": optimizer}), get("nvidia-a10g"))
        assert task.at(count).training.weights_offload == streams
    with pytest.raises(InvalidInput, match="weights_offload"):
        parse(Training, {**LLAMA, "optimizer": "adamw", "weights_offload": True})


def test_changes_that_only_do_together_are_named_together():
    words = too_few("nvidia-rtx-3060-12gb", 1, model="Llama-3.2-1B", optimizer="adamw",
                    stage="pretraining")  # fmt: skip
    assert words.endswith("adamw_8bit and sequence_length 512 together would do)")


def test_a_split_of_one_s_own_is_named_where_another_would_hold_it():
    work = {"model": "Qwen3-30B-A3B", "layout": {"tensor": 1, "expert": 16}}
    words = too_few(H100, 8, **work)
    assert "(another layout would make 8 hold it)" in words
    whole = {"model": "Llama-3.1-70B", "layout": {"tensor": 8, "pipeline": 2}}
    with pytest.raises(InvalidInput, match="a split over 8 or fewer, or 16 accelerators"):
        placed_on(parse(Training, {**LLAMA, **whole}), get(H100)).at(8)


T4, L4 = "nvidia-t4", "nvidia-l4"


def nowhere(accelerator, **changes):
    training = parse(Training, {"kind": "training", "tokens": 1e9, **changes})
    with pytest.raises(InvalidInput) as refused:
        placed_on(training, get(accelerator))
    return refused.value.message


@pytest.mark.parametrize(
    ("accelerator", "changes", "remedies"),
    [
        (RTX_4090, {"model": "Llama-3.1-405B"}, "sequence_length 1,024 or"),
        (T4, {"model": "Llama-3.1-405B"}, "Tesla T4 (16 GiB), however many there are;"),
        (L4, {"model": "Grok-1", "micro_batch_size": 3, "zero_stage": 2}, "many there are;"),
        (T4, {"model": "GPT-3 175B", "zero_stage": 1}, "optimizer qlora or"),
    ],
)  # fmt: skip
def test_only_what_makes_room_is_named(accelerator, changes, remedies):
    words = nowhere(accelerator, **changes)
    assert words.endswith(f"{remedies} an accelerator with more memory would")
