"""An AdamW that is not fused holds a copy of the parameters while it steps."""

import pytest

from planner.sizing.estimate import estimate


def words_on(accelerators, **changes):
    work = {"kind": "training", "model": "Llama-3.1-70B", "tokens": 1e9, "optimizer": "adamw_bf16"}
    request = {"workload": work | changes, "accelerator": "H100", "accelerators": accelerators}
    warnings = estimate(request).answer.warnings
    return [words for words in warnings if "has to be fused" in words]


def test_a_70b_in_bf16_alone_fits_eight_cards_with_a_fused_step_only():
    """70.6 billion parameters by 2 bytes on 8 cards: 16.4 GiB beside 65.7 of states."""
    (said,) = words_on(8)
    assert "its step else holds 16.4 GiB more beside 65.7 GiB of states" in said


@pytest.mark.parametrize(
    ("accelerators", "changes"),
    [(16, {}), (8, {"optimizer": "lora"}), (32, {"optimizer": "adamw"})],
)
def test_nothing_is_said_where_it_fits(accelerators, changes):
    assert not words_on(accelerators, **changes)
