"""What an optimizer holds for a moment beside what memory counts. PURE."""

from __future__ import annotations

from planner.contract.request.workload import Training
from planner.sizing.footprint.training_flops import is_adapter
from planner.sizing.layout.links import is_tpu
from planner.sizing.layout.placed_layout import PlacedLayout
from planner.sizing.layout.states import FULL_BYTES, OPTIMIZER_BYTES
from planner.sizing.layout.usable_memory import usable_gib
from pricing.market.accelerators import Accelerator

UNFUSED_RULES = 6
"""Edition of the rules from which it is said, 2026."""
STEP_COPY = {"adamw": 4.0, "adamw_bf16": 2.0}
"""Bytes per trained parameter that PyTorch's own AdamW holds while it steps unless fused: about one
copy of the parameters, for the square roots of the second moments (torch.optim.AdamW, foreach, the
default on CUDA; PyTorch documentation 2.0 to 2.9, 2023-2025). Activations are gone by then."""


def unfused_step(
    training: Training, one: Accelerator, layout: PlacedLayout, precision: str, rules: int
) -> tuple[str, ...]:
    """An AdamW that is not fused, where its step does not fit beside the states."""
    is_counted = training.optimizer in STEP_COPY and not training.optimizer_offload
    if rules < UNFUSED_RULES or not is_counted or is_adapter(training) or is_tpu(one):
        return ()
    memory = layout.memory
    held = (FULL_BYTES if precision in ("fp32", "tf32") else OPTIMIZER_BYTES)[training.optimizer][2]
    copy = memory.optimizer_gib * STEP_COPY[training.optimizer] / held
    states = memory.weights_gib + memory.gradients_gib + memory.optimizer_gib
    if states + copy <= usable_gib(one):
        return ()
    return (
        f"AdamW has to be fused (fused=True in PyTorch, FusedAdam of Apex and DeepSpeed): its step "
        f"else holds {copy:,.1f} GiB more beside {states:,.1f} GiB of states, which does not fit "
        f"{one.name}",
    )
