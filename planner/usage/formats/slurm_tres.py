"""Accelerators in the trackable resources (TRES) of Slurm. PURE."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from planner.usage.machines import is_slice, name_accelerator
from planner.usage.sums import UseSums
from pricing.common.bounded import shorten
from pricing.common.invalid_input import InvalidInput


class Accelerators(NamedTuple):
    """Accelerators of an allocation: all of them, and by type where types are said."""

    total: int
    by_type: tuple[tuple[str, int], ...]


@lru_cache(maxsize=50_000)
def read_tres(text: str) -> Accelerators:
    """Accelerators in a list of trackable resources.

    >>> read_tres("billing=32,gres/gpu:h100=16,gres/gpu=16,node=2")
    Accelerators(total=16, by_type=(('h100', 16),))
    >>> read_tres("cpu=2,gres/shard=4,gres/gpumem=80G").total
    0
    """
    total: int | None = None
    typed: dict[str, int] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name != "gres/gpu" and not name.startswith("gres/gpu:"):
            continue
        if not value.isdecimal() or len(value) > 6:
            raise InvalidInput("AllocTRES", f"{shorten(part, 40)} is no number of accelerators")
        if name == "gres/gpu":
            total = int(value)
        else:
            kind = name.removeprefix("gres/gpu:")
            typed[kind] = typed.get(kind, 0) + int(value)
    count = sum(typed.values()) if total is None else total
    return Accelerators(count, tuple(typed.items()))


@lru_cache(maxsize=50_000)
def name_types(accelerators: Accelerators) -> tuple[tuple[str, int], ...]:
    """Counts by name; what the types leave of the total has no name."""
    typed = tuple(
        (kind.lower() if is_slice(kind) else name_accelerator(kind), count)
        for kind, count in accelerators.by_type
    )
    rest = accelerators.total - sum(count for _, count in typed)
    return (*typed, ("", rest)) if rest > 0 else typed


class JobPart:
    """Accelerators of one name in an allocation, and the sums of the months that they add to."""

    __slots__ = ("accelerator", "count", "is_slice", "uses")

    def __init__(self, accelerator: str, count: int) -> None:
        self.accelerator, self.count = accelerator, count
        self.is_slice = is_slice(accelerator)
        self.uses: dict[str, UseSums] = {}


class LikeJobs:
    """What jobs of one user, account, place, state and allocation have in common."""

    __slots__ = ("parts", "problem", "state", "total")

    def __init__(self, state: str, tres: str) -> None:
        self.state = state.split(" ", 1)[0]
        self.problem: InvalidInput | None = None
        self.total = 0
        self.parts: list[JobPart] = []
        try:
            accelerators = read_tres(tres)
        except InvalidInput as refusal:
            self.problem = refusal
        else:
            self.total = accelerators.total
            self.parts = [JobPart(name, count) for name, count in name_types(accelerators)]

    def check(self) -> None:
        """Refuses an allocation that is not understood."""
        if self.problem is not None:
            raise InvalidInput(self.problem.field, self.problem.message)
