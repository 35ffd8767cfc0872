"""A layout of a training as it is chosen. PURE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from planner.contract.answer.estimate import Parallelism
from planner.sizing.footprint.memory import Memory
from planner.sizing.layout.grid import CHECKPOINTING, NONE


@dataclass(frozen=True)
class PlacedLayout:
    """A split that fits, with what it holds and what it costs."""

    tensor: int
    pipeline: int
    context: int
    expert: int
    data: int
    zero_stage: int
    checkpointing: str
    micro_batch: int
    micro_batches: int
    unused: int
    hold: Callable[[], Memory]
    share_of_level: float
    """Rate under this split over the level of the accelerator."""
    pipeline_bubble: float
    exposed_communication: float
    at_once: int
    """Accelerators of which it takes a multiple."""
    global_batch_tokens: float

    @cached_property
    def memory(self) -> Memory:
        """GiB on the fullest accelerator; worked out when first asked for."""
        return self.hold()

    @property
    def parallelism(self) -> Parallelism:
        """The split as the estimate shows it."""
        return Parallelism(
            tensor=self.tensor,
            pipeline=self.pipeline,
            data=self.data,
            context=self.context,
            expert=self.expert,
            zero_stage=self.zero_stage,
            activation_checkpointing=self.checkpointing != CHECKPOINTING[NONE],
            checkpointing=self.checkpointing,
            micro_batch_size=self.micro_batch,
            micro_batches=self.micro_batches,
            global_batch_tokens=self.global_batch_tokens,
            unused=self.unused,
            pipeline_bubble=self.pipeline_bubble,
            exposed_communication=self.exposed_communication,
        )

    @property
    def words(self) -> str:
        """The split in a few words."""
        sizes = {
            "tensor": self.tensor,
            "pipeline": self.pipeline,
            "context": self.context,
            "expert": self.expert,
        }
        named = [f"{name} {size}" for name, size in sizes.items() if size > 1]
        return ", ".join([*named, f"ZeRO stage {self.zero_stage}"])
