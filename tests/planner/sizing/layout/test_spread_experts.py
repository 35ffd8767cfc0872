"""What experts hold that are spread over ranks: all accelerators together no less than the model.

ZeRO divides what has copies. Experts over e ranks have d c t / e copies, not d c.
"""

import pytest

from planner.contract.request.workload import Training
from planner.contract.validation import parse
from planner.sizing.layout.splits import splits_of
from planner.sizing.runs.placed_run import placed_on
from pricing.common.invalid_input import InvalidInput
from pricing.market.accelerators import get

H100, H200 = get("nvidia-h100-80gb-sxm"), get("nvidia-h200-141gb-sxm")
GB = 2**30 / 1e9


def training(name, **changes):
    asked = {"kind": "training", "model": name, "tokens": 1e10, "sequence_length": 2048}
    return parse(Training, asked | changes)


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("Mixtral-8x7B-v0.1", H100),
        ("Mixtral-8x22B-v0.1", H100),
        ("DeepSeek-V3", H100),
        ("DeepSeek-V3", H200),
        ("Qwen3-30B-A3B", H100),
        ("Qwen3-235B-A22B", H200),
    ],
)
def test_all_accelerators_together_hold_the_states_of_the_model(name, one):
    """16 bytes a parameter with AdamW."""
    work = training(name)
    task = placed_on(work, one)
    for count in (task.min_accelerators, 4 * task.min_accelerators):
        memory = task.at(count).layout.memory
        states = memory.weights_gib + memory.gradients_gib + memory.optimizer_gib
        assert states * GB * count >= 0.98 * 16 * work.parameters / 1e9


@pytest.mark.parametrize("stage", [0, 1, 2, 3])
@pytest.mark.parametrize("expert", [2, 4, 8])
def test_the_copies_of_an_expert_share_what_zero_divides(stage, expert):
    """Mixtral on 16 accelerators by hand: experts of 45.1 billion parameters over e, 16 / e copies;
    the other 1.6 billion have 16."""
    work = training("Mixtral-8x7B-v0.1", zero_stage=stage, layout={"expert": expert})
    plan = splits_of(work, "bf16", 8)
    experts, rest = plan.shape.experts, plan.shape.parameters - plan.shape.experts
    held = 12.0 * (rest + experts / expert)
    if stage:
        held = 12.0 * (rest / 16 + experts / expert / (16 / expert))
    assert plan.memory.optimizer.on(16.0) == pytest.approx([held] * 3)


def test_eight_cards_do_not_hold_mixtral():
    """747 GB of states on 687 GB."""
    with pytest.raises(InvalidInput, match="cannot hold"):
        placed_on(training("Mixtral-8x7B-v0.1"), H100).at(8)


@pytest.mark.parametrize(
    ("name", "slug", "changes"),
    [
        ("Mixtral-8x22B", "nvidia-l4", {}),
        ("Mixtral-8x22B", "nvidia-rtx-4090", {}),
        ("Mixtral-8x7B", "nvidia-l4", {}),
        ("Mixtral-8x7B", "nvidia-rtx-4090", {}),
        ("Mixtral-8x7B", "google-tpu-v4", {"zero_stage": 2, "sequence_length": 131_072}),
        ("Qwen3-30B-A3B", "nvidia-t4", {"optimizer": "lora"}),
    ],
)
def test_the_least_number_is_one_that_holds_it(name, slug, changes):
    """Eight experts are spread over eight ranks at most."""
    task = placed_on(training(name, **changes), get(slug))
    assert task.layouts.on(task.min_accelerators) is not None
    assert task.at().layout.expert <= (task.layouts.training.experts or 64)
